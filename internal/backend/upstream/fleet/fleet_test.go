package fleet

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine is a scripted engine that says who it is, or fails.
type engine struct {
	backendtest.Scripted
	err   error // of Generate
	after bool  // the error comes after a first word
	sick  atomic.Pointer[errs.Error]
}

func (e *engine) Ready(context.Context) error {
	if err := e.sick.Load(); err != nil {
		return err
	}
	return nil
}

func newEngine(name string) *engine {
	e := &engine{}
	e.On = func(_ context.Context, _ backend.Request, emit func(chat.Event) bool) (bool, error) {
		if e.err != nil && !e.after {
			return true, e.err
		}
		emit(chat.Event{Text: name})
		if e.err != nil {
			return true, e.err
		}
		emit(chat.Event{Finish: &chat.Finish{Reason: chat.FinishStop}})
		return true, nil
	}
	return e
}

// three are engines a, b and c with all adapters.
func three(t *testing.T, o Options, adapters ...string) (*Fleet, map[string]*engine) {
	t.Helper()
	all := map[string]*engine{}
	var list []Engine
	for i, name := range []string{"a", "b", "c"} {
		all[name] = newEngine(name)
		e := Engine{Name: name, Gen: all[name]}
		if i < len(adapters) {
			e.Adapters = strings.Fields(adapters[i])
		}
		list = append(list, e)
	}
	f := New(list, o)
	t.Cleanup(func() { _ = f.Close() })
	return f, all
}

func say(ctx context.Context, f *Fleet, session, label string) (string, error) {
	var all backend.Collected
	for e, err := range f.Generate(ctx, backend.Request{Session: session, Revision: adapter.Revision{Name: label}}) {
		if err != nil {
			return all.Text(), err
		}
		all.Add(e)
	}
	return all.Text(), nil
}

var down = errs.New(errs.UpstreamUnavailable, "down", "")

func TestASessionStaysAndMovesOnlyWhileItsEngineIsDown(t *testing.T) {
	f, all := three(t, Options{})
	counts := map[string]int{}
	for i := range 300 {
		s := fmt.Sprint("s", i)
		home, err := say(t.Context(), f, s, "L0")
		if err != nil {
			t.Fatal(err)
		}
		counts[home]++
		if again, _ := say(t.Context(), f, s, "L3"); again != home {
			t.Fatalf("%s went from %s to %s", s, home, again)
		}
	}
	for name, n := range counts {
		if n < 60 || n > 140 {
			t.Errorf("%s has %d of 300 sessions", name, n)
		}
	}
	home, _ := say(t.Context(), f, "s1", "L0")
	all[home].err = down
	away, err := say(t.Context(), f, "s1", "L0")
	if err != nil || away == home {
		t.Errorf("went to %q, %v", away, err)
	}
	all[home].err = nil
	if back, _ := say(t.Context(), f, "s1", "L0"); back != home {
		t.Errorf("went back to %q, not to %q", back, home)
	}
}

func TestWeightsAreShares(t *testing.T) {
	members := []*member{{Engine: Engine{Name: "a", Weight: 3}}, {Engine: Engine{Name: "b", Weight: 1}}}
	n := 0
	for i := range 4000 {
		if ranked(members, fmt.Sprint(i))[0].Name == "a" {
			n++
		}
	}
	if n < 2880 || n > 3120 {
		t.Errorf("a weight of 3 in 4 gets %d of 4000", n)
	}
}

func TestAnAdapterIsAskedForWhereItIs(t *testing.T) {
	f, _ := three(t, Options{}, "L0", "L1 L2", "L2")
	for label, want := range map[string]string{"L0": "a", "L1": "b", "L2": "bc"} {
		for i := range 20 {
			if got, err := say(t.Context(), f, fmt.Sprint(i), label); err != nil || !strings.Contains(want, got) {
				t.Errorf("%s is asked of %q, %v", label, got, err)
			}
		}
	}
	if _, err := say(t.Context(), f, "s", "L9"); errs.CodeOf(err) != errs.UpstreamFailed || errs.As(err).Next == "" {
		t.Errorf("an adapter nobody has: %v", err)
	}
}

func TestOnlyBeforeTheFirstByteAndOnlyWhatMayDoBetterIsTriedElsewhere(t *testing.T) {
	for _, tc := range []struct {
		err   error
		after bool
		want  errs.Code
	}{
		{down, false, ""},
		{errs.New(errs.UpstreamFailed, "401", ""), false, ""},
		{errs.New(errs.Overloaded, "429", ""), false, ""},
		{down, true, errs.UpstreamUnavailable},
		{errs.New(errs.InvalidRequest, "400", ""), false, errs.InvalidRequest},
		{errs.New(errs.ContextExceeded, "long", ""), false, errs.ContextExceeded},
		{errs.New(errs.FormatInvalid, "no label", ""), false, errs.FormatInvalid},
	} {
		f, all := three(t, Options{})
		home, _ := say(t.Context(), f, "s", "L0")
		all[home].err, all[home].after = tc.err, tc.after
		if _, err := say(t.Context(), f, "s", "L0"); errs.CodeOf(err) != tc.want {
			t.Errorf("%v, after a word %v: %v", tc.err, tc.after, err)
		}
	}
}

func TestTheShortestRetryAfterReachesTheClient(t *testing.T) {
	f, all := three(t, Options{})
	for i, name := range []string{"a", "b", "c"} {
		all[name].err = &errs.Error{Code: errs.Overloaded, Message: "busy", RetryAfter: time.Duration(7+i) * time.Second}
	}
	_, err := say(t.Context(), f, "s", "L0")
	if e := errs.As(err); e.Code != errs.Overloaded || e.RetryAfter != 7*time.Second {
		t.Errorf("%v after %v", err, e.RetryAfter)
	}
}

func TestTheBreakerOpensTriesAndCloses(t *testing.T) {
	now := &clock.Fixed{T: time.Unix(0, 0)}
	e := newEngine("a")
	f := New([]Engine{{Name: "a", Gen: e}}, Options{Clock: now})
	defer f.Close()
	state := func(want State, asked int) {
		t.Helper()
		if got := f.Status()[0].Breaker; got != want || len(e.Seen()) != asked {
			t.Errorf("%s after %d requests, want %s after %d", got, len(e.Seen()), want, asked)
		}
	}
	e.err = down
	for range failuresToOpen {
		_, _ = say(t.Context(), f, "s", "L0")
	}
	state(Open, 5)
	if _, err := say(t.Context(), f, "s", "L0"); errs.CodeOf(err) != errs.UpstreamUnavailable || errs.As(err).RetryAfter != firstPause {
		t.Errorf("open: %v", err)
	}
	state(Open, 5)
	now.Add(firstPause)
	state(HalfOpen, 5)
	_, _ = say(t.Context(), f, "s", "L0")
	state(Open, 6)
	now.Add(firstPause)
	state(Open, 6) // the pause has doubled
	now.Add(firstPause)
	state(HalfOpen, 6)
	e.err = nil
	if _, err := say(t.Context(), f, "s", "L0"); err != nil {
		t.Error(err)
	}
	state(Closed, 7)
}

// An engine that is seen to be back is tried at once, however long the pause has grown.
func TestTheBreakerRelentsWhenTheEngineIsBack(t *testing.T) {
	now := &clock.Fixed{T: time.Unix(0, 0)}
	e := newEngine("a")
	f := New([]Engine{{Name: "a", Gen: e}}, Options{Clock: now})
	defer f.Close()
	look := func(sick *errs.Error) {
		e.sick.Store(sick)
		f.members[0].look(t.Context(), time.Second, nil)
	}
	e.err = down
	for range failuresToOpen {
		_, _ = say(t.Context(), f, "s", "L0")
	}
	look(nil) // well all the while: that says nothing against the requests
	if got := f.Status()[0].Breaker; got != Open {
		t.Errorf("%s although requests fail", got)
	}
	look(down)
	e.err = nil
	look(nil)
	if _, err := say(t.Context(), f, "s", "L0"); err != nil || f.Status()[0].Breaker != Closed {
		t.Errorf("%v, %s", err, f.Status()[0].Breaker)
	}
}

func TestOneTryAtATimeAndALeftOneIsNoVerdict(t *testing.T) {
	now := &clock.Fixed{T: time.Unix(0, 0)}
	b := breaker{clock: now}
	for range failuresToOpen {
		b.report(true)
	}
	now.Add(firstPause)
	if ok, _ := b.allow(); !ok {
		t.Fatal("no try after the pause")
	}
	if ok, wait := b.allow(); ok || wait <= 0 {
		t.Error("two tries at once")
	}
	b.forget()
	if ok, _ := b.allow(); !ok {
		t.Error("no try after one whose client left")
	}
}

// lasting is an error that a pause does not mend.
type lasting struct{ error }

func (lasting) Lasting() bool { return true }

func TestWrongSettingsDoNotOpenTheBreaker(t *testing.T) {
	f, all := three(t, Options{}, "L0", "L1", "L2")
	all["a"].err = errs.Wrap(errs.UpstreamFailed, lasting{errs.New(errs.UpstreamFailed, "404", "")}, "no such model", "")
	for range 2 * failuresToOpen {
		_, _ = say(t.Context(), f, "s", "L0")
	}
	if f.Status()[0].Breaker != Closed {
		t.Error("the breaker opened")
	}
}

func TestHealthIsLookedAtAndTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine("a")
		told := []string{}
		f := New([]Engine{{Name: "a", Gen: e}}, Options{Every: time.Second, Changed: func(name string, err error) { told = append(told, fmt.Sprint(name, err != nil)) }})
		synctest.Wait()
		e.sick.Store(down)
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		if s := f.Status()[0]; s.Error != "down" {
			t.Errorf("%+v", s)
		}
		e.sick.Store(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if err := f.Close(); err != nil || fmt.Sprint(told) != "[atrue afalse]" {
			t.Errorf("told %v, %v", told, err)
		}
	})
}

func TestReadyMeansThatEveryAdapterHasAnEngine(t *testing.T) {
	for _, tc := range []struct {
		adapters []string
		down     string
		ready    bool
	}{
		{nil, "", true}, {nil, "ab", true}, {nil, "abc", false},
		{[]string{"L0", "L0 L1", "L1"}, "b", true}, {[]string{"L0", "L0 L1", "L1"}, "ab", false}, {[]string{"L0", "L0 L1", "L1"}, "ac", true},
	} {
		f, all := three(t, Options{}, tc.adapters...)
		for name, e := range all {
			if strings.Contains(tc.down, name) {
				e.sick.Store(down)
			}
		}
		if err := f.Ready(t.Context()); (err == nil) != tc.ready {
			t.Errorf("%+v: %v", tc, err)
		}
	}
}

// What an engine lacks is lacking under its own adapters only.
func TestCapabilitiesByAdapter(t *testing.T) {
	eyes, blind := newEngine("eyes"), newEngine("blind")
	eyes.Can = &backend.Capabilities{Images: true, Tools: true}
	blind.Can = &backend.Capabilities{Tools: true}
	f := New([]Engine{{Name: "eyes", Gen: eyes, Adapters: []string{"L0", "L1"}}, {Name: "blind", Gen: blind, Adapters: []string{"L1", "L2"}}}, Options{})
	defer f.Close()
	for adapter, want := range map[string]bool{"L0": true, "L1": false, "L2": false, "L9": false, "": false} {
		if can := backend.CapabilitiesOf(f, adapter); can.Images != want || !can.Tools {
			t.Errorf("under %q: %+v", adapter, can)
		}
	}
}
