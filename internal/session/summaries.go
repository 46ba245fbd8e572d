package session

import (
	"context"
	"time"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// UseSummaries makes the summaries of these turns of one owner final and fills them
// in: the stored text, or fallback's (recorded with source "extract") where there is
// none. The first text that any view has used stays, also against a later one.
func (l *Log) UseSummaries(ctx context.Context, turns []*Turn, fallback func(*Turn) string) error {
	var batch record.Batch
	var waiting []*Turn
	for _, t := range turns {
		if t.SummaryFinal {
			continue
		}
		if err := l.refresh(ctx, t); err != nil {
			return err
		}
		if t.SummaryFinal {
			continue
		}
		text := t.Summary
		if t.SummarySource == "" {
			text = fallback(t)
			batch.Records = append(batch.Records, l.record(t, record.Summary{Text: text, Source: record.SummaryExtract}))
		}
		batch.Records = append(batch.Records, l.record(t, record.SummaryUsed{Text: text}))
		batch.Done = append(batch.Done, t.ref())
		waiting = append(waiting, t)
	}
	if len(waiting) == 0 {
		return nil
	}
	if err := l.store.Append(context.WithoutCancel(ctx), batch); err != nil {
		return err
	}
	for _, t := range waiting { // another view may have been first
		if err := l.refresh(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// refresh reads a turn's summary from the log.
func (l *Log) refresh(ctx context.Context, t *Turn) error {
	now, err := l.turn(ctx, t.Owner, t.ID)
	if err != nil {
		return err
	}
	t.Summary, t.SummarySource, t.SummaryFinal = now.Summary, now.SummarySource, now.SummaryFinal
	return nil
}

// turn reads one turn, without its scope.
func (l *Log) turn(ctx context.Context, owner, id string) (*Turn, error) {
	records, err := l.store.Lineage(ctx, owner, id, 1)
	if err != nil {
		return nil, err
	}
	turns := fold(records)
	if len(turns) == 0 {
		return nil, errs.New(errs.NotFound, "there is no such turn", "list your sessions to see what there is")
	}
	return &turns[0], nil
}

// Turn reads one turn of an owner.
func (l *Log) Turn(ctx context.Context, owner, id string) (Turn, error) {
	t, err := l.turn(ctx, owner, id)
	if err != nil {
		return Turn{}, err
	}
	return *t, nil
}

// PutSummary stores a turn's summary with the hop that wrote it (a zero Served has
// none), unless a view has used one already: then the text is dropped and false
// returned. Either way the turn leaves the queue.
func (l *Log) PutSummary(ctx context.Context, owner, turn string, s Served, sum record.Summary) (bool, error) {
	t, err := l.turn(ctx, owner, turn)
	if err != nil {
		return false, err
	}
	batch := record.Batch{Done: []record.Ref{t.ref()}, Lazy: true}
	if s.Hop.Hop != "" {
		batch.Records = append(batch.Records, l.hop(t, s))
	}
	if !t.SummaryFinal {
		batch.Records = append(batch.Records, l.record(t, sum))
	}
	return !t.SummaryFinal, l.store.Append(context.WithoutCancel(ctx), batch)
}

// LeaseSummaries takes up to n delivered turns whose summary is to be written. A
// lease that ends without PutSummary is given to the next caller, also after a restart.
func (l *Log) LeaseSummaries(ctx context.Context, n int, lease time.Duration) ([]record.Task, error) {
	now := l.clock.Now()
	return l.store.Lease(ctx, now, now.Add(lease), n)
}

// ReleaseSummary gives a task back, to be leased again after a while.
func (l *Log) ReleaseSummary(ctx context.Context, t record.Task, after time.Duration) error {
	return l.store.Release(context.WithoutCancel(ctx), t.Owner, t.Turn, l.clock.Now().Add(after))
}
