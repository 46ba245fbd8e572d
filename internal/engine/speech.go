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
	tokenizer, err := hf.ReadFile(dir, hf.TokenizerFile)
	if err != nil {
		return nil, "", err
	}
	var companions [][]byte
	for _, name := range []string{hf.TokenizerConfigFile, hf.SpecialsFile, hf.GenerationFile, hf.ConfigFile} {
		if !hf.Exists(dir, name) {
			continue
		}
		raw, err := hf.ReadFile(dir, name)
		if err != nil {
			return nil, "", err
		}
		companions = append(companions, raw)
	}
	t, err := token.FromJSON(tokenizer, companions...)
	if err != nil {
		return nil, "", err
	}
	template, err := hf.Template(dir)
	return t, template, err
}
