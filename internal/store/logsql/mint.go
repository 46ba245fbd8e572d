package logsql

import (
	"context"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
)

// Mint keeps the rows of the training service: ledger.Store for both stores.
type Mint struct {
	Reader
	// Transact runs a write in a transaction; apply may be called more than once.
	Transact func(ctx context.Context, apply func(context.Context, Writer) error) error
	// Clock is SQL for nanoseconds since 1970 by the database's own clock, where processes whose
	// clocks may differ share it; empty: the caller's clock is the only one.
	Clock string
}

var _ ledger.Store = Mint{}

// Promise implements ledger.Store.
func (m Mint) Promise(ctx context.Context, op ledger.Op) (old ledger.Op, there bool, err error) {
	err = m.Transact(ctx, func(ctx context.Context, db Writer) error {
		n, err := db.Exec(ctx, addOp, opRow(op)...)
		there = n == 0
		return err
	})
	if err == nil && there {
		old, err = m.Op(ctx, op.Owner, op.ID)
	}
	return old, there, err
}

// Write implements ledger.Store.
func (m Mint) Write(ctx context.Context, c ledger.Change) error {
	return m.Transact(ctx, func(ctx context.Context, db Writer) error { return writeMint(ctx, db, c) })
}

func writeMint(ctx context.Context, db Writer, c ledger.Change) error {
	w := mintWriter{ctx: ctx, db: db}
	for _, s := range c.Sessions {
		w.put(putSession, sessionRow(s))
	}
	for _, s := range c.Models {
		w.put(putModel, modelRow(s))
	}
	for _, s := range c.Samplers {
		w.put(putSampler, samplerRow(s))
	}
	for _, s := range c.Checkpoints {
		w.put(putCheckpoint, checkpointRow(s))
	}
	for _, s := range c.Used {
		w.put(`UPDATE mint_samplers SET used = $1 WHERE owner = $2 AND id = $3`, []any{nano(s.Used), s.Owner, s.ID})
	}
	for _, o := range c.Promises {
		w.put(addOp, opRow(o))
	}
	for _, o := range c.Resolve {
		w.resolve(o)
	}
	for _, k := range c.Behind {
		w.put(`UPDATE mint_ops SET body = NULL, body_blob = '' WHERE owner = $1 AND model = $2 AND seq <= $3 AND state <> 'pending' AND (body IS NOT NULL OR body_blob <> '')`,
			[]any{k.Owner, k.Model, k.Seq})
	}
	for _, n := range c.Unsaved {
		w.put(`DELETE FROM mint_checkpoints WHERE owner = $1 AND path = $2`, []any{n.Owner, n.ID})
	}
	for _, n := range c.Closed {
		w.put(`DELETE FROM mint_samplers WHERE owner = $1 AND id = $2`, []any{n.Owner, n.ID})
	}
	for _, n := range c.Canceled {
		w.put(`UPDATE mint_ops SET category = $1 WHERE owner = $2 AND id = $3 AND state = 'pending'`, []any{ledger.Canceled, n.Owner, n.ID})
	}
	return w.err
}

// addOp keeps a promise that is not there.
const addOp = `INSERT INTO mint_ops (` + mintOpColumns + `)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT DO NOTHING`

// mintWriter writes until the first error.
type mintWriter struct {
	ctx context.Context
	db  Writer
	err error
}

func (w *mintWriter) put(query string, row []any) {
	if w.err == nil {
		w.err = run(w.ctx, w.db, query, row...)
	}
}

// resolve fixes an outcome. What is resolved stays as it is: a second outcome means that two
// processes carried out one operation, and the later one has lost.
func (w *mintWriter) resolve(o ledger.Op) {
	if w.err != nil {
		return
	}
	n, err := w.db.Exec(w.ctx, `UPDATE mint_ops SET state = $1, result = $2, result_blob = $3, failure = $4, category = $5, bytes = $6, done = $7
		WHERE owner = $8 AND id = $9 AND state = 'pending'`,
		o.State, o.Result, string(o.ResultBlob), o.Failure, o.Category, o.Bytes, nano(o.Done), o.Owner, o.ID)
	if err == nil && n != 1 {
		err = errs.Newf(errs.Internal, "operation %s has its outcome already", errs.Clip(o.ID))
	}
	w.err = err
}

// Forget implements ledger.Store.
func (m Mint) Forget(ctx context.Context, before time.Time) (n int, err error) {
	const ended = ` WHERE EXISTS (SELECT 1 FROM mint_sessions s WHERE s.owner = %.owner AND s.id = %.session AND s.ended <> 0 AND s.ended < $1)`
	err = m.Transact(ctx, func(ctx context.Context, db Writer) error {
		ops, err := db.Exec(ctx, `DELETE FROM mint_ops`+in(ended, "mint_ops"), nano(before))
		if err != nil {
			return err
		}
		samplers, err := db.Exec(ctx, `DELETE FROM mint_samplers`+in(ended, "mint_samplers"), nano(before))
		if err != nil {
			return err
		}
		remote, err := db.Exec(ctx, `DELETE FROM mint_remote`+in(ended, "mint_remote")+` AND kind IN ('session', 'request', 'sampler')`, nano(before))
		if err != nil {
			return err
		}
		single, err := db.Exec(ctx, `DELETE FROM mint_ops WHERE session = '' AND state <> 'pending' AND done < $1`, nano(before))
		if err != nil {
			return err
		}
		n = int(ops + samplers + remote + single)
		return run(ctx, db, `UPDATE mint_models SET snapshot = '', unloaded = 1`+in(ended, "mint_models")+` AND snapshot <> ''`, nano(before))
	})
	return n, err
}

// Hold implements ledger.Store. How long is what until and now say; since when, the clock.
func (m Mint) Hold(ctx context.Context, until, now time.Time, who string) (held bool, err error) {
	clock, args := "$3", []any{who, int64(until.Sub(now)), nano(now)}
	if m.Clock != "" {
		clock, args = m.Clock, args[:2]
	}
	err = m.Transact(ctx, func(ctx context.Context, db Writer) error {
		n, err := db.Exec(ctx, `INSERT INTO mint_holder (one, who, until) VALUES (1, $1, `+clock+` + $2)
			ON CONFLICT (one) DO UPDATE SET who = excluded.who, until = excluded.until WHERE mint_holder.who = excluded.who OR mint_holder.until < `+clock,
			args...)
		held = n == 1
		return err
	})
	return held, err
}

// Reachable implements ledger.Store.
func (m Mint) Reachable(ctx context.Context, each func(ids.Digest) error) error {
	return m.Query(ctx, func(r Row) error {
		var d ids.Digest
		if err := r.Scan(&d); err != nil {
			return err
		}
		return each(d)
	}, `SELECT snapshot FROM mint_models WHERE snapshot <> '' UNION SELECT body_blob FROM mint_ops WHERE body_blob <> ''
		UNION SELECT result_blob FROM mint_ops WHERE result_blob <> '' UNION SELECT adapter FROM mint_samplers WHERE adapter <> ''
		UNION SELECT state FROM mint_checkpoints WHERE state <> '' UNION SELECT adapter FROM mint_checkpoints WHERE adapter <> ''`)
}
