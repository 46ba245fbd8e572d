package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/models"
)

// A file that the settings name is the base, also where the contract asks for a model
// of the catalogue that is not here: what is compared is what would be served.
func TestTheFileOfTheSettingsIsTheBase(t *testing.T) {
	flags := tiny(t)
	contract := filepath.Join(flags[1], "macaron.toml")
	text, err := os.ReadFile(contract)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`base = "tiny"`), []byte(`base = "`+models.Default+`"`), 1)
	if err := os.WriteFile(contract, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, failed := invoke(t, "", append(flags, "--json", "adapter", "ls")...); code != 0 || strings.Count(out, `"base_match": "yes"`) != 2 {
		t.Errorf("exit %d: %s %s", code, out, failed)
	}
	flags = append(flags, "--model", models.Default) // a name: its file is not here
	if code, out, failed := invoke(t, "", append(flags, "--json", "adapter", "ls")...); code != 0 || strings.Count(out, `"base_match": "unknown"`) != 2 {
		t.Errorf("exit %d: %s %s", code, out, failed)
	}
}
