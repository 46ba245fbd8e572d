package contract

import (
	"os"
	"strings"
	"testing"

	"macaron/internal/errs"
)

func TestMigrateChangesThreeThings(t *testing.T) {
	old := fixture(t)
	out, err := Migrate([]byte(old))
	if err != nil {
		t.Fatal(err)
	}
	was, now := parse(t, old), parse(t, string(out))
	changes, err := Diff(was, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if c.Class != Cosmetic {
			t.Errorf("%+v", c)
		}
	}
	if now.Schema != Schema || len(now.Parents) != 1 || now.Parents[0] != was.Hash() {
		t.Errorf("%s", now.Canonical())
	}
	kept := 0
	for line := range strings.Lines(old) {
		if strings.Contains(string(out), line) {
			kept++
		}
	}
	if lines := strings.Count(old, "\n"); kept < lines-2 {
		t.Errorf("%d of %d lines stayed", kept, lines)
	}
	if _, err := Migrate(out); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("again: %v", err)
	}
	for version, want := range map[string]string{"1": "1.0.0", "v2.03": "2.3.0", "1.2.3-x": "1.2.3-x", "spring 24": "0.0.0+spring-24"} {
		if got := semantic(version); got != want || !version2.MatchString(got) {
			t.Errorf("%s became %s", version, got)
		}
	}
}

func TestInitialIsAContract(t *testing.T) {
	text, err := Initial("a \"b\" \\ \x01é", "base")
	if err != nil {
		t.Fatal(err)
	}
	c := parse(t, string(text))
	if c.Name != "a \"b\" \\ \x01é" || c.Model.Base != "base" || c.Agent.Mode != Functions {
		t.Errorf("%q", c.Name)
	}
	def, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	parse(t, string(def))
}
