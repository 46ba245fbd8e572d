package token

// preOf is the pre-tokenizer of a family.
func preOf(family string) any {
	var list []object
	inside := false // ByteLevel splits as GPT-2 does
	switch family {
	case "gpt-2":
		inside = true
	case "smollm":
		list, inside = []object{{{"type", "Digits"}, {"individual_digits", true}}}, true
	case "falcon":
		list = []object{{{"type", "Punctuation"}, {"behavior", "Contiguous"}}, isolated("gpt-2"), isolated("three digits")}
	case "deepseek-llm":
		list = []object{isolated("line ends"), isolated("deepseek letters"), isolated("deepseek marks"), isolated("end blanks"), isolated("east asian"),
			{{"type", "Digits"}, {"individual_digits", false}}}
	case "deepseek-coder":
		list = []object{isolated("line ends"), isolated("spaced letters"), isolated("spaced punctuation"), isolated("east asian"), {{"type", "Digits"}, {"individual_digits", true}}}
	case "deepseek-v3":
		list = []object{isolated("numbers 3"), isolated("ideograms"), isolated("deepseek-v3")}
	case "dbrx":
		list = []object{isolated("llama-bpe")}
	default:
		list = []object{isolated(family)}
	}
	list = append(list, object{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", inside}})
	if len(list) == 1 {
		return list[0]
	}
	return object{{"type", "Sequence"}, {"pretokenizers", list}}
}

// isolated splits by a known expression.
func isolated(name string) object {
	for text, e := range expressions {
		if e.name == name {
			return object{{"type", "Split"}, {"pattern", object{{"Regex", text}}}, {"behavior", "Isolated"}, {"invert", false}}
		}
	}
	panic("token: no expression is called " + name) // a defect of the tables here, found by their test
}

// spaces are the rules of vocabularies that spell a space as U+2581.
func (x *exporter) spaces() (normalizer, pre, decoder any) {
	text := func(s string) object { return object{{"String", s}} }
	normalizer = object{{"type", "Replace"}, {"pattern", text(" ")}, {"content", blank}}
	steps := []object{{{"type", "Replace"}, {"pattern", text(blank)}, {"content", " "}}, {{"type", "ByteFallback"}}, {{"type", "Fuse"}}}
	if x.t.strip != keepSpace {
		normalizer = object{{"type", "Sequence"}, {"normalizers", []any{object{{"type", "Prepend"}, {"prepend", blank}}, normalizer}}}
		steps = append(steps, object{{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}})
	}
	if len(x.t.split) > 0 {
		pre = isolated("lines")
	}
	return normalizer, pre, object{{"type", "Sequence"}, {"decoders", steps}}
}

// asJSON is the normalizer that has the rules.
func (r bertRules) asJSON() object {
	return object{{"type", "BertNormalizer"}, {"clean_text", r.clean}, {"handle_chinese_chars", r.chinese}, {"strip_accents", r.strip}, {"lowercase", r.lower}}
}
