package engine

import (
	"macaron/internal/engine/model"
	"macaron/internal/engine/token"
	"macaron/internal/engine/weights/hf"
)

// speech reads a model's tokenizer and its chat template, empty for none.
func speech(source model.Source) (*token.Tokenizer, string, error) {
	if d, ok := source.(*model.HF); ok {
		return directorySpeech(d.Dir.Path())
	}
	meta := source.(*model.GGUF).File.Meta
	t, err := token.FromGGUF(meta)
	if err != nil {
		return nil, "", err
	}
	template, err := meta.StringOr("tokenizer.chat_template", "")
	return t, template, err
}

func directorySpeech(dir string) (*token.Tokenizer, string, error) {
	tokenizer, companions, err := hf.TokenizerFiles(dir)
	if err != nil {
		return nil, "", err
	}
	t, err := token.FromJSON(tokenizer, companions...)
	if err != nil {
		return nil, "", err
	}
	template, err := hf.Template(dir)
	return t, template, err
}
