package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// row is a setting's line in docs/formats/config.md.
func (f Field) row() string {
	or := func(s, none string) string {
		if s == "" {
			return none
		}
		return "`" + s + "`"
	}
	flag := f.Flag
	if flag != "" {
		flag = "--" + flag
	}
	when := map[When]string{AtStart: "restart", OnReload: "reload", Commands: "commands"}[f.When]
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s |", f.Key, or(f.preset, ""), or(f.Env, ""), or(flag, ""), when, f.Help)
}

// The page of settings has each of them with its default, and nothing else.
func TestTheDocumentListsEverySetting(t *testing.T) {
	b, err := os.ReadFile("../../docs/formats/config.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range fields {
		want = append(want, f.row())
	}
	var got []string
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "| `") && strings.Count(line, "|") == 7 {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if a, b := strings.Join(want, "\n"), strings.Join(got, "\n"); a != b {
		t.Errorf("the settings are\n%s\n\nand docs/formats/config.md has\n%s", a, b)
	}
	mint, err := os.ReadFile("../../docs/MINT.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range backendKeys {
		if !strings.Contains(string(mint), "`"+key+"`") {
			t.Errorf("docs/MINT.md does not tell of %s in [[mint.backends]]", key)
		}
	}
	for _, key := range serverKeys {
		if !strings.Contains(string(b), "`"+key+"`") {
			t.Errorf("docs/formats/config.md does not tell of %s in [[engines]]", key)
		}
	}
}

// What is under deploy/ sets only variables that are read.
func TestDeploymentsSetWhatIsRead(t *testing.T) {
	known, seen := map[string]bool{}, 0
	for _, f := range fields {
		known[f.Env] = true
	}
	err := filepath.WalkDir("../../deploy", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, name := range regexp.MustCompile(`\bMACARON_[A-Z_]+`).FindAllString(string(b), -1) {
			if seen++; !known[name] {
				t.Errorf("%s sets %s, which nobody reads", path, name)
			}
		}
		return err
	})
	if err != nil || seen < 15 {
		t.Errorf("%d variables were found, %v", seen, err)
	}
}
