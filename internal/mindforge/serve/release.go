package serve

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"macaron/internal/canonical"
	"macaron/internal/contract"
	"macaron/internal/contract/sign"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mint/catalogue"
	"macaron/internal/registry"
)

// Draft is a release that is to be entered.
type Draft struct {
	Contract    string                // the whole of it in one text
	Signature   string                // DSSE over that text, where this machine asks for one
	Base        string                // digest of the weights; "": the contract's name of them
	Specialists []contract.Specialist // of every adapter that does not live at an upstream
	From        []ledger.Source       // what it was made of
	Run         string                // of the loop that makes it; "": a person does
}

// Enter makes a release: it keeps the contract's text and the release's form beside the
// ledger, and notes that it was made. Every revision must be in the owner's catalogue. The
// same release again adds nothing.
func (r *Releases) Enter(ctx context.Context, owner string, d Draft) (ids.Digest, error) {
	k, err := contract.Parse([]byte(d.Contract))
	if err != nil {
		return "", err
	}
	if err := r.trusted(d.Contract, d.Signature); err != nil {
		return "", err
	}
	for _, a := range k.Adapters {
		if err := r.present(ctx, owner, a, d.Specialists); err != nil {
			return "", err
		}
	}
	release, hash, err := contract.NewRelease(k, d.Base, d.Specialists)
	if err != nil {
		return "", err
	}
	form, err := canonical.Bytes(release)
	if err != nil {
		return "", err
	}
	texts := []ledger.Text{{What: ledger.ContractText, Name: k.Hash(), Text: d.Contract}, {What: ledger.ReleaseText, Name: hash, Text: string(form)}}
	if d.Signature != "" {
		texts = append(texts, ledger.Text{What: ledger.SignatureText, Name: k.Hash(), Text: d.Signature})
	}
	from := []ledger.Source{{What: "contract", Name: k.Name, Hash: k.Hash()}}
	for _, s := range release.Specialists {
		from = append(from, ledger.Source{What: "revision", Name: s.Label, Hash: s.Revision})
	}
	made := ledger.Made{What: "release", Hash: hash, From: append(from, d.From...)}
	_, err = r.Ledger.Write(ctx, owner, texts, nil, ledger.Draft{Run: d.Run, Key: "release/" + hash.Hex(), Body: made})
	return hash, err
}

// present refuses an adapter whose revision the release does not name, or the owner has not.
func (r *Releases) present(ctx context.Context, owner string, a contract.Adapter, all []contract.Specialist) error {
	if registry.Upstream(a) {
		return nil
	}
	for _, s := range all {
		if s.Label == a.Name {
			_, err := r.Revisions.Dir(ctx, owner, s.Revision)
			return err
		}
	}
	return errs.New(errs.InvalidRequest, "the release names no revision of "+a.Name, "name one of each adapter that the contract has")
}

// trusted refuses a contract that nobody trusted has signed, where that is asked for.
func (r *Releases) trusted(text, signature string) error {
	if len(r.Keys) == 0 {
		return nil
	}
	source, err := contract.ParseFiles("macaron.toml", map[string][]byte{"macaron.toml": []byte(text)})
	if err == nil {
		_, err = sign.Verify(source, []byte(signature), r.Keys)
	}
	return err
}

// FromFile makes a draft of what the contract's file and the policy records serve now. The
// revisions that only the file names come into the owner's catalogue.
func (r *Releases) FromFile(ctx context.Context, owner string, served registry.Snapshot, signature string) (Draft, error) {
	text, err := r.Registry.Stored(served.Contract.Hash())
	if err != nil {
		return Draft{}, err
	}
	d := Draft{Contract: string(text), Signature: signature, Base: served.Contract.Runtime.Base}
	for i, e := range served.Adapters {
		if a := served.Contract.Adapters[i]; !registry.Upstream(a) {
			if err := r.publish(ctx, owner, e); err != nil {
				return Draft{}, err
			}
		}
		d.Specialists = append(d.Specialists, contract.Specialist{Label: e.Name, Revision: e.Hash})
	}
	return d, nil
}

// publish enters a revision that this home has into an owner's catalogue.
func (r *Releases) publish(ctx context.Context, owner string, e registry.Entry) error {
	if _, err := r.Revisions.Dir(ctx, owner, e.Hash); errs.CodeOf(err) != errs.NotFound {
		return err
	}
	dir, err := r.Registry.Dir(e.Revision)
	if err != nil {
		return err
	}
	files, err := catalogue.ReadDir(filepath.Clean(dir))
	if err == nil {
		_, err = r.Revisions.Publish(ctx, owner, catalogue.Draft{Files: files, Name: e.Name})
	}
	return err
}

// Release gives a release by its name.
func (r *Releases) Release(ctx context.Context, owner string, name ids.Digest) (rel contract.Release, err error) {
	text, err := r.Ledger.Store.KeptText(ctx, owner, ledger.ReleaseText, name)
	if err != nil {
		return rel, err
	}
	if ids.DigestOf([]byte(text)) != name {
		return rel, errs.New(errs.ChecksumMismatch, "the kept release "+name.Short()+" is not what its name says", "restore the database from a backup")
	}
	err = json.Unmarshal([]byte(text), &rel)
	return rel, errs.Wrap(errs.FormatInvalid, err, "the kept release "+name.Short()+" cannot be read", "restore the database from a backup")
}

// errPlanted says that a release is one of a planted problem: its names move like any other's, and
// nobody is served them.
var errPlanted = errs.New(errs.Unsupported, "the release is one of a planted problem, at which no model acts", "`macaron forge release` names what is served here")

// Snapshot gives what is served of a release: its contract, and its adapters as they are
// stored here. An owner gets what is the owner's alone.
func (r *Releases) Snapshot(ctx context.Context, owner string, name ids.Digest) (registry.Snapshot, error) {
	rel, err := r.Release(ctx, owner, name)
	if err != nil {
		return registry.Snapshot{}, err
	}
	r.mu.Lock()
	known, ok := r.snapshots[name]
	r.mu.Unlock()
	if ok {
		return known, nil
	}
	k, err := r.contract(ctx, owner, rel.Harness)
	if err != nil {
		return registry.Snapshot{}, err
	}
	if k.Planted() {
		return registry.Snapshot{}, errPlanted
	}
	named := map[string]ids.Digest{}
	for _, s := range rel.Specialists {
		named[s.Label] = s.Revision
	}
	for _, a := range k.Adapters {
		if err := r.present(ctx, owner, a, rel.Specialists); err != nil {
			return registry.Snapshot{}, err
		}
	}
	out, err := r.Registry.Pinned(k, named)
	if err != nil {
		return registry.Snapshot{}, err
	}
	for i := range out.Adapters {
		if !registry.Upstream(k.Adapters[i]) {
			out.Adapters[i].Source = "release:" + name.Short()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.snapshots) >= maxSnapshots {
		clear(r.snapshots)
	}
	r.snapshots[name] = out
	return out, nil
}

// whole reads a contract's kept text and checks that it is what its name says.
func whole(h ids.Digest, text string) (*contract.Contract, error) {
	k, err := contract.Parse([]byte(text))
	if err == nil && k.Hash() != h {
		err = errs.New(errs.ChecksumMismatch, "the contract "+h.Short()+" beside the ledger is not what its name says", "restore the database from a backup")
	}
	return k, err
}

// Reached lists the revisions of the releases that names of all owners stand on, or have stood on
// since a time.
func (r *Releases) Reached(ctx context.Context, since time.Time) (all []ids.Digest, err error) {
	owners, err := r.Ledger.Store.Ledgers(ctx)
	for _, owner := range owners {
		entries, err := r.Ledger.All(ctx, owner, "")
		if err != nil {
			return nil, err
		}
		stands := map[string]ids.Digest{}
		wanted := map[ids.Digest]bool{}
		for _, e := range entries {
			if e.Kind != ledger.KindAlias {
				continue
			}
			b, err := e.Decode()
			if err != nil {
				return nil, err
			}
			m := b.(ledger.Moved)
			stands[m.Alias] = m.To
			if e.At.After(since) {
				wanted[m.From], wanted[m.To] = true, true
			}
		}
		for _, to := range stands {
			wanted[to] = true
		}
		delete(wanted, "")
		for name := range wanted {
			rel, err := r.Release(ctx, owner, name)
			if err != nil {
				return nil, err
			}
			for _, s := range rel.Specialists {
				all = append(all, s.Revision)
			}
		}
	}
	return all, err
}
