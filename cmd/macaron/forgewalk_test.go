package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The walk of docs/MINDFORGE.md comes to a promotion, as it stands there: a contract that the
// program writes, a person who approves, a champion, a report.
func TestTheWalkOfTheLoop(t *testing.T) {
	page, err := os.ReadFile("../../docs/MINDFORGE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "## Try it in a minute")
	_, after, _ = strings.Cut(after, "```sh\n")
	lines, _, whole := strings.Cut(after, "```")
	if !whole || !strings.Contains(lines, "macaron forge run") {
		t.Fatal("the page has no walk")
	}
	dir := t.TempDir()
	script := "exec sh -e walk.sh\nstdout 'ended +2 .* [12] +[0-9]+ +[0-9]+ +[0-9]+ +0.00'\nstdout 'ended: all generations are done'\nexists forge-report.html\n-- walk.sh --\n" + lines
	if err := os.WriteFile(filepath.Join(dir, "walk.txt"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: dir})
}
