package logsql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
)

// page reads a part of a list and how long the whole is.
func page[T any](ctx context.Context, db Reader, scan func(Row) (T, error), columns, from string, p ledger.Page, args ...any) (all []T, total int, err error) {
	count := func(r Row) (n int, err error) { return n, r.Scan(&n) }
	n, err := list(ctx, db, count, `SELECT COUNT(*) FROM `+from, args...)
	if err != nil {
		return nil, 0, err
	}
	part := fmt.Sprintf(" ORDER BY created DESC, 2 LIMIT $%d OFFSET $%d", len(args)+1, len(args)+2)
	all, err = list(ctx, db, scan, `SELECT `+columns+` FROM `+from+part, append(args, p.Limit, p.Offset)...)
	return all, n[0], err
}

// Session implements ledger.Store.
func (m Mint) Session(ctx context.Context, owner, id string) (ledger.Session, error) {
	return single(ctx, m, "session", scanMintSession, `SELECT `+mintSessionColumns+` FROM mint_sessions WHERE owner = $1 AND id = $2`, owner, id)
}

// Sessions implements ledger.Store.
func (m Mint) Sessions(ctx context.Context, owner string, p ledger.Page) ([]ledger.Session, int, error) {
	return page(ctx, m, scanMintSession, mintSessionColumns, `mint_sessions WHERE owner = $1`, p, owner)
}

// Living implements ledger.Store.
func (m Mint) Living(ctx context.Context) ([]ledger.Session, error) {
	return list(ctx, m, scanMintSession, `SELECT `+mintSessionColumns+` FROM mint_sessions WHERE ended = 0 ORDER BY created, id`)
}

// Model implements ledger.Store.
func (m Mint) Model(ctx context.Context, owner, id string) (ledger.Model, error) {
	return single(ctx, m, "training run", scanMintModel, `SELECT `+mintModelColumns+` FROM mint_models WHERE owner = $1 AND id = $2`, owner, id)
}

// Models implements ledger.Store.
func (m Mint) Models(ctx context.Context, owner string, p ledger.Page) ([]ledger.Model, int, error) {
	return page(ctx, m, scanMintModel, mintModelColumns, `mint_models WHERE owner = $1`, p, owner)
}

// ModelsOf implements ledger.Store.
func (m Mint) ModelsOf(ctx context.Context, owner, session string) ([]ledger.Model, error) {
	return list(ctx, m, scanMintModel, `SELECT `+mintModelColumns+` FROM mint_models WHERE owner = $1 AND session = $2 ORDER BY created, id`, owner, session)
}

// Op implements ledger.Store.
func (m Mint) Op(ctx context.Context, owner, id string) (ledger.Op, error) {
	return single(ctx, m, "request", scanMintOp, `SELECT `+mintOpColumns+` FROM mint_ops WHERE owner = $1 AND id = $2`, owner, id)
}

// OpsAfter implements ledger.Store.
func (m Mint) OpsAfter(ctx context.Context, owner, model string, seq int64) ([]ledger.Op, error) {
	return list(ctx, m, scanMintOp, `SELECT `+mintOpColumns+` FROM mint_ops WHERE owner = $1 AND model = $2 AND seq > $3 ORDER BY seq`, owner, model, seq)
}

// Resolved implements ledger.Store.
func (m Mint) Resolved(ctx context.Context, owner, sampler string) ([]ledger.Op, error) {
	columns := strings.NewReplacer(" body,", " NULL,", " result,", " NULL,").Replace(mintOpColumns)
	return list(ctx, m, scanMintOp, `SELECT `+columns+` FROM mint_ops WHERE owner = $1 AND sampler = $2 AND state <> 'pending'
		AND session = (SELECT session FROM mint_samplers WHERE owner = $1 AND id = $2) ORDER BY done, id`, owner, sampler)
}

// Pending implements ledger.Store.
func (m Mint) Pending(ctx context.Context) ([]ledger.Op, error) {
	return list(ctx, m, scanMintOp, `SELECT `+mintOpColumns+` FROM mint_ops WHERE state = 'pending' ORDER BY created, id`)
}

// Sampler implements ledger.Store.
func (m Mint) Sampler(ctx context.Context, owner, id string) (ledger.Sampler, error) {
	return single(ctx, m, "sampler", scanMintSampler, `SELECT `+mintSamplerColumns+` FROM mint_samplers WHERE owner = $1 AND id = $2`, owner, id)
}

// SamplersOf implements ledger.Store.
func (m Mint) SamplersOf(ctx context.Context, owner, session string) ([]ledger.Sampler, error) {
	return list(ctx, m, scanMintSampler, `SELECT `+mintSamplerColumns+` FROM mint_samplers WHERE owner = $1 AND session = $2 ORDER BY created, id`, owner, session)
}

// Idle implements ledger.Store.
func (m Mint) Idle(ctx context.Context, before time.Time) ([]ledger.Sampler, error) {
	return list(ctx, m, scanMintSampler, `SELECT `+mintSamplerColumns+` FROM mint_samplers WHERE model <> '' AND path = '' AND used < $1 ORDER BY used, id`, nano(before))
}

// Checkpoint implements ledger.Store.
func (m Mint) Checkpoint(ctx context.Context, path string) (ledger.Checkpoint, error) {
	return single(ctx, m, "checkpoint", scanMintCheckpoint, `SELECT `+mintCheckpointColumns+` FROM mint_checkpoints WHERE path = $1`, path)
}

// Checkpoints implements ledger.Store.
func (m Mint) Checkpoints(ctx context.Context, owner, run string, now time.Time, p ledger.Page) ([]ledger.Checkpoint, int, error) {
	return page(ctx, m, scanMintCheckpoint, mintCheckpointColumns, `mint_checkpoints WHERE owner = $1 AND ($2 = '' OR run = $2) AND (expires = 0 OR expires > $3)`, p, owner, run, nano(now))
}

// Last implements ledger.Store.
func (m Mint) Last(ctx context.Context, owner, run, kind string) (ledger.Checkpoint, error) {
	return single(ctx, m, "checkpoint", scanMintCheckpoint, `SELECT `+mintCheckpointColumns+` FROM mint_checkpoints WHERE owner = $1 AND run = $2 AND kind = $3 ORDER BY created DESC, path LIMIT 1`, owner, run, kind)
}

// OwnsState tells whether a checkpoint of an owner has a training state.
func (l Log) OwnsState(ctx context.Context, owner string, d ids.Digest) (bool, error) {
	found, err := list(ctx, l, scanDigest, `SELECT state FROM mint_checkpoints WHERE owner = $1 AND state = $2 LIMIT 1`, owner, string(d))
	return len(found) > 0, err
}

// Expired implements ledger.Store.
func (m Mint) Expired(ctx context.Context, at time.Time) ([]ledger.Checkpoint, error) {
	return list(ctx, m, scanMintCheckpoint, `SELECT `+mintCheckpointColumns+` FROM mint_checkpoints WHERE expires <> 0 AND expires <= $1 ORDER BY expires, path`, nano(at))
}
