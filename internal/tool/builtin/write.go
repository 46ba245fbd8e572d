package builtin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"

	"macaron/internal/errs"
)

var writeSchema = schema(pathProperty+`,"text":{"type":"string"}`, `"path","text"`)

type writeArgs struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

type writeResult struct {
	Bytes   int  `json:"bytes"`
	Created bool `json:"created"`
}

// write puts a file in place whole: readers see the old one or the new one. It belongs to
// the owner of its directory, so that code in the sandbox may change it too.
func (f workspace) write(_ context.Context, a writeArgs) (any, error) {
	at, err := inside(a.Path)
	if err != nil {
		return nil, err
	}
	if at == "." {
		return nil, bad("the path names the workspace itself", "give the path of a file")
	}
	if len(a.Text) > maxFile {
		return nil, errs.Newf(errs.TooLarge, "the file would have more than %d bytes", maxFile)
	}
	old, err := f.Root.Stat(at)
	if err == nil && !old.Mode().IsRegular() {
		return nil, bad(errs.Clip(a.Path)+" is no regular file", "give another path")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed(a.Path, err)
	}
	if err := f.room(old, len(a.Text)); err != nil {
		return nil, err
	}
	if err := f.place(at, old, a.Text); err != nil {
		return nil, failed(a.Path, err)
	}
	return writeResult{Bytes: len(a.Text), Created: old == nil}, nil
}

func (f workspace) place(at string, old fs.FileInfo, text string) error {
	if err := f.directories(path.Dir(at)); err != nil {
		return err
	}
	if old != nil {
		if at = f.behindLinks(at); at == "" {
			return fs.ErrPermission
		}
	}
	mode := fs.FileMode(0o644)
	if old != nil {
		mode = old.Mode().Perm()
	}
	scratch := path.Join(path.Dir(at), ".macaron-"+rand.Text())
	file, err := f.Root.OpenFile(scratch, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err == nil {
		err = f.giveTo(path.Dir(at), scratch)
	}
	if e := file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = f.Root.Rename(scratch, at)
	}
	if err != nil {
		err = errors.Join(err, f.Root.Remove(scratch))
	}
	return err
}

// behindLinks follows links to the file that a path means, so that a link is written
// through and not replaced; "" after too many.
func (f workspace) behindLinks(at string) string {
	for range 16 {
		to, err := f.Root.Readlink(at)
		if err != nil {
			return at
		}
		if path.IsAbs(to) {
			return ""
		}
		at = path.Join(path.Dir(at), to)
	}
	return ""
}

// directories makes the directories of a path, each owned as the one above it.
func (f workspace) directories(dir string) error {
	if dir == "." {
		return nil
	}
	if err := f.directories(path.Dir(dir)); err != nil {
		return err
	}
	err := f.Root.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.giveTo(path.Dir(dir), dir)
}

// giveTo makes a new file or directory belong to the owner of dir; only root can, and
// only root needs to.
func (f workspace) giveTo(dir, name string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := f.Root.Stat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	return f.Root.Lchown(name, int(owner.Uid), int(owner.Gid))
}

// room refuses what would make the workspace larger than it may be.
func (f workspace) room(old fs.FileInfo, size int) error {
	if f.MaxBytes == 0 && f.MaxFiles == 0 {
		return nil
	}
	bytes, files := int64(size), 1
	if old != nil {
		bytes, files = bytes-old.Size(), 0
	}
	err := walk(f.Root, ".", func(_ string, e fs.DirEntry) error {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
			files++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if f.MaxBytes > 0 && bytes > f.MaxBytes || f.MaxFiles > 0 && files > f.MaxFiles {
		return errs.New(errs.TooLarge, fmt.Sprintf("the workspace would hold %d bytes in %d files; it may hold %d in %d", bytes, files, f.MaxBytes, f.MaxFiles), "remove what is not needed")
	}
	return nil
}
