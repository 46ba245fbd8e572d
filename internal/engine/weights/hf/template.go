package hf

import (
	"encoding/json"

	"macaron/internal/errs"
)

// Template is the chat template of a directory: chat_template.jinja, or the field
// chat_template of tokenizer_config.json, whose list form is taken by the name
// "default". It is empty when there is none.
func Template(dir string) (string, error) {
	if Exists(dir, TemplateFile) {
		raw, err := ReadFile(dir, TemplateFile)
		return string(raw), err
	}
	if !Exists(dir, TokenizerConfigFile) {
		return "", nil
	}
	raw, err := ReadFile(dir, TokenizerConfigFile)
	if err != nil {
		return "", err
	}
	c, err := ParseConfig(TokenizerConfigFile, raw)
	if err != nil {
		return "", err
	}
	var list []struct{ Name, Template string }
	if json.Unmarshal(c.Raw("chat_template"), &list) != nil {
		return c.StringOr("chat_template", "")
	}
	for _, t := range list {
		if t.Name == "default" {
			return t.Template, nil
		}
	}
	return "", errs.Newf(errs.FormatInvalid, "%s has %d chat templates and none is called default", TokenizerConfigFile, len(list))
}
