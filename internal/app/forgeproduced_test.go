package app

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"macaron/internal/auth"
	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/config"
	"macaron/internal/contract/sign"
	"macaron/internal/ids"
	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/evaluation/evaluator"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/loop"
	"macaron/internal/mindforge/update"
	"macaron/internal/mint/filter"
	"macaron/internal/obs"
	"macaron/internal/transcript"
)

// The requests are of different templates, so their families are of different splits.
var fruits = []string{
	"Read the file in.txt and write the fruit that stands in it into the file out.txt without anything else.",
	"There is one fruit named in in.txt. Put its name alone in out.txt, please, and tell me which it was.",
	"Look at in.txt. Whatever grows on a tree there should be the only content of out.txt.",
	"My colleague left a note called in.txt about something to eat; copy just that word to out.txt.",
	"Could you extract what can be eaten from in.txt? Save it as out.txt and say it.",
	"Please find out which fruit somebody wrote down within in.txt and leave it, bare, in out.txt for me.",
	"out.txt shall hold the last word of in.txt. Name that word afterwards.",
	"From the sentence of in.txt keep the noun at the end, store it under out.txt, done.",
	"I need the produce mentioned by in.txt as a single word; the place for it is out.txt.",
	"Take in.txt, drop its article, and what is left over goes to out.txt.",
}

var fruit = regexp.MustCompile(`the ([a-z]+)`)

// picks does what the requests ask for, and nothing else.
func picks() *backendtest.Scripted {
	return &backendtest.Scripted{On: func(_ context.Context, r backend.Request, emit func(chat.Event) bool) (bool, error) {
		if len(r.Tools) == 0 {
			return false, nil
		}
		var shown []string
		for _, m := range r.Messages {
			if m.Role == chat.Tool {
				shown = append(shown, m.Text())
			}
		}
		word := "no"
		if len(shown) > 0 {
			if found := fruit.FindStringSubmatch(shown[0]); found != nil {
				word = found[1]
			}
		}
		switch {
		case len(shown) == 0 && strings.Contains(r.Messages[len(r.Messages)-1].Text(), "in.txt"):
			backendtest.Emit(emit, backendtest.Call(0, "", "read_file", `{"path":"in.txt"}`))
		case len(shown) == 1:
			backendtest.Emit(emit, backendtest.Call(0, "", "write_file", `{"path":"out.txt","text":"`+word+`"}`))
		default:
			backendtest.Emit(emit, chat.Event{Text: word})
		}
		return true, nil
	}}
}

// lived has runs of production made in a home: of each request one that was consented to, with one
// that was not. The last one is judged bad, the others good.
func lived(t *testing.T, cfg config.Config) (good []string) {
	t.Helper()
	s := start(t, cfg, picks())
	run := func(instruction, consent string) string {
		var r runJSON
		if code := s.api("POST", "", object{"instruction": instruction, "files": object{"in.txt": "the lemon\n"}, "consent": consent}, &r); code != 200 {
			t.Fatalf("%d %+v", code, r)
		}
		if r = s.still(r.ID); r.Status != "done" || r.Answer != "lemon" {
			t.Fatalf("%+v", r)
		}
		return r.ID
	}
	run("What is the fruit that stands in the file in.txt? Write it down in out.txt as well.", "none")
	judge := func(id string, score, want int) {
		var said struct {
			Run   string
			Score int
		}
		code := s.api("POST", "/"+id+"/feedback", object{"score": score, "reason": "as it was"}, &said)
		if code != want || code == 200 && (said.Run != id || said.Score != score) {
			t.Errorf("a judgement of %d: %d %+v", score, code, said)
		}
	}
	bad := ""
	for _, f := range fruits {
		bad = run(f, "train")
		good = append(good, bad)
		judge(bad, 1, 200)
	}
	judge(bad, -1, 200) // the last one stands
	judge(bad, 2, 400)
	judge("run_01ARZ3NDEKTSV4RRFFQ69G5FAV", 1, 404)
	var r struct{ Feedback int }
	if s.api("GET", "/"+bad, nil, &r); r.Feedback != -1 {
		t.Errorf("the run tells %+v of what was said", r)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	return good[:len(good)-1]
}

// hears is a queue, a ticket and a judge that nobody works with.
type hears struct{ evaluator.Ruling }

func (hears) Step(context.Context, int, int, string) error          { return nil }
func (hears) Enqueue(context.Context, ...jobs.Job) error            { return nil }
func (hears) Pause(context.Context, string) error                   { return nil }
func (hears) Resume(context.Context, string) error                  { return nil }
func (hears) Close() error                                          { return nil }
func (hears) Has(context.Context, discovery.Question) (bool, error) { return false, nil }
func (h hears) Decide(context.Context, mindforge.Stage, evaluator.Arm, evaluator.Arm, ...[]byte) (evaluator.Ruling, error) {
	return h.Ruling, errors.New("nobody asks here")
}

// learns keeps the lesson.
type learns struct{ loop.Lesson }

func (l *learns) Update(_ context.Context, what loop.Lesson, _ jobs.Ticket) (loop.Learned, bool, error) {
	l.Lesson = what
	return loop.Learned{Why: "it was kept"}, false, nil
}
func (*learns) Recall(context.Context, ledger.Made, func(ids.Digest) (string, error)) error {
	return nil
}

// breaks stands still after so many attempts.
type breaks struct {
	mindforge.Actor
	left int
}

func (b *breaks) Try(ctx context.Context, p mindforge.Pair, t mindforge.Task, seed uint64) (mindforge.Outcome, error) {
	if b.left--; b.left < 0 {
		return mindforge.Outcome{}, errors.New("the machinery stands still")
	}
	return b.Actor.Try(ctx, p, t, seed)
}

const producedForge = `schema = "macaron.forge/1"
name = "past"
actor = "harness"
arm = "contract"
at_once = 1
[evaluation]
dir = "DIR/judge"
contract = "DIR/evaluation.toml"
key = "DIR/judge/key.pub"
[discovery]
worlds = ["text"]
tasks = 6
high = 1.0
failing = 1.0
per_structure = 9
proposals = 0
harder = false
production = 3
[discovery.floor]
after = 100
[expansion]
minibatch = 1
[update]
rows = 1
[canary]
share = 0.0
`

// judged lays an evaluator's directory, which no process opens here.
func judged(t *testing.T, dir string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := evaluation.Research()
	if err == nil {
		var sig []byte
		sig, err = evaluation.Sign(text, private, nil)
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "evaluation.toml"), text, 0o600), os.WriteFile(filepath.Join(dir, "evaluation.toml")+sign.Suffix, sig, 0o600))
	}
	if err == nil {
		_, err = evaluator.Init(filepath.Join(dir, "judge"), []ed25519.PublicKey{public}, nil, rand.Reader)
	}
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(dir, "judge", "home"), 0o700), os.WriteFile(filepath.Join(dir, "judge", "home", "config.toml"), nil, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// forged does stages of the first generation in a home.
func forged(t *testing.T, cfg config.Config, judge string, change func(f *ForgeRun), stages ...string) (all []ledger.Entry, err error) {
	t.Helper()
	set, err := loop.Parse([]byte(strings.ReplaceAll(producedForge, "DIR", judge)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := OpenForge(t.Context(), cfg, set, "macaron forge run", Options{Version: "test", Log: obs.Discard(), Generator: picks(), Evaluations: func() ([]filter.EvalSet, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	f.Loop.Queue, f.Chooser = hears{}, nil
	f.Judge = func(context.Context, evaluator.Verifier) (loop.Judge, error) { return hears{}, nil }
	if change != nil {
		change(f)
	}
	ctx := auth.With(t.Context(), auth.Principal{Owner: f.Owner})
	for _, stage := range stages {
		raw, err := json.Marshal(map[string]any{"run": f.Run, "generation": 1, "stage": stage})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Handle(ctx, jobs.Job{Args: raw}, hears{}); err != nil {
			return nil, err
		}
	}
	return f.Ledger.All(ctx, f.Owner, f.Run)
}

// Runs of production that were consented to become tasks of a generation, which the harness attempts:
// of families that are for training, and not what somebody judged bad. What was taken is kept before
// it is looked at, so a discovery that was stopped and is done again comes to the same, whatever
// happened in the home meanwhile. The runs are trajectories of the update, with what was said of them.
func TestTasksOfAGenerationComeFromProduction(t *testing.T) {
	home, judge := t.TempDir(), t.TempDir()
	cfg := settings(t, home)
	text, err := os.ReadFile(cfg.Contract)
	if err == nil {
		err = os.WriteFile(cfg.Contract, []byte(strings.Replace(string(text), `snapshots = "end"`, "snapshots = \"end\"\noutputs = [\"out.txt\"]", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	judged(t, judge)
	good := lived(t, cfg)
	calm := cfg
	calm.Home = t.TempDir()
	if err := os.CopyFS(calm.Home, os.DirFS(home)); err != nil {
		t.Fatal(err)
	}
	want, err := forged(t, calm, judge, nil, "begin", "discovery")
	if err != nil {
		t.Fatal(err)
	}
	for left := range 2 { // in the first task, and behind it
		if _, err := forged(t, cfg, judge, func(f *ForgeRun) { f.Actor = &breaks{f.Actor, 2 + 5*left} }, "begin", "discovery"); err == nil {
			t.Fatal("nothing stood still")
		}
		lived(t, cfg)
	}
	got, err := forged(t, cfg, judge, nil, "begin", "discovery")
	if err != nil {
		t.Fatal(err)
	}
	if err := ledger.Equal(want, got); err != nil {
		t.Error(err)
	}
	l := &learns{}
	if _, err := forged(t, cfg, judge, func(f *ForgeRun) {
		looksAt(t, f, good)
		f.Arm, f.Updater = loop.Full, l
	}, "update"); err != nil {
		t.Fatal(err)
	}
	if _, err := forged(t, cfg, judge, func(f *ForgeRun) { saidOf(t, f, l.Lesson) }); err != nil {
		t.Fatal(err)
	}
}

// looksAt reads what discovery has kept.
func looksAt(t *testing.T, f *ForgeRun, good []string) {
	t.Helper()
	all, err := f.Ledger.All(t.Context(), f.Owner, f.Run)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, e := range all {
		if b, err := e.Decode(); err != nil {
			t.Fatal(err)
		} else if m, ok := b.(ledger.Made); ok && slices.Contains([]string{"tasks", "discovery", "production"}, m.What) {
			if texts[m.What], err = f.Ledger.Store.KeptText(t.Context(), f.Owner, ledger.PlainText, m.Hash); err != nil {
				t.Fatal(err)
			}
		}
	}
	var tasks []struct {
		World, Family string
		Tries, Passes int
		Source        discovery.Source
	}
	var told discovery.Told
	if err := errors.Join(json.Unmarshal([]byte(texts["tasks"]), &tasks), json.Unmarshal([]byte(texts["discovery"]), &told)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, x := range tasks {
		if x.Source.Kind != discovery.FromRun {
			continue
		}
		n++
		if f.Evaluation.Splits.Of(x.World, x.Family) != evaluation.Train || x.Passes != x.Tries || !slices.Contains(good, x.Source.Run) {
			t.Errorf("%+v", x)
		}
	}
	if n != 3 || told.Sources[discovery.FromRun] != 3 || told.Refused[discovery.Unconsented] != 1 || told.Refused[discovery.Screened] != 1 || told.Refused[discovery.Unsplit] == 0 {
		t.Errorf("%+v", told)
	}
}

// saidOf selects from a lesson, by the records of the home.
func saidOf(t *testing.T, f *ForgeRun, l loop.Lesson) {
	t.Helper()
	people := 0
	for _, x := range l.Tries {
		r, err := f.app.runs.Transcript(t.Context(), f.Owner, x.Outcome.Run)
		if err != nil {
			t.Fatal(err)
		}
		if r.Head.Purpose == "production" {
			people++
		}
	}
	u := &update.Updater{Splits: f.Evaluation.Splits}
	set := update.Defaults()
	set.Selection.Feedback = 0.25
	got, made, err := u.Learn(t.Context(), update.Generation{Settings: set, Pair: l.Pair, Tries: l.Tries, Tasks: l.Tasks, Record: func(ctx context.Context, run string) (*transcript.Run, error) {
		return f.app.runs.Transcript(ctx, f.Owner, run)
	}})
	if err != nil || made {
		t.Fatal(made, err) // served without token ids: there is nothing to train on
	}
	if said := got.Report.Feedback; people == 0 || said.With != people || said.Positive != 1 || said.Agree.Mean != 1 || said.Weight != 0.25 {
		t.Errorf("%d runs of people: %+v", people, got.Report)
	}
}
