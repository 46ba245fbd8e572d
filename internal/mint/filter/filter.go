package filter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"macaron/internal/canonical"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/trajectory"
)

// Filter makes one dataset. Turns and runs come in the order of the log; Close writes the
// dataset, Abandon leaves nothing.
type Filter struct {
	set   Settings
	index *Index
	dir   string // of all datasets

	work     string // directory of this one until it has its name
	spool    *spool
	dropped  *output
	doubles  *doubles
	families *families

	counts, pii, changes, languages map[string]int
	source                          Source
}

// Source says what was read.
type Source struct {
	Owners   []string  `json:"owners"`
	Sessions int       `json:"sessions"`
	Turns    int       `json:"turns"`
	Runs     int       `json:"runs"`
	First    time.Time `json:"first,omitzero"` // of what became rows
	Last     time.Time `json:"last,omitzero"`
}

// New begins a dataset below a directory. index may be nil: nothing is compared then, and
// the manifest says so.
func New(set Settings, index *Index, dir string) (*Filter, error) {
	if err := set.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, disk.Error(err, dir+" cannot be made")
	}
	work, err := os.MkdirTemp(dir, ".making-")
	if err != nil {
		return nil, disk.Error(err, dir+" cannot be written")
	}
	f := &Filter{set: set, index: index, dir: dir, work: work, doubles: newDoubles(set.Double.Window), families: newFamilies(),
		counts: map[string]int{}, pii: map[string]int{}, changes: map[string]int{}, languages: map[string]int{}, source: Source{Owners: []string{}}}
	f.spool, err = openSpool(filepath.Join(work, "spool"))
	if err == nil {
		f.dropped, err = create(work, "dropped.jsonl")
	}
	if err != nil {
		return nil, errors.Join(err, f.Abandon())
	}
	return f, nil
}

// Abandon ends the filter without a dataset.
func (f *Filter) Abandon() error {
	f.spool.close()
	f.dropped.abandon()
	return disk.Error(os.RemoveAll(f.work), f.work+" cannot be removed")
}

// Owner says whose sessions come next.
func (f *Filter) Owner(name string) { f.source.Owners = append(f.source.Owners, name) }

// Session counts one that was read.
func (f *Filter) Session() { f.source.Sessions++ }

// Refuse counts a turn or run that is not trainable. Of what nobody consented to nothing
// but the count is kept.
func (f *Filter) Refuse(d Dropped) error {
	if d.Turn != "" {
		f.source.Turns++
	} else {
		f.source.Runs++
	}
	return f.drop(d)
}

func (f *Filter) drop(d Dropped) error {
	f.counts[d.Reason]++
	if d.Reason == "consent" || d.Reason == "purpose" {
		return nil
	}
	return f.dropped.json(d)
}

// Turn takes a turn.
func (f *Filter) Turn(ctx context.Context, t trajectory.TrainableTurn) error {
	if t.Exchange() == nil {
		return errs.New(errs.Internal, "a turn was not admitted", "")
	}
	f.source.Turns++
	return f.take(ctx, ofTurn(t))
}

// Run takes a run.
func (f *Filter) Run(ctx context.Context, t trajectory.Trainable) error {
	f.source.Runs++
	return f.take(ctx, ofRun(t))
}

func (f *Filter) take(ctx context.Context, c *candidate) error {
	lines, err := f.lines(c)
	reason, detail := "", ""
	if errs.CodeOf(err) == errs.Unsupported {
		reason, err = "no_tokens", nil
	}
	if err == nil && reason == "" {
		reason, detail, err = f.judge(ctx, c)
	}
	if err != nil {
		return err
	}
	if reason == "" {
		reason, detail, err = f.keep(c, lines)
	}
	if err != nil || reason == "" {
		return err
	}
	o := c.origin
	return f.drop(Dropped{o.Owner, o.Session, o.Turn, o.Run, reason, detail})
}

// lines are the rows of tokens; of rows of messages the texts are made when they are final.
func (f *Filter) lines(c *candidate) ([]served, error) {
	if f.set.Rows != "tokens" {
		return nil, nil
	}
	rows, err := c.tokens()
	if err != nil {
		return nil, err
	}
	var lines []served
	for _, r := range rows {
		l := Line{Tokens: append(append([]int32(nil), r.Prompt...), r.Completion...), Group: r.Group}
		l.Weights = make([]float32, len(l.Tokens))
		p := make([]float32, len(l.Tokens))
		for i, m := range r.Mask {
			l.Weights[len(r.Prompt)+i] = float32(m)
		}
		copy(p[len(r.Prompt):], r.Logprobs)
		var spans []Span
		for _, s := range r.Spans {
			from := len(r.Prompt) + s.From
			spans = append(spans, Span{s.Hop, from, from + s.Length})
		}
		lines = append(lines, served{l, p, spans})
	}
	return lines, nil
}

// served is a row with what only rows of tokens have: log probabilities, and which call said
// which tokens.
type served struct {
	Line
	logprobs []float32
	spans    []Span
}

// keep adds the rows of a candidate unless the dataset has them already.
func (f *Filter) keep(c *candidate, lines []served) (reason, detail string, err error) {
	for i := range lines {
		if len(lines[i].Tokens) > f.set.Length.MaxTokens {
			return "too_long", "", nil
		}
	}
	text := c.asked() + "\n" + c.learned()
	shingles := grams(wordsOf(text), f.set.Double.Shingle)
	sig := signature(shingles)
	of, how, alike, err := f.double(text, shingles, sig)
	if err != nil || how != "" {
		return how, of, err
	}
	set := f.families.row(c.origin.Root, template(c.asked()))
	for _, other := range alike {
		set = f.families.join(set, other)
	}
	if lines == nil {
		lines = []served{{Line: Line{Messages: c.messages, Train: c.train}, spans: c.origin.Spans}}
	}
	c.origin.Changes = append(c.origin.Changes, c.changes...)
	for i, l := range lines {
		p := c.origin
		p.Tokens, p.Logprobs, p.Spans = len(l.Tokens), l.logprobs, l.spans
		raw, err := canonical.Bytes(l.Line)
		if err != nil {
			return "", "", err
		}
		p.Row = ids.DigestOf(raw)
		if err := f.spool.add(entry{raw, p, text, set}, i == 0); err != nil {
			return "", "", err
		}
	}
	f.doubles.add(sig, hashWord(text))
	f.note(c)
	return "", "", nil
}

func (f *Filter) note(c *candidate) {
	f.languages[c.origin.Language]++
	for _, change := range c.origin.Changes {
		if words := strings.Fields(change); len(words) == 3 {
			change = words[0] + " " + words[1] // scrubbed, type, how often
		}
		f.changes[change]++
	}
	if t := c.origin.Time; f.source.First.IsZero() || t.Before(f.source.First) {
		f.source.First = t
	}
	if t := c.origin.Time; t.After(f.source.Last) {
		f.source.Last = t
	}
}

// double finds the row that a text repeats. alike are the sets of rows that it only
// resembles.
func (f *Filter) double(text string, shingles []uint64, sig [bands]uint64) (of, how string, alike []int32, err error) {
	if i := f.doubles.same(hashWord(text)); i >= 0 {
		e, err := f.spool.read(i)
		if err != nil || e.Text == text {
			return string(e.Prov.Row), "duplicate", nil, err
		}
	}
	for _, i := range f.doubles.near(sig) {
		e, err := f.spool.read(i)
		if err != nil {
			return "", "", nil, err
		}
		s := jaccard(shingles, grams(wordsOf(e.Text), f.set.Double.Shingle))
		if f.set.Double.Jaccard > 0 && s >= f.set.Double.Jaccard {
			return fmt.Sprintf("%s, %.3f", e.Prov.Row, s), "near_duplicate", nil, nil
		}
		if s >= related {
			alike = append(alike, e.Set)
		}
	}
	return "", "", alike, nil
}
