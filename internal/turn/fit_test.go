package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/errs"
)

// counting is an engine with a small window whose tokens are words.
type counting struct {
	*backendtest.Scripted
	window int
}

func (c counting) Capabilities() backend.Capabilities {
	can := c.Scripted.Capabilities()
	can.Context = c.window
	return can
}

func (c counting) Count(_ context.Context, q backend.Request) (n int, err error) {
	for _, m := range q.Messages {
		n += 2 + len(strings.Fields(m.Text()))
	}
	return n, nil
}

func long(label string, i int) string {
	return fmt.Sprintf("%s: question %d %s", label, i, strings.Repeat("word ", 100))
}

func TestViewThatOutgrowsTheWindowIsRefusedWithNumbers(t *testing.T) {
	r := newRig(t)
	r.Generator = counting{r.engine, 700}
	k := r.talk()
	for i := range 2 {
		k.say(long("L2", i))
	}
	_, err := k.try(chat.Text(chat.User, "L2: "+strings.Repeat("more ", 300)))
	if e := errs.As(err); e.Code != errs.ContextExceeded || !strings.Contains(e.Message, " tokens and 699 fit") {
		t.Fatal(err)
	}
}

func TestViewThatOutgrowsTheWindowIsCompactedOnTheRecord(t *testing.T) {
	r := newRig(t)
	r.under("\n[view]\noverflow = \"compact\"\nroom = 100\nkeep = 20\n")
	r.Generator = counting{r.engine, 900}
	k := r.talk()
	compacted := 0
	for i := range 14 {
		d := k.say(long("L2", i)).done
		if c := d.Compacted; c != nil {
			compacted++
			if c.Adapter != "L2" || c.Limit != 800 || c.Before <= 800 || c.Tokens > 600 || c.Turns == 0 || c.Keep != 20 {
				t.Errorf("%+v", c)
			}
		}
	}
	if compacted < 2 || compacted > 7 {
		t.Errorf("%d of 14 turns compacted", compacted)
	}
	checkPrefixes(t, r)
}

// checkPrefixes: an answer's prompt begins as the one before it, but where the view was
// compacted, and no prompt is over the limit.
func checkPrefixes(t *testing.T, r *rig) {
	t.Helper()
	var before []chat.Message
	broken := 0
	for _, q := range r.engine.Seen() {
		if len(q.Choices) > 0 || backendtest.IsSummary(q) {
			continue
		}
		if n, _ := (counting{}).Count(t.Context(), q); n > 800 {
			t.Errorf("a prompt of %d tokens was sent", n)
		}
		for i := range before {
			if i >= len(q.Messages) || q.Messages[i].Text() != before[i].Text() {
				broken++
				break
			}
		}
		before = q.Messages
	}
	if broken > 7 {
		t.Errorf("%d prompts of 14 do not go on from the one before", broken)
	}
}

// TestOldestTurnsAreLeftOutWithANotice once shortening all of them is not enough.
func TestOldestTurnsAreLeftOutWithANotice(t *testing.T) {
	r := newRig(t)
	r.under("\n[view]\noverflow = \"compact\"\nkeep = 400\n")
	r.Generator = counting{r.engine, 500}
	k := r.talk()
	var dropped int
	for i := range 9 {
		if c := k.say(long("L2", i)).done.Compacted; c != nil {
			dropped = c.Dropped
		}
	}
	seen := r.engine.Seen()
	last := seen[len(seen)-1]
	if backendtest.IsSummary(last) || len(last.Choices) > 0 {
		for _, q := range seen {
			if len(q.Choices) == 0 && !backendtest.IsSummary(q) {
				last = q
			}
		}
	}
	if dropped == 0 || last.Messages[1].Text() != fmt.Sprintf("[%d earlier turns are left out here.]", dropped) {
		t.Errorf("%d left out, and the view begins with %q", dropped, last.Messages[1].Text())
	}
	if _, err := k.try(chat.Text(chat.User, "L2: "+strings.Repeat("word ", 600))); errs.CodeOf(err) != errs.ContextExceeded || !strings.Contains(err.Error(), "even without the history") {
		t.Error(err)
	}
}
