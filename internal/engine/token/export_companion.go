package token

// companions are tokenizer_config.json, special_tokens_map.json and
// generation_config.json.
func (x *exporter) companions() (config, specials, generation object, err error) {
	named, err := x.specials()
	if err != nil {
		return nil, nil, nil, err
	}
	for _, s := range named {
		specials = append(specials, member{s.key + "_token", x.texts[s.value.(int32)]})
	}
	config = append(object{{"tokenizer_class", "PreTrainedTokenizerFast"}}, specials...)
	config = append(config, member{"clean_up_tokenization_spaces", false})
	arch, err := x.meta.StringOr("general.architecture", "")
	if err != nil {
		return nil, nil, nil, err
	}
	if length, err := x.meta.UintOr(arch+".context_length", 0); err == nil && length > 0 {
		config = append(config, member{"model_max_length", length})
	}
	template, err := x.meta.StringOr("tokenizer.chat_template", "")
	if err != nil {
		return nil, nil, nil, err
	}
	if template != "" {
		config = append(config, member{"chat_template", template})
	}
	for _, s := range named {
		if s.key == "bos" || s.key == "pad" {
			generation = append(generation, member{s.key + "_token_id", s.value})
		}
	}
	return config, specials, append(generation, member{"eos_token_id", x.t.EOG()}), nil
}

// specials names the special tokens of the file by the library's names.
func (x *exporter) specials() (list object, err error) {
	for _, s := range [][2]string{{"bos", "bos"}, {"eos", "eos"}, {"unknown", "unk"}, {"padding", "pad"}, {"cls", "cls"}, {"seperator", "sep"}, {"mask", "mask"}} {
		id, err := x.t.special(x.meta, s[0])
		if err != nil {
			return nil, err
		}
		if s[0] == "unknown" && id < 0 {
			id = x.t.unk
		}
		if id >= 0 {
			list = append(list, member{s[1], id})
		}
	}
	return list, nil
}
