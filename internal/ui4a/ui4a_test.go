package ui4a

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const cardText = "import { Card } from \"$ui4a/ui\";\nexport default () => <Card title={`\n```\n`} />;\n"

func TestFences(t *testing.T) {
	text := func(s string) Block { return Block{Text: s} }
	for name, c := range map[string]struct {
		answer string
		want   []Block
	}{
		"a card between texts":       {"Here:\n\n" + Fence + "\n" + cardText + "````\nDone.", []Block{text("Here:\n\n"), {Card: true, Text: cardText}, text("Done.")}},
		"a card at the very end":     {Fence + "\nx\n````", []Block{{Card: true, Text: "x\n"}}},
		"an open card":               {Fence + "\nx\ny", []Block{{Card: true, Text: "x\ny", Open: true}}},
		"more backticks close":       {Fence + "\nx\n`````\ny", []Block{{Card: true, Text: "x\n"}, text("y")}},
		"three backticks":            {"```ui4a/tsx\nx\n```\n", []Block{{Card: true, Text: "x\n", Slip: true}}},
		"tsx that imports":           {"````tsx\n" + cardText + "````\n", []Block{{Card: true, Text: cardText, Slip: true}}},
		"tsx that imports elsewhere": {"```tsx\nimport React from 'react'\n```\nz", []Block{text("```tsx\nimport React from 'react'\n```\nz")}},
		"a card within other code":   {"`````md\n" + Fence + "\nx\n````\n`````\n", []Block{text("`````md\n" + Fence + "\nx\n````\n`````\n")}},
		"indented by four":           {"    " + Fence + "\nx", []Block{text("    " + Fence + "\nx")}},
		"backticks in the info":      {"````ui4a/tsx ` \nx", []Block{text("````ui4a/tsx ` \nx")}},
		"words after the info":       {"````UI4A/tsx budget\nx\n````", []Block{{Card: true, Text: "x\n"}}},
		"returns and line feeds":     {"````ui4a/tsx\r\nx\r\n````\r\n", []Block{{Card: true, Text: "x\r\n"}}},
		"nothing":                    {"", nil},
	} {
		if diff := cmp.Diff(c.want, SplitFences(c.answer)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// A half-written fence is never shown as text and taken back.
func TestFencesHoldBack(t *testing.T) {
	for _, begun := range []string{"`", "```", "````ui4a", Fence, "  ````"} {
		var f Fences
		f.Write("a\n" + begun)
		if got := f.Blocks(false); len(got) != 1 || got[0].Text != "a\n" {
			t.Errorf("%q shows %+v", begun, got)
		}
	}
	var f Fences
	f.Write(Fence + "\nconst a = `\n````")
	if got := f.Blocks(false); got[0].Text != "const a = `\n" || !got[0].Open {
		t.Errorf("a closing fence shows within the card: %+v", got)
	}
}

func TestFencesAreBounded(t *testing.T) {
	got := SplitFences(strings.Repeat(Fence+"\nx\n````\n", MaxFences+2))
	if len(got) != MaxFences+1 || got[MaxFences].Card {
		t.Errorf("%d blocks, the last %+v", len(got), got[len(got)-1])
	}
}

func answers() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{Fence, "````", "```", "`", "\n", "\r\n", "tsx", "ui4a/tsx", " ", "   ", "x", "import a from '$ui4a/ui'", "```tsx\n", "\n````\n", "é"})
	return rapid.Map(rapid.SliceOfN(piece, 0, 40), func(p []string) string { return strings.Join(p, "") })
}

func TestFencesDoNotDependOnCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answer := answers().Draw(t, "answer")
		var f Fences
		for rest := answer; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 9)).Draw(t, "cut")
			f.Write(rest[:n])
			rest = rest[n:]
			f.Blocks(false) // looking changes nothing
			var whole Fences
			whole.Write(answer[:len(answer)-len(rest)])
			if diff := cmp.Diff(whole.Blocks(false), f.Blocks(false)); diff != "" {
				t.Fatal(diff)
			}
		}
		if diff := cmp.Diff(SplitFences(answer), f.Blocks(true)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Once shown, text and source only grow, but for a fence of tsx that proves to be a card.
func TestFencesOnlyGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answer := answers().Draw(t, "answer")
		var f Fences
		var last []Block
		for i := range len(answer) {
			f.Write(answer[i : i+1])
			now := f.Blocks(false)
			for j, b := range last {
				if j >= len(now) || !strings.HasPrefix(now[j].Text, b.Text) || now[j].Card != b.Card {
					t.Fatalf("after %q: %+v became %+v", answer[:i+1], last, now)
				}
			}
			last = now
		}
	})
}

func FuzzFences(f *testing.F) {
	f.Add("a\n"+Fence+"\n"+cardText+"````\n", 3)
	f.Fuzz(func(t *testing.T, answer string, cut int) {
		if cut < 0 || cut > len(answer) {
			return
		}
		var s Fences
		s.Write(answer[:cut])
		s.Blocks(false)
		s.Write(answer[cut:])
		if diff := cmp.Diff(SplitFences(answer), s.Blocks(true)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestSurfaces(t *testing.T) {
	for _, good := range []string{string(Inline("trn_01J", 0)), string(Canvas("预算 表")), string(Tool("call_1")), "inline/trn_1/31"} {
		s, err := ParseSurface(good)
		if err != nil || string(s) != good || s.Kind() != good[:strings.IndexByte(good, '/')] {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "inline", "inline/", "inline/trn_1", "inline/trn_1/32", "inline/trn_1/01", "inline/trn_1/-1", "inline//0", "canvas/../x", "canvas/a.b", "canvas/", "page/x", "canvas/a\x00", "canvas/a\u202e", "canvas/" + strings.Repeat("x", 129)} {
		if _, err := ParseSurface(bad); err == nil {
			t.Errorf("%q is taken for a surface", bad)
		}
	}
}

func TestCanvasFiles(t *testing.T) {
	for _, id := range []string{"budget", "预算", "a b", "Ärger-1_2"} {
		name, err := CanvasFile(id)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := CanvasID(name); err != nil || got != id {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	for _, bad := range []string{"..", "a/b", `a\b`, "C:", " a", "a\n", "a\xff", ".hidden"} {
		if _, err := CanvasFile(bad); err == nil {
			t.Errorf("%q is taken for an id", bad)
		}
	}
	for _, bad := range []string{"a.tsx", ".ui4a.tsx", "a.ui4a.tsx.bak"} {
		if _, err := CanvasID(bad); err == nil {
			t.Errorf("%q is taken for a canvas file", bad)
		}
	}
}

func TestDiagnosticsAsText(t *testing.T) {
	d := Diagnostic{Code: "no-default-export", Severity: Error, Line: 3, Column: 1, Message: "the card exports no component", Fix: "write export default"}
	if got, want := d.String(), "3:1: error: the card exports no component [no-default-export]; write export default"; got != want {
		t.Errorf("%s", got)
	}
	w := Diagnostic{Severity: Warning}
	if Failed([]Diagnostic{w}) || !Failed([]Diagnostic{w, d}) {
		t.Error("warnings alone do not fail, errors do")
	}
}
