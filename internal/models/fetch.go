package models

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// maxUnknown bounds a file whose size nobody has told, bytes.
const maxUnknown = 1 << 40

// Progress is told how far a transfer is: bytes done and in all, 0 for unknown.
// A call with done equal to total, or done < 0, ends it.
type Progress func(what string, done, total int64)

// Fetcher brings files into a store. The zero values of all but Store are usable.
type Fetcher struct {
	Store    *Store
	Endpoint string                  // base URL of hf sources; "" means https://huggingface.co
	Python   string                  // interpreter with pip; "" means python3
	Client   *http.Client            // nil means one with sensible limits
	Progress Progress                // nil: silent
	Check    func(path string) error // looks at what has come before it is stored; nil: nothing is looked at
}

// Fetch returns the path and digest of a model's file, from the store when it is
// there, else from the first of its sources that delivers the right bytes. When
// none does, the error (errs.SourceUnreachable) gives each one's reason.
func (f *Fetcher) Fetch(ctx context.Context, m Model) (string, ids.Digest, error) {
	if m.Digest != "" {
		if p, err := f.Store.Has(m.Digest); errs.CodeOf(err) != errs.NotFound {
			return p, m.Digest, err
		}
	}
	if err := f.Store.room(m.Size); err != nil {
		return "", "", err
	}
	var reasons []string
	var last error
	for _, text := range m.Sources {
		src, err := parseSource(text)
		if err != nil {
			return "", "", err
		}
		p, d, err := f.from(ctx, m, src)
		if err == nil {
			return p, d, nil
		}
		if final(ctx, err) {
			return "", "", err
		}
		e := errs.As(err)
		reasons, last = append(reasons, text+": "+e.Message), e
	}
	return "", "", unreachable(m, reasons, last)
}

// final reports failures that another source cannot mend.
func final(ctx context.Context, err error) bool {
	switch errs.CodeOf(err) {
	case errs.StorageFull, errs.StorageFailed, errs.Canceled:
		return true
	}
	return ctx.Err() != nil
}

func unreachable(m Model, reasons []string, last error) error {
	if len(reasons) == 1 && errs.CodeOf(last) != errs.SourceUnreachable {
		return last
	}
	next := "check the network, then try again"
	switch {
	case last != nil && !slices.ContainsFunc(m.Sources, func(s string) bool { return !strings.HasPrefix(s, "file:") }):
		next = errs.As(last).Next // there is no network in this
	case m.Digest != "":
		next = fmt.Sprintf("check the network and try again, or bring the file (SHA-256 %s) from elsewhere: macaron model pull %s --source file:PATH", m.Digest.Hex(), m.Name)
	}
	return errs.Wrap(errs.SourceUnreachable, last, fmt.Sprintf("the model %s could not be fetched:\n  %s", m.Name, strings.Join(reasons, "\n  ")), next)
}

// from fetches a model from one source. A second fetch of the same file, in this
// process or another, waits here and then finds the file in the store.
func (f *Fetcher) from(ctx context.Context, m Model, src source) (string, ids.Digest, error) {
	key := m.Digest.Hex()
	if key == "" {
		key = ids.DigestOf([]byte(src.text)).Hex()
	}
	t := &transfer{store: f.Store, ctx: ctx, model: m, scratch: path.Join(partial, key), progress: f.Progress, check: f.Check}
	if err := t.open(); err != nil {
		return "", "", err
	}
	defer t.file.Close() // adopt has synced it, or it is scratch
	if m.Digest != "" {
		if p, err := f.Store.Has(m.Digest); err == nil {
			return p, m.Digest, t.discard()
		}
	}
	var err error
	switch src.kind {
	case "pip":
		err = f.pip(t, src)
	case "hf":
		err = f.hf(t, src)
	default:
		err = f.local(t, src)
	}
	if err != nil {
		return "", "", err
	}
	return t.finish()
}

// local copies a file of this machine.
func (f *Fetcher) local(t *transfer, src source) error {
	in, err := openRegular(src.file)
	if err != nil {
		return errs.Wrap(errs.SourceUnreachable, err, "the file "+src.file+" cannot be opened", "check the path: it must be a file that this user may read")
	}
	defer in.Close() // read-only
	info, err := in.Stat()
	if err != nil {
		return errs.Wrap(errs.SourceUnreachable, err, src.file+" cannot be read", "check its disk")
	}
	if err := t.restart(); err != nil {
		return err
	}
	return t.copy(in, info.Size())
}
