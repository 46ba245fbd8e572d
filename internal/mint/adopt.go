package mint

import (
	"context"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/blob"
	"macaron/internal/mint/ledger"
	"macaron/internal/train"
)

// Adopt makes a training state that came from another process an owner's checkpoint, which
// clients can load, and gives its path. from is the revision that came with it. To adopt it
// again changes nothing. The base is known when it is loaded: until then its digest is its
// name.
func Adopt(ctx context.Context, store ledger.Store, blobs *blob.Store, owner string, state, from ids.Digest, now time.Time) (string, error) {
	raw, err := blobs.Bytes(state, train.MaxCheckpoint)
	if err != nil {
		return "", err
	}
	f, err := train.ReadCheckpoint(raw)
	if err != nil {
		return "", err
	}
	mark := ids.DigestOf([]byte(owner + "\x00" + string(state))).Hex()[:24] // paths are of all owners
	c := ledger.Checkpoint{Owner: owner, Run: "import-" + mark + ":train:0", Kind: string(Training), Name: "imported", Base: string(f.Base),
		State: state, Bytes: int64(len(raw)), Created: now.UTC()}
	c.Path = checkpointPath(c.Run, Training, c.Name)
	if _, err := store.Checkpoint(ctx, c.Path); errs.CodeOf(err) != errs.NotFound {
		return c.Path, err
	}
	if c.About, err = (about{Spec: f.Spec, From: from}).bytes(); err != nil {
		return "", err
	}
	return c.Path, store.Write(ctx, ledger.Change{Checkpoints: []ledger.Checkpoint{c}})
}
