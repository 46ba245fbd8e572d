package report

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/canonical"
	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/stat"
	"macaron/internal/store/sqlite"
)

var ctx = context.Background()

// evil is what a proposer, a task or an operator could be called.
const evil = "</style><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u202e"

type book struct {
	*ledger.Ledger
	t *testing.T
}

func newBook(t *testing.T) *book {
	t.Helper()
	s, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(t.TempDir(), "log.db"), Durability: sqlite.Normal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &book{Ledger: &ledger.Ledger{Store: s, Clock: clock.System{}, Limits: ledger.DefaultLimits}, t: t}
}

const run = "night's run"

func (b *book) add(key string, x ledger.Body, texts ...ledger.Text) {
	b.t.Helper()
	if _, err := b.Write(ctx, "o", texts, nil, ledger.Draft{Run: run, Key: key, Body: x}); err != nil {
		b.t.Fatal(err)
	}
}

// keep adds an entry that names a kept text.
func (b *book) keep(key, what, name string, v any, tell map[string]string, c mindforge.Cost) {
	b.t.Helper()
	raw, err := canonical.Bytes(v)
	if err != nil {
		b.t.Fatal(err)
	}
	text := ledger.Plain(string(raw))
	b.add(key, ledger.Made{What: what, Name: name, Hash: text.Name, Tell: tell, Cost: c}, text)
}

func (b *book) candidate(key string, c mindforge.Candidate) ids.Digest {
	b.t.Helper()
	c.Contract = ids.DigestOf([]byte(string(c.Operator)))
	h, err := ledger.Identity(c)
	if err != nil {
		b.t.Fatal(err)
	}
	b.add(key, ledger.Candidate{Hash: h, Candidate: c})
	return h
}

// batch is attempts of which every other one passes.
func batch(n int, class mindforge.Failure) (all []cell) {
	for i := range n {
		c := cell{Key: expansion.Key{Task: fmt.Sprintf("compose/f%d/0/%d", i%4, i)}, Outcome: mindforge.Outcome{Failure: class}}
		if i%2 == 0 {
			c.Outcome = mindforge.Outcome{Pass: true, Points: 1}
		}
		all = append(all, c)
	}
	return all
}

// written is a run of one generation whose candidate is promoted, with another one rejected.
func written(t *testing.T) *book {
	b := newBook(t)
	b.add("run", ledger.Run{Seed: 7, Actor: "scripted", Command: "macaron forge run " + evil})
	seed := b.candidate("seed", mindforge.Candidate{Operator: mindforge.Seed})
	b.add("g001/begin", ledger.Step{Generation: 1, Name: "generation", State: "begun", Result: seed})
	harder := append(batch(12, mindforge.Format), cell{Key: expansion.Key{Task: "compose/f0/0/1+lift.1"}, Outcome: mindforge.Outcome{Failure: mindforge.Cheat}})
	b.keep("g001/discovery/0000", "outcomes", "discovery", harder, nil, mindforge.Cost{Attempts: 13, CPUMS: 1500})
	b.keep("g001/told", "discovery", "", discovery.Told{Kept: 6, Classes: map[discovery.Class]int{discovery.Frontier: 4, discovery.Failing: 2, evil: 0}, Refused: map[discovery.Reason]int{"malformed": 2, "alike": 1, "too_easy": 3},
		Diversity: discovery.Diversity{Tasks: 6, Families: discovery.Spread{Groups: 4, Effective: 3.5, Share: 0.4}, BelowIt: true, Families0: 6, Share0: 0.25}}, nil, mindforge.Cost{})
	b.keep("g001/tasks", "tasks", "generation 1", []found{{"a", "w", "f1", 0}, {"b", "w", "f2", 1}, {"c", "w", "f3", 0}}, nil, mindforge.Cost{})
	good := b.candidate("g001/step/00000/candidate", mindforge.Candidate{Operator: mindforge.Mutate, Parents: []ids.Digest{seed}, Generation: 1, Edits: []mindforge.Edit{{Kind: "tool.add", Component: evil}}, Proposer: evil})
	b.keep("g001/step/00000", "step", "validation", expansion.Step{Name: good, Candidate: mindforge.Candidate{Prediction: mindforge.Prediction{Fixes: []string{"f1"}, Gain: 0.5}}, Up: []string{"f1"}, Gain: 0.25}, nil, mindforge.Cost{})
	b.keep("g001/step/00001", "step", evil, expansion.Step{N: 1, Stopped: evil}, nil, mindforge.Cost{})
	b.keep("g001/coverage-adaptive/0000", "outcomes", "coverage-"+evil, batch(5, mindforge.Capability), nil, mindforge.Cost{Attempts: 5})
	b.keep("g001/harvest/adaptive", "harvest", evil, []expansion.Tried{{Round: 1, Item: "a", Outcome: mindforge.Outcome{Pass: true}}, {Round: 1, Item: "c"}, {Round: 2, Item: "c"}}, nil, mindforge.Cost{})
	b.add("g001/expansion", ledger.Made{What: "search", Hash: seed, Tell: map[string]string{"chosen": "0.7000", "replayed": "0.6000", "random chosen": "0.5", "random replayed": "0.4"}})
	b.add("g001/gate/a/sealed", ledger.Decision{Decision: mindforge.Decision{Candidate: good, Against: seed, Stage: mindforge.Sealed, Pass: true, Why: "passed", Spent: 0.03, Count: 1, Cost: mindforge.Cost{Attempts: 400}}, Envelope: "{}"})
	b.add("g001/gate/b/lint", ledger.Decision{Decision: mindforge.Decision{Candidate: seed, Stage: mindforge.Lint, Why: evil}})
	b.add("g001/refused", ledger.Refused{What: "verifier edited", Why: evil, By: evil, Candidate: good})
	b.add("g001/outcomes", ledger.Outcomes{Candidate: good, Stage: mindforge.Validation, Suite: evil, Items: 20, Passes: 12, Points: 0.6, Families: map[string]ledger.Tally{"a": {Tries: 10, Passes: 7}, "b": {Tries: 10, Passes: 5}}, Cost: mindforge.Cost{Attempts: 20}})
	b.add("g001/budget", ledger.Budget{What: "attempts", Spent: 120, Limit: 500})
	b.add("g001/close", ledger.Step{Generation: 1, Name: "generation", State: "ended", Result: good, Note: "promoted"})
	b.add("end", ledger.Step{Generation: 1, Name: "run", State: "ended", Result: good, Note: evil})
	if _, err := b.Write(ctx, "o", nil, []ledger.Alias{{Name: ledger.Champion, Version: 1, Release: ids.DigestOf([]byte("r")), Reason: evil, By: "person"}}); err != nil {
		t.Fatal(err)
	}
	return b
}

// The numbers of a report are those of the entries.
func TestReportIsTheLedger(t *testing.T) {
	r, err := Of(ctx, written(t).Ledger, "o", run)
	if err != nil {
		t.Fatal(err)
	}
	d, g, c, k := r.Discoveries[0], r.Generations[0], r.Coverage[0], r.Searches[0]
	for what, ok := range map[string]bool{
		"novelty":     d.Considered == 12 && d.Valid.K == 10 && d.Novel.K == 9 && d.Duplicates.K == 1 && d.Frontier == stat.NewRate(4, 9),
		"tasks":       r.Tasks[0] == WorkedOn{1, 3, 3, 2},
		"generations": len(r.Generations) == 1 && g.Promoted && g.Candidates[mindforge.Mutate] == 1 && r.Ended == evil,
		"fresh tasks": r.measured(g.Champion, "compose").Rate.Mean == 0.5 && r.measured(g.Champion, everywhere).Rate.N == 12 && r.measured(g.Champion, "compose").Rate.Clusters == 4,
		"rates":       r.measured(g.Standing, evil).Rate.Mean == 0.6 && r.measured(g.Standing, evil).Rate.Low < 0.4,
		"a chart":     r.Chart().Lines[0].Points[0].Y == 0.5,
		"coverage":    c.Items == 2 && c.Families == 2 && c.Arms[0].Practice == 2 && c.Chart().Lines[0].Points[1].Y == 0.5 && c.Arms[0].End().Attempts == 3,
		"a search":    k.Steps == 2 && k.Stopped[evil] == 1 && k.Chosen == 0.7 && k.Random.Replayed == 0.4 && k.Predicted.Scored == 1 && k.Predicted.Fixes.Precision.K == 1,
		"rejections":  len(r.Rejected) == 2 && r.Rejected[0].At == "lint" && r.Rejected[1].Edits[0] == "tool.add "+evil,
		"failures":    len(r.Failures) == 3 && r.Failures[0].Place == mindforge.InHarness && r.Failures[0].N == 6 && r.Audited == stat.NewRate(1, 22),
		"costs":       len(r.Costs) == 4 && r.Cost.Attempts == 438 && r.Cost.CPUMS == 1500,
		"aliases":     len(r.Aliases) == 1 && r.Aliases[0].Run == "",
		"decisions":   len(r.Decisions) == 2 && r.Decisions[0].Signed && !r.Decisions[1].Signed,
		"a command":   r.Commands[0].Line == `macaron forge report 'night'\''s run'`,
	} {
		if !ok {
			t.Errorf("%s: %+v", what, r)
		}
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// What strangers wrote stays text: no element and no attribute of the page is theirs.
func TestHostileNamesStayText(t *testing.T) {
	r, err := Of(ctx, written(t).Ledger, "o", run)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := r.HTML()
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	dec := xml.NewDecoder(strings.NewReader(string(raw)))
	dec.Strict, dec.AutoClose, dec.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			if x.Name.Local == "script" || x.Name.Local == "img" {
				t.Errorf("the page has the element %s", x.Name.Local)
			}
			for _, a := range x.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src" {
					t.Errorf("%s has the attribute %s", x.Name.Local, a.Name.Local)
				}
			}
		case xml.CharData:
			said += strings.Count(string(x), "alert(1)")
		}
	}
	if said < 8 || strings.Contains(string(raw), "\u202e") {
		t.Errorf("the names are told %d times, or turn the line around", said)
	}
}

// Nothing is told of a ledger that was changed, of a run that there is not, or of an account
// that says what a report has no place for.
func TestWhatIsNoReport(t *testing.T) {
	b := written(t)
	if _, err := Of(ctx, b.Ledger, "o", "another"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("another run: %v", err)
	}
	changed := *b.Ledger
	changed.Store = forger{b.Store}
	if _, err := Of(ctx, &changed, "o", run); errs.CodeOf(err) != errs.ChecksumMismatch {
		t.Errorf("a changed ledger: %v", err)
	}
	b.add("g001/torn", ledger.Made{What: "tasks", Hash: ids.DigestOf([]byte("nobody has kept it"))})
	if _, err := Of(ctx, b.Ledger, "o", run); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("a text that is gone: %v", err)
	}
}

// forger changes what was measured.
type forger struct{ ledger.Store }

func (f forger) LedgerEntries(ctx context.Context, owner, run string, after int64, limit int) ([]ledger.Entry, error) {
	all, err := f.Store.LedgerEntries(ctx, owner, run, after, limit)
	for i, e := range all {
		if e.Kind == ledger.KindOutcomes {
			all[i].Body = []byte(strings.Replace(string(e.Body), `"passes":12`, `"passes":18`, 1))
		}
	}
	return all, err
}

// Numbers that cannot be drawn are left out, and one point has an axis.
func TestChartOfLittle(t *testing.T) {
	nan := stat.Estimate{}.Mean / 1
	nan /= nan
	svg := Chart{Title: "t", Lines: []Line{{Name: "a", Points: []Point{{X: 3, Y: 0.5, Low: 0.2, High: 7}, {X: nan, Y: 1}}}, {Name: "b", Points: []Point{{X: 1, Y: nan}}}}}.SVG()
	if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") || strings.Contains(svg, ">b<") || !strings.Contains(svg, ">3<") {
		t.Error(svg)
	}
	if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
		t.Error(err)
	}
}
