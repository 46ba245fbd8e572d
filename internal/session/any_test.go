package session_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/session"
)

// Whatever messages a client sends, in whatever order, it gets a clear refusal or a
// turn whose view is whole and ends with what is to be answered.
func TestAnyMessagesAreRefusedOrServed(t *testing.T) {
	r := newRig(t)
	b := r.begin(t, me, []chat.Message{user("0")}, "L1")
	r.finish(t, b, calls("0", "1"))
	r.say(t, []chat.Message{user("1")}, "L2", "1")
	rapid.Check(t, func(t *rapid.T) {
		var body []chat.Message
		for range rapid.IntRange(0, 7).Draw(t, "messages") {
			body = append(body, anyMessage(t))
		}
		w := me
		if rapid.IntRange(0, 3).Draw(t, "named") == 0 {
			w.Session = b.Session
		}
		pos, err := r.log.Resolve(ctx, w, body)
		if err != nil {
			if code := errs.CodeOf(err); code != errs.InvalidRequest && code != errs.OrphanToolTurn {
				t.Fatal(err)
			}
			return
		}
		turn, err := r.log.Begin(ctx, pos, session.Opening{})
		if err != nil {
			t.Fatal(err)
		}
		label := rapid.SampledFrom([]string{"L0", "L1", "L2"}).Draw(t, "label")
		if pos.Continue != nil {
			label = turn.Revision.Name
		}
		view := r.view(t, pos.History, turn, label)
		if last := view[len(view)-1]; last.Role == chat.Assistant {
			t.Fatalf("nothing to answer in %q", lines(view))
		}
		if rapid.Bool().Draw(t, "deliver") {
			r.finish(t, begun{Turn: turn, pos: pos, label: label}, said(fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "answer"))))
		} else if err := r.log.Close(ctx, turn, record.StatusInterrupted, "test"); err != nil {
			t.Fatal(err)
		}
	})
}

// anyMessage is one of few, so that conversations meet.
func anyMessage(t *rapid.T) chat.Message {
	text := fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "text"))
	switch rapid.IntRange(0, 5).Draw(t, "role") {
	case 0:
		return chat.Text(chat.System, text)
	case 1:
		return said(text)
	case 2:
		return calls("0", "1")
	case 3:
		return result(rapid.SampledFrom([]string{"0", "1", "2"}).Draw(t, "id"), text)
	}
	return user(text)
}
