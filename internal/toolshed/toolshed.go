// Package toolshed keeps tools that agents have written. Saving keeps one for its owner;
// promotion has it judged elsewhere: in fresh sandboxes, by cases that its author has not
// seen, which must also tell the tool from copies with a fault. A promoted tool whose calls
// begin to fail is demoted by itself. Everything is a record of the log; docs/TOOLSHED.md.
package toolshed

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"macaron/internal/canonical"
	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/repl"
	"macaron/internal/tool"
)

// Bounds of a tool and of a shed.
const (
	maxSource   = 64 << 10
	maxExamples = 64
	maxTools    = 1000
	maxRecords  = 100_000
)

// Log is the part of the record log that the shed needs.
type Log interface {
	Append(ctx context.Context, b record.Batch) error
	Records(ctx context.Context, owner, session string, after int64, limit int) ([]record.Record, error)
	Shelf(ctx context.Context, owner string, tool ids.Digest) (record.Shelf, error)
	Shed(ctx context.Context, owner string, limit int) ([]record.Shelf, error)
}

// Sandbox runs Python that nobody trusts.
type Sandbox interface {
	Session(ctx context.Context, o repl.SessionOptions) (*repl.Session, error)
}

// Shed keeps and judges tools.
type Shed struct {
	Log     Log
	Sandbox Sandbox
	Cases   Cases
	IDs     *ids.Source
	Clock   clock.Clock
	WallMS  int // that a tool may take for all cases, or for one call; 0: 10 s
}

func (s *Shed) wall() int {
	if s.WallMS > 0 {
		return s.WallMS
	}
	return 10_000
}

// Entry is a saved tool and how it stands.
type Entry struct {
	Tool       ids.Digest          `json:"tool"`
	Status     Status              `json:"status"`
	Saved      record.ToolSaved    `json:"saved"`
	Judgements []record.ToolJudged `json:"judgements,omitempty"`
	Demotions  []string            `json:"demotions,omitempty"`
	Uses       int                 `json:"uses"`
	Successes  int                 `json:"successes"`
	Wealth     float64             `json:"wealth"` // against the claim that it works, since its promotion

	session string
	cases   ids.Digest // of the promotion
}

// Status of a tool.
type Status string

// The statuses.
const (
	Saved    Status = "saved"
	Promoted Status = "promoted"
	Demoted  Status = "demoted"
)

var function = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,63}$`)

// Save keeps a tool for its owner. Its signature is read from its source, and its examples
// must come out as they say. What was saved before is the same tool.
func (s *Shed) Save(ctx context.Context, owner string, t record.ToolSaved) (Entry, error) {
	if err := s.complete(ctx, &t); err != nil {
		return Entry{}, err
	}
	named := t
	named.Trajectory = ""
	digest, err := canonical.Hash(named)
	if err != nil {
		return Entry{}, err
	}
	if e, err := s.Show(ctx, owner, digest); err == nil {
		return e, nil
	}
	all, err := s.Log.Shed(ctx, owner, maxTools)
	if err != nil {
		return Entry{}, err
	}
	if len(all) == maxTools {
		return Entry{}, errs.New(errs.TooLarge, fmt.Sprintf("the shed has %d tools, the most that it takes", maxTools), "macaron data delete removes one with its session")
	}
	session := s.IDs.New(ids.Session)
	head := s.head(owner, session, digest)
	open := head
	open.Run = "" // the session is opened before the tool is known
	open.ID = s.IDs.New(ids.Record)
	err = s.Log.Append(ctx, record.Batch{Records: []record.Record{
		{Head: open, Body: record.SessionOpened{Root: session, Title: t.Name}},
		{Head: head, Body: t},
	}})
	if err != nil {
		if e, again := s.Show(ctx, owner, digest); again == nil {
			return e, nil // somebody else has saved it meanwhile
		}
		return Entry{}, err
	}
	return s.Show(ctx, owner, digest)
}

func (s *Shed) head(owner, session string, tool ids.Digest) record.Head {
	return record.Head{ID: s.IDs.New(ids.Record), Owner: owner, Session: session, Run: string(tool), Time: s.Clock.Now(), Purpose: record.Production, Consent: record.ConsentNone}
}

// complete checks a tool, reads its signature and tries its examples.
func (s *Shed) complete(ctx context.Context, t *record.ToolSaved) error {
	if !function.MatchString(t.Name) {
		return errs.New(errs.InvalidRequest, errs.Clip(t.Name)+" is no name for a tool", "use small letters, digits and _").In("name")
	}
	if len(t.Source) == 0 || len(t.Source) > maxSource || len(t.Examples) > maxExamples {
		return errs.New(errs.TooLarge, fmt.Sprintf("a tool has a source of at most %d bytes and at most %d examples", maxSource, maxExamples), "").In("source")
	}
	if t.Effect == "" {
		t.Effect = string(tool.Pure)
	}
	if e := tool.Effect(t.Effect); !slices.Contains(tool.Effects(), e) || e == tool.Pure && len(t.Uses) > 0 {
		return errs.New(errs.InvalidRequest, "a tool's effect is pure, read, write or irreversible, and a pure one uses no tools", "").In("effect")
	}
	if err := s.sign(ctx, t); err != nil {
		return err
	}
	var cases []Case
	for _, x := range t.Examples {
		cases = append(cases, Case{Args: x.Args, Want: x.Value})
	}
	if len(cases) == 0 || len(t.Uses) > 0 {
		return nil // what its tools would answer is not known here
	}
	ran, err := s.try(ctx, trial{tool: *t, cases: cases})
	if err != nil {
		return err
	}
	if i := slices.Index(ran.passed, false); i >= 0 {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("example %d does not come out as it says: %s", i+1, ran.results[i]), "correct the source or the example").In("examples")
	}
	return nil
}

// List gives an owner's tools, without their sources.
func (s *Shed) List(ctx context.Context, owner string) ([]Entry, error) {
	shelves, err := s.Log.Shed(ctx, owner, maxTools)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, shelf := range shelves {
		e, err := s.entry(ctx, shelf)
		if err != nil {
			return nil, err
		}
		e.Saved.Source = ""
		out = append(out, e)
	}
	return out, nil
}

// Show gives one of an owner's tools.
func (s *Shed) Show(ctx context.Context, owner string, digest ids.Digest) (Entry, error) {
	shelf, err := s.Log.Shelf(ctx, owner, digest)
	if err != nil {
		return Entry{}, err
	}
	return s.entry(ctx, shelf)
}

func (s *Shed) entry(ctx context.Context, shelf record.Shelf) (Entry, error) {
	all, err := s.Log.Records(ctx, shelf.Owner, shelf.Session, 0, maxRecords)
	if err != nil {
		return Entry{}, err
	}
	return fold(shelf, all), nil
}

// Demote takes a promotion back, for a person's reason.
func (s *Shed) Demote(ctx context.Context, owner string, digest ids.Digest, reason string) (Entry, error) {
	e, err := s.Show(ctx, owner, digest)
	if err != nil {
		return e, err
	}
	if e.Status != Promoted {
		return e, errs.New(errs.InvalidRequest, e.Saved.Name+" is "+string(e.Status)+", not promoted", "")
	}
	return s.add(ctx, owner, e, record.ToolDemoted{Reason: reason})
}

// Used counts a call of a promoted tool, and demotes the tool when its failures are more
// than a working tool would have.
func (s *Shed) Used(ctx context.Context, owner string, digest ids.Digest, run string, ok bool) (Entry, error) {
	e, err := s.Show(ctx, owner, digest)
	if err != nil {
		return e, err
	}
	bodies := []record.Body{record.ToolUsed{OK: ok, Run: run}}
	if w := wealth(e.Wealth, ok); e.Status == Promoted && w >= ruin {
		bodies = append(bodies, record.ToolDemoted{Reason: "its calls fail more often than those of a working tool", Self: true, Wealth: w})
	}
	return s.add(ctx, owner, e, bodies...)
}

func (s *Shed) add(ctx context.Context, owner string, e Entry, bodies ...record.Body) (Entry, error) {
	var b record.Batch
	for _, body := range bodies {
		b.Records = append(b.Records, record.Record{Head: s.head(owner, e.session, e.Tool), Body: body})
	}
	if err := s.Log.Append(ctx, b); err != nil {
		return e, err
	}
	return s.Show(ctx, owner, e.Tool)
}
