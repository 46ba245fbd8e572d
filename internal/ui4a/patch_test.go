package ui4a

import (
	"testing"
)

const patched = "a\n  b  \nc\nb\nc\n"

func TestPatch(t *testing.T) {
	hunk := func(old, now string) string {
		return "<<<<<<< SEARCH\n" + old + "=======\n" + now + ">>>>>>> REPLACE\n"
	}
	for name, c := range map[string]struct {
		patch string
		open  bool
		want  string
		code  string
	}{
		"a line":                   {hunk("a\n", "A\n"), false, "A\n  b  \nc\nb\nc\n", ""},
		"white space at the end":   {hunk("  b\n", "B\n"), false, "a\nB\nc\nb\nc\n", ""},
		"lines taken out":          {hunk("a\n  b\n", ""), false, "c\nb\nc\n", ""},
		"two hunks":                {hunk("a\n", "x\ny\n") + "\n" + hunk("y\n", "z\n"), false, "x\nz\n  b  \nc\nb\nc\n", ""},
		"lines that are not there": {hunk("d\n", "x\n"), false, patched, "patch-not-found"},
		"lines that are twice":     {hunk("c\n", "x\n"), false, patched, "patch-ambiguous"},
		"one of two fits":          {hunk("a\n", "x\n") + hunk("d\n", "x\n"), false, patched, "patch-not-found"},
		"no hunk":                  {"", false, patched, "patch-syntax"},
		"words":                    {"Here it is:\n" + hunk("a\n", "x\n"), false, patched, "patch-syntax"},
		"looks for nothing":        {hunk("", "x\n"), false, patched, "patch-syntax"},
		"no end":                   {"<<<<<<< SEARCH\na\n=======\nx\n", false, patched, "patch-syntax"},
		"no end yet":               {"<<<<<<< SEARCH\na\n=======\nx\n", true, patched, ""},
		"one whole, one open":      {hunk("a\n", "x\n") + "<<<<<<< SEA", true, "x\n  b  \nc\nb\nc\n", ""},
	} {
		got, found := Patch(patched, c.patch, c.open)
		code := ""
		if len(found) > 0 {
			code = found[0].Code
		}
		if got != c.want || code != c.code {
			t.Errorf("%s: %q %v, want %q %q", name, got, found, c.want, c.code)
		}
	}
}

func TestFencesOfPatches(t *testing.T) {
	got := SplitFences("````ui4a/patch inline/trn_1/0\nx\n````\n````ui4a/patch\ny\n````\n````ui4a/tsx inline/trn_1/1\nz\n````\n")
	want := []Block{{Card: true, Patch: true, On: "inline/trn_1/0", Text: "x\n"}, {Card: true, Patch: true, Text: "y\n"}, {Card: true, On: "inline/trn_1/1", Text: "z\n"}}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}
