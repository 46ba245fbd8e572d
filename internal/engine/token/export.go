package token

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"macaron/internal/errs"
)

// File is a file of a Hugging Face directory.
type File struct {
	Name  string
	Bytes []byte
}

// Export writes the tokenizer of a GGUF file as the files from which the transformers
// library, and FromJSON, make one that gives the same ids: tokenizer.json,
// tokenizer_config.json (with the chat template), special_tokens_map.json,
// generation_config.json (with the ends of a generation). A vocabulary that those files
// cannot express is Unsupported.
//
// Of a byte-level vocabulary without user-defined tokens among the others, and of a
// WordPiece vocabulary, FromJSON makes a tokenizer with the same Hash. SentencePiece's
// scores become merges, so that there the Hash differs.
func Export(meta Source) ([]File, error) {
	t, err := FromGGUF(meta)
	if err != nil {
		return nil, err
	}
	texts, err := meta.Strings("tokenizer.ggml.tokens")
	if err != nil {
		return nil, err
	}
	x := exporter{t: t, meta: meta, texts: texts}
	tokenizer, err := x.tokenizer()
	if err != nil {
		return nil, err
	}
	config, specials, generation, err := x.companions()
	if err != nil {
		return nil, err
	}
	var files []File
	for _, f := range []struct {
		name  string
		value any
	}{{"tokenizer_config.json", config}, {"special_tokens_map.json", specials}, {"generation_config.json", generation}, {"tokenizer.json", tokenizer}} {
		b, err := plainJSON(f.value)
		if err != nil {
			return nil, errs.Wrap(errs.Internal, err, f.name+" cannot be written", "")
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, b, "", " "); err != nil {
			return nil, errs.Wrap(errs.Internal, err, f.name+" cannot be written", "")
		}
		files = append(files, File{Name: f.name, Bytes: append(indented.Bytes(), '\n')})
	}
	return files, nil
}

// exporter is one export.
type exporter struct {
	t     *Tokenizer
	meta  Source
	texts []string // spellings of the file, by id
}

// object is a JSON object whose members have an order.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := plainJSON(m.key)
		if err != nil {
			return nil, err
		}
		value, err := plainJSON(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(b, '}'), nil
}

// plainJSON is JSON without escapes for HTML.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// tokenizer is tokenizer.json.
func (x *exporter) tokenizer() (object, error) {
	added, err := x.added()
	if err != nil {
		return nil, err
	}
	var normalizer, pre, decoder, model any
	switch x.t.algo {
	case bpeBytes:
		pre = preOf(canonicalPre(x.t.pre))
		decoder = object{{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}}
		model, err = x.bpe()
	case wordPiece:
		normalizer, pre = x.t.bert.asJSON(), object{{"type", "BertPreTokenizer"}}
		decoder = object{{"type", "WordPiece"}, {"prefix", x.t.pieces.prefix}, {"cleanup", true}}
		model, err = x.wordPieceModel()
	default:
		normalizer, pre, decoder = x.spaces()
		model, err = x.bpe()
	}
	if err != nil {
		return nil, err
	}
	return object{{"version", "1.0"}, {"truncation", nil}, {"padding", nil}, {"added_tokens", added}, {"normalizer", normalizer},
		{"pre_tokenizer", pre}, {"post_processor", x.post()}, {"decoder", decoder}, {"model", model}}, nil
}

// added lists the tokens that are taken as a whole.
func (x *exporter) added() ([]object, error) {
	list := []object{}
	for id, k := range x.t.kinds {
		if !x.whole(id) {
			continue
		}
		text := x.content(id)
		if !utf8.ValidString(text) {
			return nil, x.cannot(fmt.Sprintf("token %d is not UTF-8", id))
		}
		spaced := x.spaced(id)
		if spaced && x.t.strip != keepSpace {
			return nil, x.cannot(fmt.Sprintf("token %d (%q) has spaces, and the vocabulary adds one to every text", id, text))
		}
		list = append(list, object{{"id", id}, {"content", text}, {"single_word", false}, {"lstrip", false}, {"rstrip", false},
			{"normalized", spaced}, {"special", k != UserDefined}})
	}
	return list, nil
}

// whole tells whether a token is taken as a whole.
func (x *exporter) whole(id int) bool {
	k := x.t.kinds[id]
	return k == Control || k == Unknown || k == UserDefined
}

// spaced tells whether a token is found in the normalised text; see addWhole.
func (x *exporter) spaced(id int) bool {
	_, later := x.t.later.whole(x.t.spelled(x.texts[id]))
	return later && x.t.kinds[id] == UserDefined
}

// content is the text by which a token is found.
func (x *exporter) content(id int) string {
	if x.spaced(id) {
		return x.t.spelled(x.texts[id])
	}
	return x.texts[id]
}

func (x *exporter) cannot(why string) error {
	return errs.New(errs.Unsupported, "this tokenizer cannot be written as tokenizer.json: "+why, "keep using the GGUF file")
}

// post puts the frame around a text.
func (x *exporter) post() any {
	front, back := x.t.Frame()
	single := []object{}
	specials := object{}
	piece := func(ids []int32) {
		for _, id := range ids {
			text := x.texts[id]
			single = append(single, object{{"SpecialToken", object{{"id", text}, {"type_id", 0}}}})
			specials = append(specials, member{text, object{{"id", text}, {"ids", []int32{id}}, {"tokens", []string{text}}}})
		}
	}
	piece(front)
	single = append(single, object{{"Sequence", object{{"id", "A"}, {"type_id", 0}}}})
	piece(back)
	pair := append(append([]object{}, single...), object{{"Sequence", object{{"id", "B"}, {"type_id", 1}}}})
	for _, id := range back {
		pair = append(pair, object{{"SpecialToken", object{{"id", x.texts[id]}, {"type_id", 1}}}})
	}
	return object{{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", specials}}
}
