package exam

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"macaron/internal/bench/ui4a"
	"macaron/internal/bench/ui4a/stage"
	"macaron/internal/browser"
	"macaron/internal/disk"
	"macaron/internal/errs"
)

// Options are what a run is made of.
type Options struct {
	Cases  []*ui4a.Case
	Views  []ui4a.View // both of the bench when empty
	Source Source
	Tabs   int              // pages of the browser at once
	On     *browser.Browser // nil: one of its own
	Out    string           // directory of evidence and results; "" keeps nothing
	Judges Judges           // may be nil
	Twins  bool             // the cases' pages stand for cards
	Began  time.Time
	Told   func(CaseResult) // called with each result; may be nil
}

// Judges answer questions about a card. They see evidence, never who wrote it.
type Judges interface {
	Name() string
	Judge(ctx context.Context, c *ui4a.Case, e ui4a.Evidence, picture []byte) (ui4a.Verdicts, error)
}

// rounds is how often a card is sent back at most.
const rounds = 2

// Do runs the cases.
func Do(ctx context.Context, o Options) (*Run, error) {
	if len(o.Views) == 0 {
		o.Views = ui4a.Views
	}
	x := &runner{Options: o, results: make([]CaseResult, len(o.Cases))}
	err := onStage(ctx, o.On, o.Tabs, len(o.Cases), func(ctx context.Context, t *stage.Tab, i int, last bool) error {
		r, err := x.one(ctx, t, x.Cases[i])
		if err != nil && !last {
			return err
		}
		if err != nil {
			r.Failure = errs.Clip(err.Error())
		}
		x.results[i] = r
		if x.Told != nil {
			x.mu.Lock()
			x.Told(r)
			x.mu.Unlock()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r := &Run{Format: Format, Version: ui4a.Version, Source: o.Source.Name(), Began: o.Began, Cases: x.results}
	if o.Judges != nil {
		r.Judge = o.Judges.Name()
	}
	r.sum()
	return r, nil
}

// runner works the cases off.
type runner struct {
	Options
	results []CaseResult

	mu sync.Mutex // one request to a model, one line to a person at a time
}

// one gets an answer to a case, has it mended, shows it and scores it.
func (x *runner) one(ctx context.Context, t *stage.Tab, c *ui4a.Case) (CaseResult, error) {
	r := CaseResult{ID: c.ID, Family: c.Family, Language: c.Language, Request: c.Request, Wanted: c.Wants()}
	a, err := x.answer(ctx, t, c)
	r.Answer, r.Given = a, strings.TrimSpace(a.Card) != ""
	if err != nil {
		return r, err
	}
	if x.Twins {
		r.Given = c.Twin != ""
	}
	switch {
	case !c.Wants() && r.Given:
		r.Layers = c.Unwanted()
	case !r.Given:
		r.Layers = c.Text(a.Text)
	default:
		return r, x.views(ctx, t, c, &r)
	}
	r.whole()
	return r, nil
}

// whole makes the score of a case without a card on screen.
func (r *CaseResult) whole() {
	r.Score = ui4a.Composite(r.Layers, ui4a.Judged)
	r.Rules, r.Mobile = r.Score, r.Score
}

// answer asks the source, and sends the card back while something is broken in it.
func (x *runner) answer(ctx context.Context, t *stage.Tab, c *ui4a.Case) (Answer, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a, err := x.Source.Answer(ctx, c)
	mender, ok := x.Source.(Repairer)
	if err != nil || !ok || !c.Wants() {
		return a, err
	}
	for a.Rounds < rounds && a.Card != "" {
		problems, err := t.Problems(c, a.Card)
		if err != nil || len(problems) == 0 {
			return a, err
		}
		round := a.Rounds + 1
		if a, err = mender.Repair(ctx, c, a, problems); err != nil {
			return a, err
		}
		a.Rounds = round
	}
	return a, nil
}

func (x *runner) views(ctx context.Context, t *stage.Tab, c *ui4a.Case, r *CaseResult) error {
	var first ui4a.Evidence
	for i, v := range x.Views {
		var e ui4a.Evidence
		var err error
		album := &album{dir: x.Out}
		if x.Twins {
			e, err = t.Twin(ctx, c, v, album)
		} else {
			e, err = t.Card(ctx, c, r.Answer.Card, v, album)
		}
		if err != nil {
			return err
		}
		if i == 0 {
			first = e
		} else {
			e = e.Like(first)
		}
		var verdicts ui4a.Verdicts
		if x.Judges != nil && e.Mounted {
			if verdicts, err = x.Judges.Judge(ctx, c, e, album.first); err != nil {
				return err
			}
		}
		out := viewResult(c, e, verdicts)
		if out.Evidence, err = album.evidence(c, e); err != nil {
			return err
		}
		r.Views = append(r.Views, out)
	}
	r.mean()
	return nil
}

// viewResult scores a card on one screen.
func viewResult(c *ui4a.Case, e ui4a.Evidence, v ui4a.Verdicts) ViewResult {
	out := ViewResult{View: e.View, PaintMS: e.PaintMS, TaskMS: e.TaskMS, Shots: e.Shots, Axe: len(e.Axe), Verdicts: v, Layers: c.Layers(e, v)}
	out.Score, out.Rules = ui4a.Composite(out.Layers, ui4a.Judged), ui4a.Composite(out.Layers, ui4a.ByRules)
	return out
}

// mean makes the scores of a case of those of its screens.
func (r *CaseResult) mean() {
	r.Score, r.Rules, r.Mobile = 0, 0, r.Views[0].Score
	for _, v := range r.Views {
		r.Score, r.Rules = r.Score+v.Score/float64(len(r.Views)), r.Rules+v.Rules/float64(len(r.Views))
	}
}

// album writes pictures and evidence below a directory.
type album struct {
	dir   string // "" writes nothing
	first []byte // the first picture
}

// Keep writes a picture.
func (a *album) Keep(name string, webp []byte) (string, error) {
	if a.first == nil {
		a.first = slices.Clone(webp)
	}
	return a.write(name, webp)
}

func (a *album) write(name string, data []byte) (string, error) {
	if a.dir == "" {
		return "", nil
	}
	path := filepath.Join(a.dir, "cases", filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		return "", disk.Error(err, path+" cannot be written")
	}
	return "cases/" + name, nil
}

func (a *album) evidence(c *ui4a.Case, e ui4a.Evidence) (string, error) {
	b, err := json.Marshal(e.Without(c.Canaries))
	if err != nil {
		return "", err
	}
	return a.write(c.ID+"/"+e.View.Name()+".json", b)
}

// Save writes a run's result and report.
func (r *Run) Save(dir string) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "run.json"), append(b, '\n'), 0o644)
	}
	if err != nil {
		return disk.Error(err, dir+" cannot be written")
	}
	return nil
}

// Load reads a run.
func Load(dir string) (*Run, error) {
	b, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return nil, errs.Wrap(errs.NotFound, err, dir+" has no run.json", "name a directory that macaron bench ui4a --out has written")
	}
	r := &Run{}
	if err := json.Unmarshal(b, r); err != nil || r.Format != Format {
		return nil, errs.Wrap(errs.FormatInvalid, errors.Join(err, errors.New(r.Format)), dir+"/run.json is no run of the bench", "")
	}
	return r, nil
}
