package surface

import (
	"fmt"
	"strings"
	"testing"

	"macaron/internal/chat"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/ui4a"
)

const empty = "export default () => <p>a</p>;\n"

func fenced(info, text string) string { return "````" + info + "\n" + text + "````\n" }

func patch(old, now string) string {
	return "<<<<<<< SEARCH\n" + old + "\n=======\n" + now + "\n>>>>>>> REPLACE\n"
}

// conversationOf folds answers, each of a turn t0, t1, ….
func conversationOf(answers ...string) *conversation {
	var turns []session.Turn
	for i, said := range answers {
		turns = append(turns, session.Turn{ID: fmt.Sprint("t", i), Request: fmt.Sprint("r", i), Status: record.StatusDelivered, Trace: []chat.Message{chat.Text(chat.Assistant, said)}})
	}
	return fold(turns)
}

// shown is what stands where: the surfaces with what was found of each, and the text of
// those that have none.
func (c *conversation) shown() string {
	var out []string
	for _, card := range c.Cards.Cards {
		line := string(card.Surface) + " of " + card.Turn
		for _, d := range c.wrong[card.Surface] {
			line += " " + d.Code
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

func TestAnAnswerOpensACanvas(t *testing.T) {
	long := strings.Repeat("ж", 65)
	for name, c := range map[string]struct {
		answers []string
		want    string
	}{
		"opened":                      {[]string{fenced("ui4a/tsx canvas/trip", empty)}, "canvas/trip of t0"},
		"of any script, with a space": {[]string{fenced("ui4a/tsx canvas/旅 行", empty)}, "canvas/旅 行 of t0"},
		"one spelling":                {[]string{fenced("ui4a/tsx canvas/cafe\u0301", empty), fenced("ui4a/patch canvas/caf\u00e9", patch("export default () => <p>a</p>;", "x"))}, "canvas/caf\u00e9 of t0"},
		"written again":               {[]string{fenced("ui4a/tsx canvas/trip", empty), fenced("ui4a/tsx canvas/trip", "b\n")}, "canvas/trip of t0"},
		"two, and a card":             {[]string{fenced("ui4a/tsx canvas/a", empty) + fenced("ui4a/tsx", empty) + fenced("ui4a/tsx canvas/b", empty)}, "canvas/a of t0; inline/t0/1 of t0; canvas/b of t0"},
		"a patch of none":             {[]string{fenced("ui4a/tsx canvas/trip", empty), fenced("ui4a/patch canvas/plan", patch("a", "b"))}, "canvas/trip of t0; inline/t1/0 of t1 patch-no-canvas"},
		"a patch of a bad name":       {[]string{fenced("ui4a/tsx canvas/trip", empty), fenced("ui4a/patch canvas/../trip", patch("a", "b"))}, "canvas/trip of t0; inline/t1/0 of t1 patch-no-canvas"},
		"a path":                      {[]string{fenced("ui4a/tsx canvas/../../etc/passwd", empty)}, "inline/t0/0 of t0 canvas-name"},
		"a path of Windows":           {[]string{fenced(`ui4a/tsx canvas/C:\x`, empty)}, "inline/t0/0 of t0 canvas-name"},
		"no name":                     {[]string{fenced("ui4a/tsx canvas/", empty)}, "inline/t0/0 of t0 canvas-name"},
		"too long":                    {[]string{fenced("ui4a/tsx canvas/"+long, empty)}, "inline/t0/0 of t0 canvas-name"},
		"turned round":                {[]string{fenced("ui4a/tsx canvas/a\u202eb", empty)}, "inline/t0/0 of t0 canvas-name"},
		"a zero byte":                 {[]string{fenced("ui4a/tsx canvas/a\x00b", empty)}, "inline/t0/0 of t0 canvas-name"},
		"another turn's card":         {[]string{fenced("ui4a/tsx inline/t7/0", empty)}, "inline/t0/0 of t0"},
		"a tool's":                    {[]string{fenced("ui4a/tsx tool/call", empty)}, "inline/t0/0 of t0"},
		"a word":                      {[]string{fenced("ui4a/tsx budget", empty)}, "inline/t0/0 of t0"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := conversationOf(c.answers...).shown(); got != c.want {
				t.Errorf("%s, not %s", got, c.want)
			}
		})
	}
}

// An unnamed patch is of the newest card that has a source, a canvas too.
func TestPatchesFindTheirCanvas(t *testing.T) {
	c := conversationOf(
		fenced("ui4a/tsx canvas/a", "first\n"), fenced("ui4a/tsx canvas/b", "first\n"),
		fenced("ui4a/patch canvas/a", patch("first", "second")),
		fenced("ui4a/patch canvas/none", patch("first", "never")),
		fenced("ui4a/patch", patch("first", "third")),
	)
	if a, b := c.card("canvas/a"), c.card("canvas/b"); a.Source != "second\n" || a.Edited != "t2" || b.Source != "third\n" || b.Edited != "t4" {
		t.Errorf("a is %+v, b is %+v", a, b)
	}
	last := c.Answers[len(c.Answers)-1].Blocks
	if first := c.Answers[0].Blocks; first[0].Changes || !last[0].Changes || last[0].Surface != "canvas/b" {
		t.Errorf("the answers are %+v", c.Answers)
	}
}

// However many canvases a model opens, a conversation has so many, and each answer so many
// cards; the others stand in their answers and say why.
func TestCanvasesAreBounded(t *testing.T) {
	var flood strings.Builder
	for i := range 100_000 {
		flood.WriteString(fenced(fmt.Sprint("ui4a/tsx canvas/", i), empty))
	}
	c := conversationOf(fenced("ui4a/tsx canvas/mine", empty), flood.String(), flood.String(), fenced("ui4a/tsx canvas/mine", "changed\n"))
	if n := len(c.canvases()); n != ui4a.MaxCanvases || len(c.Cards.Cards) > 1+2*ui4a.MaxFences || c.card("canvas/mine").Source != "changed\n" {
		t.Errorf("there are %d canvases and %d cards", n, len(c.Cards.Cards))
	}
	if last := c.card(ui4a.Inline("t1", ui4a.MaxFences-1)); last == nil || len(c.wrong[last.Surface]) != 1 || c.wrong[last.Surface][0].Code != "canvas-limit" {
		t.Errorf("the last card of the flood is %+v", last)
	}
}

// A repair's answer takes the place of the card that failed; where that was a patch of a
// canvas which is not there, it may open it. Whatever it brings has the rounds of what it
// repairs, so that no answer begins them anew.
func TestARepairOfACanvas(t *testing.T) {
	turns := []session.Turn{
		{ID: "t0", Trace: []chat.Message{chat.Text(chat.Assistant, fenced("ui4a/patch canvas/trip", patch("a", "b")))}, Cards: map[string]session.Card{"inline/t0/0": {Round: 1, Repairs: []string{"r1"}}}},
		{ID: "t1", Request: "r1", Trace: []chat.Message{chat.Text(chat.Assistant, fenced("ui4a/tsx canvas/trip", "broken\n")+fenced("ui4a/tsx canvas/more", "broken\n")+fenced("ui4a/tsx", "broken\n"))}, Cards: map[string]session.Card{"canvas/trip": {Round: 2, Repairs: []string{"r2"}}}},
		{ID: "t2", Request: "r2", Trace: []chat.Message{chat.Text(chat.Assistant, fenced("ui4a/tsx canvas/else", "other\n")+fenced("ui4a/tsx", "broken\n"))}},
	}
	for i := range turns {
		turns[i].Status = record.StatusDelivered
	}
	c := fold(turns)
	if got := c.shown(); got != "inline/t0/0 of t0 patch-no-canvas; canvas/trip of t1; canvas/more of t1; inline/t1/2 of t1; inline/t2/1 of t2" {
		t.Errorf("there are %s", got)
	}
	for _, card := range c.Cards.Cards {
		if want := map[string]int{"canvas/trip": 2, "inline/t2/1": 2}[string(card.Surface)]; card.Round != max(want, 1) {
			t.Errorf("%s has had %d rounds", card.Surface, card.Round)
		}
	}
	if got := c.card("canvas/trip").Source; got != "other\n" {
		t.Errorf("the repaired canvas is %q", got)
	}
}

// Each of a canvas' pieces, however it is cut, stands on one surface.
func TestAStreamedCanvasStandsInOnePlace(t *testing.T) {
	said := "Here:\n" + fenced("ui4a/tsx canvas/trip", empty)
	for i := range len(said) + 1 {
		c := fold(nil)
		c.answer("t0", "r0", said[:i], nil, false)
		if got := c.shown(); got != "" && got != "canvas/trip of t0" {
			t.Fatalf("after %q: %s", said[:i], got)
		}
	}
}
