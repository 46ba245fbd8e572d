package catalogue

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"macaron/internal/adapter"
	"macaron/internal/disk"
	"macaron/internal/engine/lora"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Files are the two files of a PEFT directory.
type Files struct {
	Config  []byte // adapter_config.json
	Tensors []byte // adapter_model.safetensors
}

// The names of the two files.
const (
	ConfigFile  = "adapter_config.json"
	TensorsFile = "adapter_model.safetensors"
)

// MaxFile bounds each file of a revision.
const MaxFile = 8 << 30

// ReadDir reads a PEFT directory.
func ReadDir(dir string) (Files, error) {
	var f Files
	var err error
	if f.Config, err = readFile(filepath.Join(dir, ConfigFile), 1<<20); err == nil {
		f.Tensors, err = readFile(filepath.Join(dir, TensorsFile), MaxFile)
	}
	return f, err
}

// readFile reads a regular file of at most so many bytes.
func readFile(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path) // first: to open a pipe would wait for a writer
	if err == nil && !info.Mode().IsRegular() {
		return nil, errs.New(errs.InvalidRequest, path+" is not a file", "name a directory that PEFT saved an adapter to")
	}
	if err == nil && info.Size() > most {
		return nil, errs.Newf(errs.TooLarge, "%s has more than %d bytes", path, most)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, disk.OpenError(err, path+" cannot be opened", "name a directory that PEFT saved an adapter to")
	}
	defer f.Close() // read-only
	b, err := io.ReadAll(io.LimitReader(f, most))
	return b, disk.Error(err, path+" cannot be read")
}

// Draft is a revision to publish. Its identity comes from Files alone.
type Draft struct {
	Files
	Name     string // of the adapter that it was made as
	Parent   ids.Digest
	Contract ids.Digest
	Data     ids.Digest
	// Checkpoint is the last saved state of its training, with the optimizer's.
	Checkpoint ids.Digest
	Recipe     string // its text
	Metrics    map[string]float64
	Signature  string // an envelope; empty: none
	// Expect, if not empty, is the revision that the files must be.
	Expect ids.Digest
	// Key, if not nil, signs the revision and where it comes from.
	Key ed25519.PrivateKey
	// Trusted, if any, are the keys of which one must have signed it.
	Trusted []ed25519.PublicKey
}

// Publish puts a revision into the catalogue. Publishing what is there already changes
// nothing and gives what is there.
func (c *Catalogue) Publish(ctx context.Context, owner string, d Draft) (adapter.Published, error) {
	all, err := c.PublishAll(ctx, owner, []Draft{d})
	if err != nil {
		return adapter.Published{}, err
	}
	return c.Store.PublishedRevision(ctx, owner, all[0].Hash)
}

// PublishAll is Publish of many, in one commit, all or none. It gives what the drafts say,
// whatever the catalogue has known of them before.
func (c *Catalogue) PublishAll(ctx context.Context, owner string, drafts []Draft) ([]adapter.Published, error) {
	all := make([]adapter.Published, len(drafts))
	var recipes []string
	last := ""
	for i, d := range drafts {
		var err error
		if all[i], err = c.examine(owner, d); err != nil {
			return nil, err
		}
		if d.Recipe != last {
			recipes = append(recipes, d.Recipe)
		}
		last = d.Recipe
	}
	if err := c.keep(all, drafts); err != nil {
		return nil, err
	}
	if err := c.Store.AddRevisions(ctx, owner, all, recipes, c.Parents); err != nil {
		return nil, err
	}
	return all, c.still(all, drafts)
}

// examine finds out what a draft is.
func (c *Catalogue) examine(owner string, d Draft) (adapter.Published, error) {
	var p adapter.Published
	if err := adapter.CheckName(d.Name); err != nil {
		return p, err
	}
	for _, link := range []ids.Digest{d.Parent, d.Contract, d.Data, d.Checkpoint} {
		if link != "" {
			if _, err := ids.ParseDigest(string(link)); err != nil {
				return p, err
			}
		}
	}
	content, err := lora.Parse(d.Config, d.Tensors)
	if err != nil {
		return p, err
	}
	rev := content.Revision()
	rev.Name = d.Name
	if !(rev.Alpha > 0) { // no training could go on from it
		return p, errs.New(errs.FormatInvalid, fmt.Sprintf("lora_alpha of the adapter is %v", rev.Alpha), "give it a positive lora_alpha; the sign of a scale can stand in B")
	}
	p = adapter.Published{Revision: rev, Owner: owner, Parent: d.Parent, Contract: d.Contract, Data: d.Data, Checkpoint: d.Checkpoint, Metrics: d.Metrics, Created: c.Clock.Now().UTC(), Signature: d.Signature}
	if p.Parent == p.Hash {
		p.Parent = "" // nothing was learned
	}
	if d.Recipe != "" {
		p.Recipe = ids.DigestOf([]byte(d.Recipe))
	}
	if d.Expect != "" && p.Hash != d.Expect {
		return p, errs.New(errs.ChecksumMismatch, "the files are the revision "+p.Hash.Short()+", not "+d.Expect.Short()+" as they say", "get them from their publisher again")
	}
	return p, d.sign(&p)
}

// sign signs the revision, or checks who has.
func (d *Draft) sign(p *adapter.Published) (err error) {
	if d.Key != nil {
		p.Signature, err = Sign(*p, d.Key)
	} else if len(d.Trusted) > 0 {
		_, err = Verify(*p, d.Trusted)
	}
	return err
}

// keep stores the bytes of revisions, before anything names them.
func (c *Catalogue) keep(all []adapter.Published, drafts []Draft) error {
	var entries [][]byte
	var small []int
	for i, d := range drafts {
		if len(d.Config)+len(d.Tensors) <= packed {
			entries, small = append(entries, encode(d.Files)), append(small, i)
		} else if err := c.dirs.Put(all[i].Hash, d.Config, d.Tensors); err != nil {
			return err
		}
	}
	places, err := c.shards.append(entries)
	for i, at := range small {
		if err == nil {
			all[at].Place = places[i]
		}
	}
	return err
}

// still makes sure that no collection took a directory away between its making and the
// commit that names it: after that, none does.
func (c *Catalogue) still(all []adapter.Published, drafts []Draft) error {
	for i, d := range drafts {
		if all[i].Place.Shard == "" {
			if err := c.dirs.Put(all[i].Hash, d.Config, d.Tensors); err != nil {
				return err
			}
		}
	}
	return nil
}

// Files gives the bytes of an owner's revision.
func (c *Catalogue) Files(ctx context.Context, owner string, hash ids.Digest) (Files, error) {
	p, err := c.Store.PublishedRevision(ctx, owner, hash)
	if err != nil {
		return Files{}, err
	}
	f, err := c.files(p)
	if errs.CodeOf(err) == errs.NotFound { // it may have moved to another shard meanwhile
		again, gone := c.Store.PublishedRevision(ctx, owner, hash)
		if gone == nil && again.Place != p.Place {
			return c.files(again)
		}
		return Files{}, cmp.Or(gone, err)
	}
	return f, err
}

func (c *Catalogue) files(p adapter.Published) (Files, error) {
	if p.Place.Shard == "" {
		dir, err := c.dirs.Dir(p.Hash)
		if err != nil {
			return Files{}, err
		}
		return ReadDir(dir)
	}
	b, err := c.shards.read(p.Place)
	if errs.CodeOf(err) == errs.NotFound { // another home's: there may be a copy here
		if dir, absent := c.dirs.Dir(p.Hash); absent == nil {
			return ReadDir(dir)
		}
	}
	if err != nil {
		return Files{}, err
	}
	return decode(b)
}

// Dir gives a directory with the two files of an owner's revision, as the engine reads
// them. The directory stays as long as the revision does.
func (c *Catalogue) Dir(ctx context.Context, owner string, hash ids.Digest) (string, error) {
	p, err := c.Store.PublishedRevision(ctx, owner, hash)
	if err != nil {
		return "", err
	}
	dir, err := c.dirs.Dir(p.Hash)
	if errs.CodeOf(err) != errs.AdapterNotFound {
		return dir, err
	}
	f, err := c.Files(ctx, owner, hash)
	if err == nil {
		err = c.dirs.Put(hash, f.Config, f.Tensors)
	}
	if err != nil {
		return "", err
	}
	return c.dirs.Dir(hash)
}
