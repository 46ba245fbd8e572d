package app

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"macaron/internal/auth"
	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge/ledger"
	forge "macaron/internal/mindforge/serve"
	"macaron/internal/obs"
	"macaron/internal/record"
)

// marked enters a release whose contract and whose adapters both have a mark.
func (s *site) marked(mark string) (release, contracted ids.Digest) {
	s.t.Helper()
	text, err := os.ReadFile(s.cfg.Contract)
	if err != nil {
		s.t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`system = "You`), []byte(`system = "PAIR-`+mark+` You`), 1)
	text = bytes.ReplaceAll(text, []byte(`"model:`), []byte(`"model:`+mark+`-`))
	k, err := contract.Parse(text)
	if err != nil {
		s.t.Fatal(err)
	}
	d := forge.Draft{Contract: string(text)}
	for _, a := range k.Adapters {
		d.Specialists = append(d.Specialists, contract.Specialist{Label: a.Name, Revision: ids.DigestOf([]byte(a.Source))})
	}
	release, err = s.releases.Enter(s.t.Context(), auth.Local, d)
	if err != nil {
		s.t.Fatal(err)
	}
	return release, k.Hash()
}

var pairMark = regexp.MustCompile(`PAIR-(\w+)`)

// halves tells by which contract and which revision a request is answered.
func halves(r backend.Request) string {
	k, rev := "file", "file"
	if m := pairMark.FindStringSubmatch(r.Messages[0].Text()); m != nil {
		k = m[1]
	}
	if mark, _, ok := strings.Cut(strings.TrimPrefix(r.Revision.Source, "model:"), "-"); ok {
		rev = mark
	}
	return k + "/" + rev
}

// telling answers with the halves.
func telling(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
	if r.Hop.Kind != string(record.HopAnswer) {
		return false, nil
	}
	backendtest.Emit(emit, backendtest.Words(halves(r))...)
	return true, nil
}

// While releases are promoted and rolled back, each of many clients is answered by a whole
// pair, which is the one that the headers and the report name.
func TestPairsAreWhole(t *testing.T) {
	g := &backendtest.Scripted{On: telling}
	s := start(t, settings(t, t.TempDir()), g)
	named := map[string][2]ids.Digest{}
	for _, mark := range []string{"a", "b"} {
		r, k := s.marked(mark)
		named[mark] = [2]ids.Digest{r, k}
	}
	var stop atomic.Bool
	var clients sync.WaitGroup
	var seen sync.Map
	for c := range 16 {
		clients.Go(func() {
			for n := 0; !stop.Load(); n++ {
				resp := s.post(object{"model": "macaron", "messages": []any{user("L1 what now?")}, "user": fmt.Sprintf("c%d-%d", c, n)})
				o := s.object(resp)
				choices := at[[]any](o, "choices")
				if len(choices) == 0 {
					t.Errorf("%v", o)
					return
				}
				k, rev, _ := strings.Cut(at[string](choices[0], "message", "content"), "/")
				seen.Store(k, true)
				want := named[k]
				if k != rev || resp.Header.Get("X-Macaron-Release") != string(want[0]) || k != "file" && at[string](o, "macaron", "contract") != string(want[1]) {
					t.Errorf("the contract of %s, the revision of %s, release %s: %v", k, rev, resp.Header.Get("X-Macaron-Release"), o["macaron"])
				}
			}
		})
	}
	s.movedAbout(named["a"][0], named["b"][0], 200)
	stop.Store(true)
	clients.Wait()
	for _, k := range []string{"a", "b"} {
		if _, ok := seen.Load(k); !ok {
			t.Errorf("nobody was answered by %s", k)
		}
	}
	s.accounted(200)
}

// movedAbout promotes and rolls back so many times, the contract's file among them.
func (s *site) movedAbout(a, b ids.Digest, times int) {
	s.t.Helper()
	for n := range times {
		m, do := forge.Move{Version: int64(n), Reason: "test"}, s.releases.Promote
		switch n % 5 {
		case 0, 2:
			m.Release = a
		case 1:
			m.Release = b
		case 3:
			do = s.releases.Rollback
		}
		if _, err := do(s.t.Context(), auth.Local, m); err != nil {
			s.t.Fatal(err)
		}
	}
}

// accounted checks that the ledger holds and has so many moves of the champion.
func (s *site) accounted(moves int64) {
	s.t.Helper()
	all, err := s.releases.Ledger.All(s.t.Context(), auth.Local, "")
	if err != nil {
		s.t.Fatal(err)
	}
	var c ledger.Chain
	for _, e := range all {
		if err := c.Next(e); err != nil {
			s.t.Fatal(err)
		}
	}
	aliases, err := s.releases.Ledger.Store.Aliases(s.t.Context(), auth.Local)
	if err == nil {
		err = c.Stands(aliases)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	for _, a := range aliases {
		if a.Name == ledger.Champion && a.Version != moves {
			s.t.Errorf("the champion is at version %d", a.Version)
		}
	}
}

// A turn that has begun ends on the pair that it began with, over tool calls, a promotion and
// a restart.
func TestTurnsEndOnTheirPair(t *testing.T) {
	call := func(ctx context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		if r.Hop.Kind == string(record.HopAnswer) && r.Messages[len(r.Messages)-1].Role != chat.Tool {
			backendtest.Emit(emit, backendtest.Call(0, "c1", "look", `{}`))
			return true, nil
		}
		return telling(ctx, r, emit)
	}
	cfg := settings(t, t.TempDir())
	s := start(t, cfg, &backendtest.Scripted{On: call})
	a, _ := s.marked("a")
	b, _ := s.marked("b")
	s.promote(a)
	tools := []any{object{"type": "function", "function": object{"name": "look", "parameters": object{"type": "object"}}}}
	q := object{"model": "macaron", "messages": []any{user("L1 look")}, "tools": tools}
	first := at[[]any](s.object(s.post(q)), "choices")[0].(object)["message"]
	s.promote(b)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, cfg, &backendtest.Scripted{On: call})
	q["messages"] = []any{user("L1 look"), first, object{"role": "tool", "tool_call_id": "c1", "content": "seen"}}
	o := s.object(s.post(q))
	if got := at[string](at[[]any](o, "choices")[0], "message", "content"); got != "a/a" || at[string](o, "macaron", "release") != string(a) {
		t.Errorf("%s by %v", got, o["macaron"])
	}
	code, o := s.postTo("/v1/policies/L1/promote", `{}`)
	if code != http.StatusBadRequest || !strings.Contains(at[string](o, "error", "message"), "is in force") {
		t.Errorf("a policy record was moved under a release: %d %v", code, o)
	}
}

func (s *site) promote(release ids.Digest) {
	s.t.Helper()
	if _, err := s.releases.Promote(s.t.Context(), auth.Local, forge.Move{Release: release, Version: -1}); err != nil {
		s.t.Fatal(err)
	}
}

// What nobody has entered, or what is somebody else's, cannot be promoted, and a move that
// has not seen the last one is refused.
func TestMovesAreRefused(t *testing.T) {
	s, _ := scriptedSite(t)
	a, _ := s.marked("a")
	ctx := t.Context()
	_, ofFile := s.releases.Rollback(ctx, auth.Local, forge.Move{Version: -1})
	s.promote(a)
	_, others := s.releases.Promote(ctx, "tenant", forge.Move{Release: a, Version: -1})
	_, unknown := s.releases.Promote(ctx, auth.Local, forge.Move{Release: ids.DigestOf(nil), Version: -1})
	_, stale := s.releases.Promote(ctx, auth.Local, forge.Move{Version: 0})
	_, itself := s.releases.Canary(ctx, auth.Local, forge.Move{Release: a, Share: 0.5, Version: -1})
	_, share := s.releases.Canary(ctx, auth.Local, forge.Move{Release: a, Share: 1, Version: -1})
	_, rule := s.releases.Canary(ctx, auth.Local, forge.Move{Release: a, Share: 0.1, Rule: `{"alpa":1}`, Version: -1})
	_, incomplete := s.releases.Enter(ctx, auth.Local, forge.Draft{Contract: strings.ReplaceAll(string(read(t, s.cfg.Contract)), `"model:L1"`, `"sha256:`+strings.Repeat("0", 64)+`"`)})
	for name, c := range map[string]struct {
		err  error
		code errs.Code
	}{
		"no champion": {ofFile, errs.NotFound}, "another's": {others, errs.NotFound}, "unknown": {unknown, errs.NotFound}, "stale": {stale, errs.InvalidRequest},
		"itself": {itself, errs.InvalidRequest}, "share": {share, errs.InvalidRequest}, "rule": {rule, errs.InvalidRequest}, "incomplete": {incomplete, errs.InvalidRequest},
	} {
		if errs.CodeOf(c.err) != c.code {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	s.accounted(1)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// moving is a clock that only tests move.
type moving struct {
	mu sync.Mutex
	t  time.Time
}

func (m *moving) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.t
}

func (m *moving) add(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.t = m.t.Add(d)
}

// A canary that answers worse, in any of the ways that are looked at, is taken back; one that
// answers as well is not. A conversation stays in its arm.
func TestCanaries(t *testing.T) {
	for name, c := range map[string]struct {
		worse func(*trial, backend.Request, func(chat.Event) bool) error // what the canary does
		after func(t *trial, turn string)                                // what people do with its answers
		says  string
	}{
		"errors": {says: "errors", worse: func(*trial, backend.Request, func(chat.Event) bool) error {
			return errs.New(errs.UpstreamFailed, "the engine fell over", "")
		}},
		"slow": {says: "slow", worse: func(x *trial, r backend.Request, emit func(chat.Event) bool) error {
			x.clock.add(4 * time.Second)
			backendtest.Emit(emit, backendtest.Words("fine")...)
			return nil
		}},
		"checks": {says: "checks", worse: func(x *trial, r backend.Request, emit func(chat.Event) bool) error {
			backendtest.Emit(emit, backendtest.Words("sorry, I cannot")...)
			return nil
		}},
		"feedback": {says: "feedback", after: func(x *trial, turn string) {
			if code, o := x.postTo("/v1/feedback", fmt.Sprintf(`{"turn":%q,"score":-1}`, turn)); code != http.StatusOK {
				x.t.Errorf("%d %v", code, o)
			}
		}},
		"cards": {says: "cards", after: func(x *trial, turn string) {
			if kept, err := x.sessions.Card(x.t.Context(), auth.Local, turn, 0, record.CardOutcome{Surface: "inline/" + turn + "/0", Outcome: record.CardErrored}); err != nil || !kept {
				x.t.Error(err)
			}
		}},
		"as good": {},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTrial(t, c.worse)
			for n := 0; x.arms[record.ArmCanary] < 60 && n < 600 && x.standing(); n++ { // the share is of a hash: arms differ from run to run
				x.converse(n, c.after)
			}
			x.ended(c.says)
		})
	}
}

type trial struct {
	*site
	clock  *moving
	canary ids.Digest
	arms   map[string]int
}

const trialRule = `{"alpha":0.05,"margin":0.02,"slow":2,"window":3,"patience":60,"least":40,"checks":[{"name":"apology","must_not":"sorry"}]}`

func newTrial(t *testing.T, worse func(*trial, backend.Request, func(chat.Event) bool) error) *trial {
	x := &trial{clock: &moving{t: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}, arms: map[string]int{}}
	g := &backendtest.Scripted{On: func(ctx context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		if r.Hop.Kind != string(record.HopAnswer) {
			return false, nil
		}
		x.clock.add(time.Second)
		if worse != nil && halves(r) == "b/b" {
			return true, worse(x, r, emit)
		}
		return telling(ctx, r, emit)
	}}
	a, err := New(settings(t, t.TempDir()), Options{Version: "test", Log: obs.Discard(), Generator: g, Clock: x.clock})
	if err != nil {
		t.Fatal(err)
	}
	x.site = serve(t, a)
	champion, _ := x.marked("a")
	x.canary, _ = x.marked("b")
	x.promote(champion)
	if _, err := x.releases.Canary(t.Context(), auth.Local, forge.Move{Release: x.canary, Share: 0.4, Rule: trialRule, Version: 0}); err != nil {
		t.Fatal(err)
	}
	return x
}

// converse has a conversation of two turns.
func (x *trial) converse(n int, after func(*trial, string)) {
	x.t.Helper()
	ask := object{"model": "macaron", "messages": []any{user(fmt.Sprintf("L1 question %d", n))}, "user": fmt.Sprint("u", n)}
	resp := x.post(ask)
	arm, turn := resp.Header.Get("X-Macaron-Arm"), resp.Header.Get("X-Macaron-Turn")
	o := x.object(resp)
	if resp.StatusCode == http.StatusOK {
		arm, turn = at[string](o, "macaron", "arm"), at[string](o, "macaron", "turn")
		message := at[[]any](o, "choices")[0].(object)["message"]
		ask["messages"] = []any{user(fmt.Sprintf("L1 question %d", n)), message, user("L1 and then?")}
		if again := at[string](x.object(x.post(ask)), "macaron", "arm"); again != arm {
			x.t.Errorf("a conversation of %s went on in %s", arm, again)
		}
		if arm == record.ArmCanary && after != nil {
			after(x, turn)
		}
	}
	x.arms[arm]++
	x.clock.add(2 * time.Second)
	if err := x.releases.Look(x.t.Context()); err != nil {
		x.t.Fatal(err)
	}
}

func (x *trial) standing() bool {
	a, _, err := x.releases.Trial(x.t.Context(), auth.Local)
	if err != nil {
		x.t.Fatal(err)
	}
	return a.Release != ""
}

// ended checks how the trial ended and what the ledger says of it; "" is for one that stands.
func (x *trial) ended(says string) {
	x.t.Helper()
	_, v, err := x.releases.Trial(x.t.Context(), auth.Local)
	if err != nil {
		x.t.Fatal(err)
	}
	moves, err := x.releases.Ledger.Store.LedgerEntry(x.t.Context(), auth.Local, "", "alias/canary/2")
	if says == "" {
		if !x.standing() || !v.Passed || v.Back {
			x.t.Errorf("a canary that is as good: %+v", v)
		}
		return
	}
	if x.standing() || err != nil || !strings.Contains(string(moves.Body), "taken back: "+says) {
		x.t.Errorf("after %v: %+v\n%s %v", x.arms, v, moves.Body, err)
	}
	report, err := x.releases.Ledger.Store.LedgerEntry(x.t.Context(), auth.Local, "", "trial/1")
	if err != nil || !strings.Contains(string(moves.Body), string(report.Hash)) {
		x.t.Errorf("%s, %v", report.Body, err)
	}
	x.accounted(1)
	if _, arm, _ := x.releases.Current(x.t.Context(), auth.Local, "ses_1"); arm.Arm != "" {
		x.t.Errorf("%+v", arm)
	}
}
