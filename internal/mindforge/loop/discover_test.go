package loop

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/ids"
	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/evaluation/evaluator"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/world/compose"
	"macaron/internal/mindforge/world/text"
	"macaron/internal/store/sqlite"
)

// quiet is a queue that does nothing by itself, and a ticket that nobody reads.
type quiet struct{}

func (quiet) Enqueue(context.Context, ...jobs.Job) error   { return nil }
func (quiet) Pause(context.Context, string) error          { return nil }
func (quiet) Resume(context.Context, string) error         { return nil }
func (quiet) Step(context.Context, int, int, string) error { return nil }
func (quiet) Close() error                                 { return nil }
func (quiet) Has(_ context.Context, q discovery.Question) (bool, error) {
	return strings.Contains(q.Family, "price"), nil
}
func (quiet) Decide(context.Context, mindforge.Stage, evaluator.Arm, evaluator.Arm, ...[]byte) (evaluator.Ruling, error) {
	return evaluator.Ruling{}, errors.New("nobody asks here")
}

// halves solves every second attempt at the tasks of half of the families, and the others never; it
// breaks down at one of that number. Several attempts at once are made of it.
type halves struct {
	left int
	made atomic.Int64
}

func (h *halves) Try(_ context.Context, _ mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	if h.made.Add(1) == int64(h.left) {
		return mindforge.Outcome{}, errors.New("the machinery stands still")
	}
	pass := len(t.Family)%2 == 0 && seed%2 == 0
	return mindforge.Outcome{Pass: pass, Run: "a run"}, nil
}

// chooses proposes the same task twice, one that cannot be read, and one of a sealed family.
type chooses struct{ n int }

func (*chooses) Name() string { return "tiny" }

func (c *chooses) Choose(_ context.Context, schema json.RawMessage, _ uint64) ([]byte, error) {
	var s struct {
		Properties struct{ Family struct{ Enum []string } }
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	c.n++
	return [][]byte{[]byte(`{"family":"` + s.Properties.Family.Enum[len(s.Properties.Family.Enum)-1] + `","level":0,"ways":[]}`), []byte("Sure! Here is one:"), []byte(`{"family":"x/y","level":0,"ways":[]}`)}[c.n%3], nil
}

// discovered runs the first two stages over real worlds in a home.
func discovered(t *testing.T, home string, a mindforge.Actor, c Chooser) (all []ledger.Entry, err error) {
	t.Helper()
	over(t, home, a, c, func(l *Loop) {
		if err = l.stages(t, "begin", "discovery"); err == nil {
			all, err = l.Ledger.All(t.Context(), owner, "found-1")
		}
	})
	return all, err
}

func (l *Loop) stages(t *testing.T, names ...string) error {
	t.Helper()
	for _, stage := range names {
		args, err := json.Marshal(place{"found-1", 1, stage, l.Generations, nil})
		must(t, err)
		if err := l.Handle(t.Context(), jobs.Job{Args: args}, quiet{}); err != nil {
			return err
		}
	}
	return nil
}

// over gives a loop over real worlds, of which nothing but the model is real.
func over(t *testing.T, home string, a mindforge.Actor, c Chooser, do func(l *Loop)) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(home, "log.db"), Durability: sqlite.Normal})
	must(t, err)
	defer func() { must(t, store.Close()) }()
	rules, err := evaluation.Parse(evaluation.Shipped())
	must(t, err)
	raw, err := os.ReadFile("../../../macaron.toml")
	must(t, err)
	k, err := contract.Parse(raw)
	must(t, err)
	set := defaults()
	set.Name, set.Discovery.Tasks, set.Discovery.Proposals, set.Batch = "found", 12, 9, 7
	led := &ledger.Ledger{Store: store, Clock: clock.System{}, Limits: ledger.DefaultLimits}
	l := &Loop{Settings: set, Owner: owner, Run: "found-1", Ledger: led, Queue: quiet{}, Actor: a, Worlds: []mindforge.World{compose.New(), text.New()}, Chooser: c, Evaluation: evaluation.Signed{Contract: rules, Digest: ids.DigestOf([]byte("e"))},
		Judge:   func(context.Context, evaluator.Verifier) (Judge, error) { return quiet{}, nil },
		Serving: Names{led, owner}, Runs: &RunsFile{Path: filepath.Join(home, "runs.jsonl")}, Start: func(context.Context) (mindforge.Pair, error) { return mindforge.Pair{Contract: k}, nil }}
	do(l)
}

// A generation's tasks are looked at by the room of discovery, which says what it refused; what a
// model proposes is one of its sources. Stopped in the middle and done again by another process,
// it comes to the same, and the model is not asked again.
func TestDiscovery(t *testing.T) {
	c := &chooses{}
	want, err := discovered(t, t.TempDir(), &halves{}, c)
	must(t, err)
	bodies := map[string]ledger.Made{}
	for _, e := range want {
		b, err := e.Decode()
		must(t, err)
		if m, ok := b.(ledger.Made); ok {
			bodies[m.What] = m
		}
	}
	if c.n != 9 || bodies["proposals"].Tell["proposals"] != "9" || bodies["discovery"].Tell["kept"] != "12" || bodies["tasks"].Tell["tasks"] != "12" {
		t.Errorf("asked %d times; %+v", c.n, bodies)
	}
	for left := 5; left < 40; left += 12 {
		home, c := t.TempDir(), &chooses{}
		if _, err := discovered(t, home, &halves{left: left}, c); err == nil {
			t.Fatal("nothing stood still")
		}
		got, err := discovered(t, home, &halves{}, c)
		must(t, err)
		must(t, ledger.Equal(want, got))
		if c.n != 9 {
			t.Errorf("the model was asked %d times", c.n)
		}
	}
}

// The account of a discovery has the refusals by reason, and a floor of diversity.
func TestDiscoveryTellsWhatItRefused(t *testing.T) {
	home := t.TempDir()
	all, err := discovered(t, home, &halves{}, &chooses{})
	must(t, err)
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(home, "log.db")})
	must(t, err)
	defer func() { must(t, store.Close()) }()
	for _, e := range all {
		b, err := e.Decode()
		must(t, err)
		m, ok := b.(ledger.Made)
		if !ok || m.What != "discovery" {
			continue
		}
		text, err := store.KeptText(t.Context(), owner, ledger.PlainText, m.Hash)
		must(t, err)
		var told discovery.Told
		must(t, json.Unmarshal([]byte(text), &told))
		if told.Kept != 12 || told.Refused[discovery.Malformed] != 3 || told.Refused[discovery.Unknown] != 3 || told.Refused[discovery.Alike]+told.Refused[discovery.Repeated] == 0 ||
			told.Sources[discovery.Chosen] == 0 || told.Diversity.Families0 == 0 || told.Splits["train"] != 12 || told.Classes[discovery.Failing] == 0 || told.Classes[discovery.Frontier] == 0 {
			t.Errorf("%s", text)
		}
		return
	}
	t.Error("nothing was told")
}
