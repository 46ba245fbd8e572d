package tidy

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func text(t *testing.T, rel string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(rel)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDependenciesHaveReasons(t *testing.T) {
	direct := map[string]bool{}
	for line := range strings.Lines(text(t, "go.mod")) {
		fields := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(fields) == 2 && strings.Contains(fields[0], ".") && strings.HasPrefix(fields[1], "v") {
			direct[fields[0]] = true
		}
	}
	listed := map[string]bool{}
	row := regexp.MustCompile(`(?m)^\| ([a-z0-9.]+\.[a-z]+(?:/\S+)?) \| \S`)
	for _, m := range row.FindAllStringSubmatch(text(t, "docs/DEPENDENCIES.md"), -1) {
		listed[m[1]] = true
	}
	for m := range direct {
		if !listed[m] {
			t.Errorf("%s is in go.mod without a reason in docs/DEPENDENCIES.md", m)
		}
	}
	for m := range listed {
		if !direct[m] {
			t.Errorf("docs/DEPENDENCIES.md lists %s, which go.mod does not need", m)
		}
	}
	if len(direct) < 10 {
		t.Errorf("only %d modules were read from go.mod", len(direct))
	}
}

func TestArchitectureNamesEveryRoom(t *testing.T) {
	doc := text(t, "docs/ARCHITECTURE.md")
	for _, f := range load(t) {
		rest, ok := strings.CutPrefix(f.Dir, "internal/")
		if !ok {
			continue
		}
		if room, _, _ := strings.Cut(rest, "/"); !regexp.MustCompile(`\b` + regexp.QuoteMeta(room) + `\b`).MatchString(doc) {
			t.Errorf("docs/ARCHITECTURE.md says nothing of internal/%s", room)
		}
	}
}

// A link in a document leads to a file of this repository or to the web.
func TestLinksLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	n := 0
	for _, p := range tracked(t) {
		if !strings.HasSuffix(p, ".md") || strings.Contains(p, "testdata/") {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(p))); os.IsNotExist(err) {
			continue // deleted, and not yet committed
		}
		for _, m := range link.FindAllStringSubmatch(text(t, p), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			n++
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(path.Join(path.Dir(p), target)))); err != nil {
				t.Errorf("%s links to %s, which is not there", p, m[1])
			}
		}
	}
	if n == 0 {
		t.Error("no link was found")
	}
}
