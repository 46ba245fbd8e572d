package trajectory

import (
	"fmt"
	"strings"
	"time"

	"macaron/internal/transcript"
)

// Text tells a run step by step, for a terminal. Every line is free of control characters:
// what a model or a tool said must not move the cursor.
func Text(r *transcript.Run) string {
	var b strings.Builder
	o := r.Opened
	fmt.Fprintf(&b, "%s  %s  %s  %s\n", r.Head.Run, r.Status, o.Mode, r.Head.Purpose)
	fmt.Fprintf(&b, "contract %s  specialist %s  engine %s %s\n", r.Head.Contract.Short(), printable(o.Pins.Adapter.Name), printable(o.Pins.Engine.Name), printable(o.Pins.Engine.Version))
	block(&b, "task", o.Task.Instruction)
	for i, t := range r.Turns {
		u := t.Hop.Usage
		fmt.Fprintf(&b, "\nturn %d  %s after the start  %d + %d tokens, %d cached\n", i+1, t.Head.Time.Sub(r.Head.Time).Round(time.Millisecond), u.PromptTokens, u.OutputTokens, u.CachedTokens)
		block(&b, "says", t.Hop.Message.Text())
		for _, c := range t.Hop.Message.ToolCalls {
			block(&b, "calls", c.Name+" "+c.Arguments)
		}
		for j := range t.Acts {
			acted(&b, &t.Acts[j])
		}
		for _, s := range t.Said {
			block(&b, "told", s)
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\nnote %s %s\n", printable(n.Note), printable(n.Name))
	}
	if r.Closed != nil {
		fmt.Fprintf(&b, "\nended %s  %d turns, %d calls, %d cells, %d + %d tokens, $%.4f\n", r.Closed.Status, r.Totals.Turns, r.Totals.ToolCalls, r.Totals.Cells, r.Totals.Usage.PromptTokens, r.Totals.Usage.OutputTokens, r.Totals.CostUSD.Dollars())
		block(&b, "reason", r.Closed.Reason)
		block(&b, "answer", r.Closed.Answer)
	}
	return b.String()
}

func acted(b *strings.Builder, a *transcript.Act) {
	if a.Cell != nil {
		for _, c := range a.Cell.Calls {
			if c.Called != nil {
				block(b, "  in code", c.Called.Name+" "+string(c.Visible()))
			}
		}
	}
	if text, ok := a.Shown(); ok {
		block(b, "shown", text)
	}
}

// block writes a text with a word before each of its lines.
func block(b *strings.Builder, word, text string) {
	if text == "" {
		return
	}
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		fmt.Fprintf(b, "  %-8s %s\n", word, printable(line))
		word = ""
	}
}

// printable puts U+FFFD in the place of what a terminal would act on.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '\uFFFD'
		}
		return r
	}, s)
}
