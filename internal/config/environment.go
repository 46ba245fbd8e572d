package config

import (
	"fmt"
	"strings"

	"macaron/internal/errs"
)

// maxVariable bounds the value of a variable, in bytes.
const maxVariable = 32 << 10

// readEnvironment reads [environment]: variables that code of runs finds where a contract
// names them.
func readEnvironment(v any) (map[string]string, error) {
	out := map[string]string{}
	if v == nil {
		return out, nil
	}
	all, ok := v.(map[string]any)
	if !ok || len(all) > maxSecrets {
		return nil, fmt.Errorf("environment must be a table of at most %d texts", maxSecrets)
	}
	for name, value := range all {
		text, ok := value.(string)
		if !ok || !secretName.MatchString(name) || len(text) > maxVariable || strings.ContainsRune(text, 0) {
			return nil, fmt.Errorf("environment.%s is no plain name with a text of at most %d bytes", errs.Clip(name), maxVariable)
		}
		out[name] = text
	}
	return out, nil
}
