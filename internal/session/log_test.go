package session_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/session"
)

// With the session named, edits and retries stay in it as siblings.
func TestExplicitSessionKeepsBranches(t *testing.T) {
	r := newRig(t)
	h, first := r.say(t, []chat.Message{user("u1")}, "L0", "A1")
	w := me
	w.Session = first.Session
	var last begun
	for _, body := range [][]chat.Message{with(h, user("u2")), with(h, user("u2")), with(h, user("edited")), {user("u1 edited")}, with(h, said("odd"), user("u3"))} {
		last = r.begin(t, w, body, "L0")
		r.finish(t, last, said("answer to "+last.Text()))
		if last.Session != first.Session {
			t.Errorf("%q left the session", last.Text())
		}
	}
	state, turns, err := r.log.Load(ctx, me.Owner, first.Session)
	if err != nil || state.Turns != 6 || len(turns) != 6 || turns[1].Parent != first.ID || turns[2].Parent != first.ID || turns[4].Parent != "" {
		t.Errorf("%+v, %d turns: %v", state, len(turns), err)
	}
	wantView(t, last, "user:u1", "assistant:A1", "assistant:odd", "user:u3")
	for _, bad := range []session.Where{{Owner: "bob", Scope: "key", Session: first.Session}, {Owner: "ann", Scope: "other", Session: first.Session}, {Owner: "ann", Scope: "key", Session: "ses_none"}} {
		if _, err := r.log.Resolve(ctx, bad, h[:1]); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// With the parent named, the messages may be the whole conversation or only what
// is new.
func TestExplicitParent(t *testing.T) {
	r := newRig(t)
	h, first := r.say(t, []chat.Message{user("u1")}, "L0", "A1")
	h2, _ := r.say(t, with(h, user("u2")), "L1", "A2")
	w := me
	w.ParentTurn = first.ID
	for _, body := range [][]chat.Message{with(h, user("u2'")), {user("u2'")}} {
		b := r.begin(t, w, body, "L0")
		wantView(t, b, "user:u1", "assistant:A1", "user:u2'")
		if b.Session != first.Session || b.Parent != first.ID {
			t.Errorf("in %s after %s", b.Session, b.Parent)
		}
	}
	open := r.begin(t, me, with(h2, user("u3")), "L0")
	for _, bad := range []session.Where{{Owner: "ann", Scope: "key", ParentTurn: open.ID}, {Owner: "bob", Scope: "key", ParentTurn: first.ID}, {Owner: "ann", ParentTurn: first.ID}} {
		if _, err := r.log.Resolve(ctx, bad, []chat.Message{user("x")}); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestForkedSessionsShareTheirRoot(t *testing.T) {
	r := newRig(t)
	h, first := r.say(t, []chat.Message{user("a   title\nof " + strings.Repeat("x", 100))}, "L0", "A1")
	r.say(t, with(h, user("u2")), "L0", "A2")
	forked, second := r.say(t, with(h, user("u2'")), "L0", "A2'")
	_, third := r.say(t, with(forked, user("u3")), "L0", "A3")
	list, err := r.log.List(ctx, me.Owner, time.Time{}, 0)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	fork, err := r.store.Session(ctx, me.Owner, second.Session)
	if err != nil || fork.ForkedFrom != first.ID || fork.Root != first.Session || fork.Title != "u2'" || fork.Turns != 2 || third.Session != second.Session {
		t.Errorf("%+v %v", fork, err)
	}
	root, err := r.store.Session(ctx, me.Owner, first.Session)
	if err != nil || root.Root != first.Session || !strings.HasPrefix(root.Title, "a title of xx") || len(root.Title) != 83 {
		t.Errorf("%+v %v", root, err)
	}
}

func TestBadRequestsAreRefused(t *testing.T) {
	r := newRig(t)
	for name, c := range map[string]struct {
		messages []chat.Message
		code     errs.Code
	}{
		"nothing":        {nil, errs.InvalidRequest},
		"system only":    {[]chat.Message{chat.Text(chat.System, "s")}, errs.InvalidRequest},
		"assistant last": {[]chat.Message{user("u"), said("a")}, errs.InvalidRequest},
		"no user":        {[]chat.Message{said("a"), chat.Text(chat.System, "s")}, errs.InvalidRequest},
		"tool first":     {[]chat.Message{result("c", "r")}, errs.OrphanToolTurn},
		"call first":     {[]chat.Message{calls("c"), result("c", "r")}, errs.OrphanToolTurn},
		"too many":       {make([]chat.Message, session.MaxMessages+1), errs.TooLarge},
	} {
		if _, err := r.log.Resolve(ctx, me, c.messages); errs.CodeOf(err) != c.code || errs.As(err).Next == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.log.Resolve(ctx, session.Where{}, []chat.Message{user("u")}); errs.CodeOf(err) != errs.Internal {
		t.Errorf("no owner: %v", err)
	}
}

func TestConversationLengthIsBounded(t *testing.T) {
	r := newRig(t)
	r.log = session.New(r.store, session.Options{MaxTurns: 3})
	h := []chat.Message{}
	for range 3 {
		h, _ = r.say(t, with(h, user("u")), "L0", "a")
	}
	h, _ = r.say(t, with(h, user("u")), "L0", "a")
	if _, err := r.log.Resolve(ctx, me, with(h, user("u"))); errs.CodeOf(err) != errs.TooLarge {
		t.Errorf("got %v", err)
	}
}

// A system message in the middle stays where it came, and out of the identity.
func TestSystemTextInTheMiddle(t *testing.T) {
	r := newRig(t)
	h, _ := r.say(t, []chat.Message{user("u1")}, "L0", "A1")
	note := chat.Text(chat.System, "note")
	h, b := r.say(t, with(h, note, user("u2")), "L0", "A2")
	wantView(t, b, "user:u1", "assistant:A1", "system:note", "user:u2")
	h = with(h[:2:2], h[3:]...) // the client has dropped the note
	_, b = r.say(t, with(h, user("u3")), "L0", "A3")
	wantView(t, b, "user:u1", "assistant:A1", "system:note", "user:u2", "assistant:A2", "user:u3")
}

func TestSweepInterruptsWhatACrashLeft(t *testing.T) {
	r := newRig(t)
	h, done := r.say(t, []chat.Message{user("u1")}, "L0", "A1")
	open := r.begin(t, me, with(h, user("u2")), "L0")
	waits := r.begin(t, me, []chat.Message{user("w")}, "L1")
	r.finish(t, waits, calls("c"))
	looped := r.begin(t, me, []chat.Message{user("w"), calls("c"), result("c", "r")}, "")
	if _, err := r.log.LeaseSummaries(ctx, 9, time.Hour); err != nil {
		t.Fatal(err)
	}
	n, err := r.log.Sweep(ctx)
	if err != nil || n != 2 {
		t.Errorf("%d swept: %v", n, err)
	}
	for id, want := range map[string]record.Status{done.ID: record.StatusDelivered, open.ID: record.StatusInterrupted, looped.ID: record.StatusAwaiting} {
		if got, err := r.log.Turn(ctx, me.Owner, id); err != nil || got.Status != want {
			t.Errorf("%s is %s %v, not %s", id, got.Status, err, want)
		}
	}
	if tasks, err := r.log.LeaseSummaries(ctx, 9, time.Hour); err != nil || len(tasks) != 1 || tasks[0].Turn != done.ID || tasks[0].Attempt != 2 {
		t.Errorf("leases outlived the process: %+v %v", tasks, err)
	}
	if n, err := r.log.Sweep(ctx); err != nil || n != 0 {
		t.Errorf("again %d %v", n, err)
	}
}

func TestSummaryQueue(t *testing.T) {
	r := newRig(t)
	h, first := r.say(t, []chat.Message{user("u1")}, "L0", "A1")
	lease := func(want int) []record.Task {
		t.Helper()
		tasks, err := r.log.LeaseSummaries(ctx, 9, time.Minute)
		if err != nil || len(tasks) != want {
			t.Fatalf("%d tasks, not %d: %v", len(tasks), want, err)
		}
		return tasks
	}
	task := lease(1)[0]
	lease(0)
	r.clock.Add(time.Minute) // the worker has died
	lease(1)
	if err := r.log.ReleaseSummary(ctx, task, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	lease(0)
	r.clock.Add(10 * time.Second)
	lease(1)
	hop := session.Served{Hop: record.Hop{Hop: record.HopSummary, Adapter: revision("L0"), Usage: chat.Usage{OutputTokens: 5}}}
	if kept, err := r.log.PutSummary(ctx, me.Owner, first.ID, hop, record.Summary{Text: "S1", Source: "model"}); err != nil || !kept {
		t.Fatal(kept, err)
	}
	r.clock.Add(time.Hour)
	lease(0)
	if got, err := r.log.Turn(ctx, me.Owner, first.ID); err != nil || got.Summary != "S1" || got.SummaryFinal || len(got.Hops) != 2 || len(got.Trace) != 1 {
		t.Errorf("%+v %v", got, err)
	}
	r.say(t, with(h, user("u2")), "L1", "A2")
	if kept, err := r.log.PutSummary(ctx, me.Owner, first.ID, hop, record.Summary{Text: "S2", Source: "model"}); err != nil || kept {
		t.Error("a used summary was replaced", err)
	}
	if _, err := r.log.PutSummary(ctx, "bob", first.ID, hop, record.Summary{Text: "S3"}); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("another owner wrote: %v", err)
	}
}

// Many views and a late worker race for one summary; all of them show one text.
func TestFirstUsedSummaryWins(t *testing.T) {
	r := newRig(t)
	for range 5 {
		_, first := r.say(t, []chat.Message{user("u1")}, "L0", "A1")
		var group sync.WaitGroup
		used := make([]session.Turn, 8)
		for i := range used {
			group.Go(func() {
				if i%2 == 0 {
					if _, err := r.log.PutSummary(ctx, me.Owner, first.ID, session.Served{}, record.Summary{Text: string(rune('a' + i)), Source: "model"}); err != nil {
						t.Error(err)
					}
				}
				used[i] = *first.Turn
				if err := r.log.UseSummaries(ctx, []*session.Turn{&used[i]}, r.extract); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		final, err := r.log.Turn(ctx, me.Owner, first.ID)
		if err != nil || !final.SummaryFinal {
			t.Fatal(err)
		}
		for _, u := range used {
			if u.Summary != final.Summary || !u.SummaryFinal {
				t.Errorf("a view has %q, the log %q", u.Summary, final.Summary)
			}
		}
	}
}

func TestIdenticalRequestsAtOnce(t *testing.T) {
	r := newRig(t)
	h, first := r.say(t, []chat.Message{user("u1")}, "L0", "A1")
	var group sync.WaitGroup
	turns := make([]begun, 6)
	for i := range turns {
		group.Go(func() {
			turns[i] = r.begin(t, me, with(h, user("u2")), "L0")
			r.finish(t, turns[i], said("A2"))
		})
	}
	group.Wait()
	seen := map[string]bool{}
	for _, b := range turns {
		if seen[b.ID] || b.Parent != first.ID {
			t.Errorf("turn %s after %s", b.ID, b.Parent)
		}
		seen[b.ID] = true
	}
	_, next := r.say(t, with(h, user("u2"), said("A2"), user("u3")), "L0", "A3")
	wantView(t, next, "user:u1", "assistant:A1", "user:u2", "assistant:A2", "user:u3")
}

func TestFeedback(t *testing.T) {
	r := newRig(t)
	_, b := r.say(t, []chat.Message{user("u1")}, "L0", "A1")
	if err := r.log.Feedback(ctx, me.Owner, b.ID, record.Feedback{Score: 1}); err != nil {
		t.Fatal(err)
	}
	if got, err := r.log.Turn(ctx, me.Owner, b.ID); err != nil || got.Score != 1 {
		t.Errorf("%+v %v", got, err)
	}
	for want, err := range map[errs.Code]error{
		errs.InvalidRequest: r.log.Feedback(ctx, me.Owner, b.ID, record.Feedback{Score: 2}),
		errs.TooLarge:       r.log.Feedback(ctx, me.Owner, b.ID, record.Feedback{Correction: strings.Repeat("x", session.MaxText+1)}),
		errs.NotFound:       r.log.Feedback(ctx, "bob", b.ID, record.Feedback{}),
	} {
		if errs.CodeOf(err) != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

func TestTurnsCloseOnce(t *testing.T) {
	r := newRig(t)
	_, b := r.say(t, []chat.Message{user("u1")}, "L0", "A1")
	again := *b.Turn
	again.Status = record.StatusOpen
	if err := r.log.Close(ctx, &again, record.StatusInterrupted, "late"); errs.CodeOf(err) != errs.Internal {
		t.Errorf("closed twice: %v", err)
	}
	if err := r.log.AddToolResults(ctx, &again, []chat.Message{result("c", "r")}); errs.CodeOf(err) != errs.OrphanToolTurn {
		t.Errorf("results for a delivered turn: %v", err)
	}
	open := r.begin(t, me, []chat.Message{user("u2")}, "L0")
	for status, m := range map[record.Status]chat.Message{record.StatusAwaiting: said("no calls"), "gone": said("x")} {
		if err := r.log.Close(ctx, open.Turn, status, "", answer("L0", m)); errs.CodeOf(err) != errs.Internal {
			t.Errorf("%s: %v", status, err)
		}
	}
	if err := r.log.Close(ctx, open.Turn, record.StatusAwaiting, "", answer("L0", calls("c", "c"))); errs.CodeOf(err) != errs.Internal {
		t.Errorf("calls with one id: %v", err)
	}
	if err := r.log.Close(ctx, open.Turn, record.StatusDelivered, ""); errs.CodeOf(err) != errs.Internal {
		t.Errorf("delivered nothing: %v", err)
	}
	if err := r.log.Close(ctx, open.Turn, record.StatusDelivered, "", answer("L0", said("ok"))); err != nil {
		t.Error(err)
	}
}

func TestTitlesAndTextsOfTurns(t *testing.T) {
	turn := session.Turn{User: []chat.Message{user("a"), user("b"), chat.Text(chat.System, "s")}, Trace: []chat.Message{said("x"), calls("c")}, Status: record.StatusAwaiting}
	if turn.Text() != "b" || turn.Answer() != "x" {
		t.Errorf("%q %q", turn.Text(), turn.Answer())
	}
	if diff := cmp.Diff(turn.Calls(), calls("c").ToolCalls); diff != "" {
		t.Error(diff)
	}
	turn.Status = record.StatusOpen
	if turn.Calls() != nil {
		t.Error("an open turn waits for nothing")
	}
}
