package archive

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"macaron/internal/ids"
)

// workspace tells whether a path below a home is the directory of a run.
func workspace(name string) bool {
	dir, run := path.Split(name)
	return dir == "runs/" && ids.Check(ids.Run, run) == nil
}

// workspaces copies the files of runs, which code that nobody trusts may be changing: what is
// summed and written later is the copy. A file that goes meanwhile, or cannot be opened, is left out: the record of the run is the truth, and brings back what it needs. No link leads
// the copying out of its workspace, whenever it is made.
func workspaces(ctx context.Context, home, to string) (files []File, err error) {
	dirs, err := filepath.Glob(filepath.Join(home, "runs", "*"))
	for _, dir := range dirs {
		name := "runs/" + filepath.Base(dir)
		if !workspace(name) {
			continue
		}
		var more []File
		if more, err = copyTree(ctx, dir, name, to); err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, err
}

func copyTree(ctx context.Context, dir, name, to string) (files []File, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // deleted meanwhile
	}
	if err != nil {
		return nil, err
	}
	defer root.Close() // a directory handle
	err = fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return ctx.Err() // no file, or gone, or closed to us
		}
		f := File{Name: name + "/" + p, from: filepath.Join(to, filepath.FromSlash(name), filepath.FromSlash(p))}
		there, err := copyFile(root, p, f.from)
		if there {
			files = append(files, f)
		}
		return errors.Join(err, ctx.Err())
	})
	return files, err
}

// copyFile copies a regular file of a workspace, if it can be opened.
func copyFile(root *os.Root, name, to string) (there bool, err error) {
	in, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that came into its place is not waited for
	if err != nil {
		return false, nil // what code closed to us, or led elsewhere, holds up no backup
	}
	defer in.Close() // read-only
	if st, err := in.Stat(); err != nil || !st.Mode().IsRegular() {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return false, err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false, err
	}
	_, err = io.Copy(out, in)
	return true, errors.Join(err, out.Close())
}
