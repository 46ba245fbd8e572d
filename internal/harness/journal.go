package harness

import (
	"context"
	"errors"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// page is how many records one query reads; longest bounds those of a run.
const (
	page    = 512
	longest = 200_000
)

// read folds a run from the log.
func (h *Harness) read(ctx context.Context, owner, session string) (*transcript.Run, error) {
	return read(ctx, h.Log, owner, session)
}

type reader interface {
	Records(ctx context.Context, owner, session string, after int64, limit int) ([]record.Record, error)
}

func read(ctx context.Context, log reader, owner, session string) (*transcript.Run, error) {
	var t transcript.Run
	for after := int64(0); ; {
		next, err := log.Records(ctx, owner, session, after, page)
		if err != nil {
			return nil, err
		}
		for _, r := range next {
			t.Apply(r)
			after = r.Seq
		}
		if len(next) < page {
			return &t, nil
		}
		if t.Records > longest {
			return nil, errs.Newf(errs.TooLarge, "the run has more than %d records", longest)
		}
	}
}

// append commits records of the run as one and applies them. It is carried out whether or
// not ctx has ended. Records that others have written meanwhile are read first: a person
// may cancel, approve or decide from elsewhere; when another process has gone on with the
// run, errLost.
func (r *run) append(ctx context.Context, bodies ...record.Body) error {
	return r.commit(ctx, nil, bodies...)
}

// commit is append with the blob of a hop.
func (r *run) commit(ctx context.Context, blob *record.Blob, bodies ...record.Body) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	ctx = context.WithoutCancel(ctx)
	for range 8 {
		records, err := r.records(blob, bodies)
		if err != nil {
			return err
		}
		b := record.Batch{Records: records, Lengths: []record.Length{{Owner: r.owner, Run: r.id, Records: r.length()}}}
		err = r.h.Log.Append(ctx, b)
		if errors.Is(err, record.ErrConflict) {
			if err = r.catchUp(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		r.took(records)
		return nil
	}
	return errLost
}

func (r *run) length() int {
	r.state.Lock()
	defer r.state.Unlock()
	return r.t.Records
}

// took applies what was committed and shows it to who watches.
func (r *run) took(records []record.Record) {
	r.state.Lock()
	for _, rec := range records {
		r.t.Apply(rec)
	}
	r.state.Unlock()
	if r.watch != nil {
		for _, rec := range records {
			r.watch(rec)
		}
	}
}

// records makes records of bodies, as the log will give them back.
func (r *run) records(blob *record.Blob, bodies []record.Body) ([]record.Record, error) {
	var out []record.Record
	for _, body := range bodies {
		text, err := record.EncodeBody(body)
		if err != nil {
			return nil, err
		}
		if body, err = record.DecodeBody(body.Kind(), text); err != nil {
			return nil, err
		}
		rec := record.Record{Body: body, Head: r.head}
		rec.ID, rec.Time = r.h.IDs.New(ids.Record), r.h.Clock.Now().Round(0).UTC()
		if _, hop := body.(record.Hop); hop {
			rec.Blob = blob
		}
		out = append(out, rec)
	}
	return out, nil
}

// catchUp reads the run again.
func (r *run) catchUp(ctx context.Context) error {
	now, err := r.h.read(ctx, r.owner, r.head.Session)
	if err != nil {
		return err
	}
	r.state.Lock()
	defer r.state.Unlock()
	r.t = now
	if latest(now) != r.stretch {
		return errLost
	}
	for _, n := range now.Notes {
		if n.Note == record.NoteCancel {
			r.cancel(errCancelled)
		}
	}
	return nil
}

// latest names the stretch of work that a run is in: the first has no name, every later
// one begins with a note that names it.
func latest(t *transcript.Run) string {
	for _, n := range slices.Backward(t.Notes) {
		if n.Note == record.NoteResumed {
			return n.Item
		}
	}
	return ""
}
