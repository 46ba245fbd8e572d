package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// The bounds of one answer of List and Load, and of a feedback text, in bytes.
const (
	MaxList    = 200
	MaxRecords = 100_000
	MaxText    = 64 << 10
)

// page is how many records or turns one query reads.
const page = 512

// Sweep interrupts every turn that a process which has ended left open, says how many,
// and ends its leases. Call it once, before the first request.
func (l *Log) Sweep(ctx context.Context) (int, error) {
	swept, err := l.sweep(ctx, l.store.Open)
	return swept, errors.Join(err, l.store.ReleaseAll(ctx))
}

// SweepLost is Sweep while requests are served: it takes over from other processes that
// ended since. With a store for one process there are none.
func (l *Log) SweepLost(ctx context.Context) (int, error) { return l.sweep(ctx, l.store.Lost) }

func (l *Log) sweep(ctx context.Context, open func(context.Context, int) ([]record.TurnState, error)) (int, error) {
	swept := 0
	for {
		list, err := open(ctx, page)
		if err != nil || len(list) == 0 {
			return swept, err
		}
		for _, s := range list {
			t, err := l.turn(ctx, s.Owner, s.Turn)
			if err != nil {
				return swept, err
			}
			t.Scope = s.Scope
			err = l.Close(ctx, t, record.StatusInterrupted, "the process ended")
			switch {
			case errors.Is(err, record.ErrConflict): // another process was faster
			case err != nil:
				return swept, err
			default:
				swept++
			}
		}
	}
}

// Feedback records a person's judgement of a turn.
func (l *Log) Feedback(ctx context.Context, owner, turn string, f record.Feedback) error {
	if f.Score < -1 || f.Score > 1 {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("the score is %d", f.Score), "use 1, -1 or 0").In("score")
	}
	if len(f.Reason) > MaxText || len(f.Correction) > MaxText {
		return errs.New(errs.TooLarge, fmt.Sprintf("the feedback is longer than %d bytes", MaxText), "say it shorter").In("reason")
	}
	t, err := l.turn(ctx, owner, turn)
	if err != nil {
		return err
	}
	return l.store.Append(ctx, record.Batch{Records: []record.Record{l.record(t, f)}})
}

// List gives an owner's sessions by last change, newest first, those changed
// before the given time (zero: all), at most limit (0: MaxList).
func (l *Log) List(ctx context.Context, owner string, before time.Time, limit int) ([]record.SessionState, error) {
	if limit <= 0 || limit > MaxList {
		limit = MaxList
	}
	return l.store.Sessions(ctx, owner, before, limit)
}

// Load gives a session and all its turns in the order they were opened, siblings
// and interrupted ones too. What a forked session shares with others is not among
// them: History of a turn has it.
func (l *Log) Load(ctx context.Context, owner, session string) (record.SessionState, []Turn, error) {
	state, all, err := l.all(ctx, owner, session)
	return state, fold(all), err
}

// all gives a session and its records.
func (l *Log) all(ctx context.Context, owner, session string) (record.SessionState, []record.Record, error) {
	state, err := l.store.Session(ctx, owner, session)
	if err != nil {
		return state, nil, err
	}
	var all []record.Record
	for {
		var after int64
		if len(all) > 0 {
			after = all[len(all)-1].Seq
		}
		next, err := l.store.Records(ctx, owner, session, after, page)
		if err != nil {
			return state, nil, err
		}
		all = append(all, next...)
		if len(next) < page {
			return state, all, nil
		}
		if len(all) > MaxRecords {
			return state, nil, errs.New(errs.TooLarge, fmt.Sprintf("the session has more than %d records", MaxRecords), "read its turns one by one")
		}
	}
}
