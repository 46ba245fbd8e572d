package engine

import (
	"macaron/internal/engine/model"
	"macaron/internal/engine/token"
	"macaron/internal/errs"
)

// speech reads a model's tokenizer and its chat template, empty for none.
func speech(source model.Source) (*token.Tokenizer, string, error) {
	f, ok := source.(*model.GGUF)
	if !ok {
		return nil, "", errs.New(errs.Unsupported, "the tokenizers of model directories are not read yet", "name a GGUF file")
	}
	t, err := token.FromGGUF(f.File.Meta)
	if err != nil {
		return nil, "", err
	}
	template, err := f.File.Meta.StringOr("tokenizer.chat_template", "")
	return t, template, err
}
