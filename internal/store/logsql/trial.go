package logsql

import (
	"context"

	"macaron/internal/record"
)

// try notes that a turn is one of a trial's.
func try(ctx context.Context, db Writer, r record.Record, p *record.Pair) error {
	if p == nil || p.Trial == 0 {
		return nil
	}
	return one(ctx, db, `INSERT INTO forge_trials (owner, trial, turn, session, conversation, arm)
		SELECT owner, $1, $2, id, root, $3 FROM sessions WHERE owner = $4 AND id = $5`, p.Trial, r.Turn, p.Arm, r.Owner, r.Session)
}

// Tried lists the turns of an owner's trial behind a turn, in the order in which they were begun.
func (l Log) Tried(ctx context.Context, owner string, trial int64, after string) ([]record.Tried, error) {
	return list(ctx, l, func(r Row) (t record.Tried, err error) {
		return t, r.Scan(&t.Turn, &t.Conversation, &t.Arm)
	}, `SELECT turn, conversation, arm FROM forge_trials WHERE owner = $1 AND trial = $2 AND turn > $3 ORDER BY turn`, owner, trial, after)
}

// TrialRecords gives the records behind a number that tell what the turns of an owner's trial came
// to, in order, at most limit.
func (l Log) TrialRecords(ctx context.Context, owner string, trial, after int64, limit int) ([]record.Record, error) {
	return list(ctx, l, scanRecord, `SELECT `+recordColumns+`, NULL FROM records r WHERE r.owner = $1 AND r.seq > $2 AND r.turn IN (SELECT turn FROM forge_trials WHERE owner = $1 AND trial = $3)
		AND r.kind IN ('turn.opened', 'hop', 'turn.closed', 'feedback', 'card.outcome') ORDER BY r.seq LIMIT $4`, owner, after, trial, limit)
}
