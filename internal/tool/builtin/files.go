package builtin

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/tool"
)

// Bounds of one call on files.
const (
	maxFile    = 8 << 20   // bytes of a file that is read or written
	maxText    = 256 << 10 // bytes of text that one read gives
	maxEntries = 1000      // of a list
	maxMatches = 200       // of a search
	maxWalked  = 50_000    // entries that a list or a search looks at
)

// Files are the tools on one workspace. No path, and no link on its way, leads out of it.
type Files struct {
	Dir      string // opened for each call: a sandbox may put another directory in its place
	MaxBytes int64  // of all files together; 0: no bound
	MaxFiles int    // 0: no bound
}

// workspace is Files during one call.
type workspace struct {
	Files
	Root *os.Root
}

// within opens the workspace for a call.
func within[A any](f Files, do func(workspace, context.Context, A) (any, error)) func(context.Context, A) (any, error) {
	return func(ctx context.Context, a A) (any, error) {
		root, err := os.OpenRoot(f.Dir)
		if err != nil {
			return nil, disk.Error(err, "the workspace cannot be opened")
		}
		out, err := do(workspace{f, root}, ctx, a)
		return out, errors.Join(err, root.Close())
	}
}

// Tools lists them: read, list, search, write, patch.
func (f Files) Tools() map[string]tool.Tool {
	return map[string]tool.Tool{
		"files.read": function[readArgs]{tool.Def{Name: "read_file", Effect: tool.Read, Parameters: readSchema,
			Description: "Read a text file of the workspace, or the lines from `from` on."}, within(f, workspace.read)},
		"files.list": function[listArgs]{tool.Def{Name: "list_files", Effect: tool.Read, Parameters: listSchema,
			Description: "List the files below a directory of the workspace."}, within(f, workspace.list)},
		"files.search": function[searchArgs]{tool.Def{Name: "search_files", Effect: tool.Read, Parameters: searchSchema,
			Description: "Find the lines of text files that match a regular expression (RE2)."}, within(f, workspace.search)},
		"files.write": function[writeArgs]{tool.Def{Name: "write_file", Effect: tool.Write, Parameters: writeSchema,
			Description: "Write a text file of the workspace, whole; directories on its way are made."}, within(f, workspace.write)},
		"files.patch": function[patchArgs]{tool.Def{Name: "patch_file", Effect: tool.Write, Parameters: patchSchema,
			Description: "Replace pieces of a text file. Each `old` must occur exactly once; all edits happen or none."}, within(f, workspace.patch)},
	}
}

const pathProperty = `"path":{"type":"string","minLength":1,"maxLength":1024,"description":"relative to the workspace"}`

var readSchema = schema(pathProperty+`,"from":{"type":"integer","minimum":1,"description":"first line, from 1"},"lines":{"type":"integer","minimum":1}`, `"path"`)

type readArgs struct {
	Path  string `json:"path"`
	From  int    `json:"from"`
	Lines int    `json:"lines"`
}

type readResult struct {
	Text  string `json:"text"`
	Lines int    `json:"lines"`
	More  bool   `json:"more,omitempty"` // the file goes on
}

func (f workspace) read(_ context.Context, a readArgs) (any, error) {
	text, err := f.text(a.Path)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var r readResult
	var b strings.Builder
	for i := max(a.From, 1) - 1; i < len(lines); i++ {
		if r.More = a.Lines > 0 && r.Lines == a.Lines || b.Len()+len(lines[i]) > maxText; r.More {
			break
		}
		b.WriteString(lines[i])
		r.Lines++
	}
	if r.Text = b.String(); r.Lines == 0 && r.More {
		return nil, bad("a line of "+errs.Clip(a.Path)+" is longer than one read gives", "search the file, or read it with code")
	}
	return r, nil
}

// text reads a whole text file.
func (f workspace) text(name string) (string, error) {
	b, err := f.bytes(name)
	if err == nil && !utf8.Valid(b) {
		err = errs.New(errs.Unsupported, errs.Clip(name)+" is no text", "look at it with code or a command")
	}
	return string(b), err
}

// bytes reads a whole file of at most maxFile. What is no file, such as a pipe that
// somebody left in the workspace, is not waited for.
func (f workspace) bytes(name string) ([]byte, error) {
	at, err := inside(name)
	if err != nil {
		return nil, err
	}
	file, err := f.Root.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, failed(name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, failed(name, err)
	case info.IsDir():
		return nil, bad(errs.Clip(name)+" is a directory", "list it")
	case !info.Mode().IsRegular():
		return nil, bad(errs.Clip(name)+" is no regular file", "")
	}
	b, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, failed(name, err)
	}
	if len(b) > maxFile {
		return nil, errs.Newf(errs.TooLarge, "%s has more than %d bytes", errs.Clip(name), maxFile)
	}
	return b, nil
}

// inside cleans a path. A leading / is taken for the workspace's own.
func inside(name string) (string, error) {
	at := path.Clean(strings.TrimLeft(name, "/"))
	if name == "" || len(name) > 1024 || !utf8.ValidString(name) || strings.ContainsRune(name, 0) || !fs.ValidPath(at) {
		return "", errs.New(errs.Forbidden, "the path "+errs.Clip(name)+" does not lie in the workspace", "give a path relative to the workspace")
	}
	return at, nil
}

// failed tells an error of the file system without the path of the workspace itself.
func failed(name string, err error) error {
	name = errs.Clip(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errs.New(errs.NotFound, "there is no "+name+" in the workspace", "list the files")
	case errors.Is(err, fs.ErrPermission):
		return errs.New(errs.Forbidden, name+" may not be read or written", "")
	case strings.Contains(err.Error(), "escapes"):
		return errs.New(errs.Forbidden, name+" leads out of the workspace", "")
	case errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG):
		return bad(name+" cannot be used as a file", "list the files")
	}
	return disk.Error(err, name+" could not be read or written")
}
