package logsql

import (
	"context"

	"macaron/internal/mint/ledger"
)

const mintRemoteColumns = `owner, kind, id, backend, there, session, state, about, created`

var putRemote = put("mint_remote", mintRemoteColumns, "owner, kind, id")

// PutRemotes implements ledger.Store.
func (m Mint) PutRemotes(ctx context.Context, all []ledger.Remote) error {
	return m.Transact(ctx, func(ctx context.Context, db Writer) error {
		w := mintWriter{ctx: ctx, db: db}
		for _, r := range all {
			w.put(putRemote, []any{r.Owner, r.Kind, r.ID, r.Backend, r.There, r.Session, r.State, r.About, nano(r.Created)})
		}
		return w.err
	})
}

// Remote implements ledger.Store.
func (m Mint) Remote(ctx context.Context, owner, kind, id string) (ledger.Remote, error) {
	return single(ctx, m, kind, scanMintRemote, `SELECT `+mintRemoteColumns+` FROM mint_remote WHERE owner = $1 AND kind = $2 AND id = $3`, owner, kind, id)
}

// RemotesOf implements ledger.Store.
func (m Mint) RemotesOf(ctx context.Context, owner, kind, session string) ([]ledger.Remote, error) {
	return list(ctx, m, scanMintRemote, `SELECT `+mintRemoteColumns+` FROM mint_remote WHERE owner = $1 AND kind = $2 AND ($3 = '' OR session = $3) ORDER BY created DESC, id`,
		owner, kind, session)
}

// DueRemotes implements ledger.Store.
func (m Mint) DueRemotes(ctx context.Context) ([]ledger.Remote, error) {
	return list(ctx, m, scanMintRemote, `SELECT `+mintRemoteColumns+` FROM mint_remote WHERE state = 'due' ORDER BY created, id`)
}

// DropRemote implements ledger.Store.
func (m Mint) DropRemote(ctx context.Context, owner, kind, id string) error {
	return m.Transact(ctx, func(ctx context.Context, db Writer) error {
		return run(ctx, db, `DELETE FROM mint_remote WHERE owner = $1 AND kind = $2 AND id = $3`, owner, kind, id)
	})
}

func scanMintRemote(r Row) (x ledger.Remote, err error) {
	err = scanMint(r, &x.Owner, &x.Kind, &x.ID, &x.Backend, &x.There, &x.Session, &x.State, &x.About, &x.Created)
	return x, err
}
