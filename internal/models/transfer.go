package models

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// transfer is one file on its way into the store.
type transfer struct {
	ctx      context.Context
	store    *Store
	model    Model
	scratch  string // below the store
	file     *os.File
	hash     hash.Hash
	done     int64 // bytes in file and hash
	progress Progress
	check    func(path string) error // nil: none
}

// open opens the scratch file and waits for its lock.
func (t *transfer) open() error {
	for {
		f, err := t.store.root.OpenFile(t.scratch, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return disk.Error(err, "the scratch file cannot be made")
		}
		ours, err := disk.TryLock(f)
		if err != nil {
			return errors.Join(disk.Error(err, "the scratch file cannot be locked"), f.Close())
		}
		if ours && t.same(f) {
			t.file, t.hash = f, sha256.New()
			return nil
		}
		if err := f.Close(); err != nil {
			return disk.Error(err, "the scratch file cannot be closed")
		}
		if ours {
			continue // its name was taken away while we waited
		}
		select {
		case <-t.ctx.Done():
			return errs.Wrap(errs.Canceled, t.ctx.Err(), "the fetch was stopped", "")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// same reports whether the scratch name still means this file: the one who had the
// lock before may have moved it to its place.
func (t *transfer) same(f *os.File) bool {
	a, errA := f.Stat()
	b, errB := t.store.root.Stat(t.scratch)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// restart empties the scratch file.
func (t *transfer) restart() error {
	t.hash.Reset()
	t.done = 0
	_, err := t.file.Seek(0, io.SeekStart)
	if err = errors.Join(err, t.file.Truncate(0)); err != nil {
		return disk.Error(err, "the scratch file cannot be emptied")
	}
	return t.forget()
}

// resume hashes what an earlier transfer has left and goes on behind it.
func (t *transfer) resume() error {
	n, err := io.Copy(t.hash, t.file)
	if err != nil {
		return disk.Error(err, "what was fetched before cannot be read")
	}
	if t.done = n; t.model.Size > 0 && n >= t.model.Size {
		return t.restart()
	}
	return nil
}

// copy appends what r gives; total is the size of the whole file, -1 if unknown.
func (t *transfer) copy(r io.Reader, total int64) error {
	limit := int64(maxUnknown)
	if t.model.Size > 0 {
		if total >= 0 && total != t.model.Size {
			return wrongSize(t.model, total)
		}
		total = t.model.Size
	}
	if total >= 0 {
		limit = total
	}
	if err := t.store.room(total - t.done); err != nil {
		return err
	}
	for buf := make([]byte, 1<<18); ; {
		n, err := r.Read(buf)
		if t.done+int64(n) > limit {
			return errs.New(errs.ChecksumMismatch, fmt.Sprintf("the source delivers more than the %d bytes of the file", limit), "use another source")
		}
		if werr := t.write(buf[:n]); werr != nil {
			return werr
		}
		t.tell(total)
		if errors.Is(err, io.EOF) {
			return t.whole(total)
		}
		if err = errors.Join(err, t.ctx.Err()); err != nil {
			return stopped(t.ctx, err)
		}
	}
}

func (t *transfer) write(b []byte) error {
	if _, err := t.file.Write(b); err != nil {
		return disk.Error(err, "the file cannot be stored")
	}
	t.hash.Write(b)
	t.done += int64(len(b))
	return nil
}

func (t *transfer) tell(total int64) {
	if t.progress != nil {
		t.progress(t.model.Name, t.done, max(total, 0))
	}
}

func (t *transfer) whole(total int64) error {
	if total < 0 && t.progress != nil {
		t.progress(t.model.Name, t.done, t.done) // only now is it known
	}
	if total >= 0 && t.done != total {
		return errs.New(errs.SourceUnreachable, fmt.Sprintf("the transfer ended after %d of %d bytes", t.done, total), "try again: what has arrived is kept")
	}
	return nil
}

func wrongSize(m Model, got int64) error {
	return errs.New(errs.ChecksumMismatch, fmt.Sprintf("the file has %d bytes, %s has %d", got, m.Name, m.Size), "use another source")
}

func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errs.Wrap(errs.Canceled, err, "the fetch was stopped", "run it again: what has arrived is kept")
	}
	return errs.Wrap(errs.SourceUnreachable, err, "the transfer broke off: "+err.Error(), "try again: what has arrived is kept")
}

// finish checks the bytes and moves the file to its place.
func (t *transfer) finish() (string, ids.Digest, error) {
	d := sum(t.hash)
	if t.model.Digest != "" && d != t.model.Digest {
		err := errs.New(errs.ChecksumMismatch, fmt.Sprintf("the file's SHA-256 is %s, expected %s", d.Hex(), t.model.Digest.Hex()), "use another source; the wrong bytes were thrown away")
		return "", "", errors.Join(err, t.discard())
	}
	if t.check != nil {
		if err := t.check(filepath.Join(t.store.dir, filepath.FromSlash(t.scratch))); err != nil {
			return "", "", errors.Join(err, t.discard())
		}
	}
	p, err := t.store.adopt(t.file, t.scratch, d)
	return p, d, err
}

// discard removes the scratch file.
func (t *transfer) discard() error {
	if err := t.store.root.Remove(t.scratch); err != nil {
		return disk.Error(err, "the scratch file cannot be removed")
	}
	return t.forget()
}
