package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var promoted = regexp.MustCompile(`ended +2 .* [12] +[0-9]+ +[0-9]+ +[0-9]+ +0.00\n`)

// The walk of docs/MINDFORGE.md comes to a promotion, as it stands there: a contract that the
// program writes, a person who approves, a champion, a report. Its evaluator draws what is sealed
// from a seed that nobody knows, so that now and then nothing is promoted (1 walk of 17): a walk that
// says so is gone again, twice at most.
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
	const over = "ended: all generations are done"
	for range 3 {
		dir := t.TempDir()
		walk := exec.CommandContext(t.Context(), "sh", "-e", "-c", lines)
		walk.Dir = dir
		out, err := walk.CombinedOutput()
		if _, none := os.Stat(filepath.Join(dir, "forge-report.html")); err == nil && none == nil && promoted.Match(out) && strings.Contains(string(out), over) {
			return
		}
		if !strings.Contains(string(out), over) || promoted.Match(out) {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	t.Error("three walks came to no promotion")
}
