package harness

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"macaron/internal/disk"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// young is how old something must be to be collected: what a run is about to put on
// record is kept first.
const young = 10 * time.Minute

// Kept is what Collect reads of the log.
type Kept interface {
	Owners(ctx context.Context) ([]string, error)
	Runs(ctx context.Context, owner, before string, limit int) ([]record.RunState, error)
	Records(ctx context.Context, owner, session string, after int64, limit int) ([]record.Record, error)
}

// Collect deletes what lies in a home of runs (Deps.Home) and belongs to no run of the log:
// workspaces of runs that were deleted, and contents that no run has kept. It reads the log
// after it has looked at the disk, and can be cut short anywhere: what is gone is gone, and
// the next one finds the rest.
func Collect(ctx context.Context, log Kept, home string, now time.Time) (gone int, err error) {
	there, err := old(home, now.Add(-young))
	if err != nil || len(there) == 0 {
		return 0, err
	}
	wanted, err := keeping(ctx, log)
	if err != nil {
		return 0, err
	}
	for _, c := range there {
		if wanted[c.name] {
			continue
		}
		if err := os.RemoveAll(c.path); err != nil {
			return gone, disk.Error(err, c.path+" cannot be removed")
		}
		gone++
	}
	return gone, nil
}

// candidate is a workspace by its run, or a content by its hash.
type candidate struct{ name, path string }

// old lists them, those unchanged since a time.
func old(home string, since time.Time) (out []candidate, err error) {
	for _, pattern := range []string{"run_*", "files/??/*"} {
		paths, err := filepath.Glob(filepath.Join(home, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			info, err := os.Lstat(p)
			if errors.Is(err, fs.ErrNotExist) || err == nil && info.ModTime().After(since) {
				continue
			}
			if err != nil {
				return nil, disk.Error(err, p+" cannot be looked at")
			}
			name := filepath.Base(p)
			if !strings.HasPrefix(pattern, "run") {
				name = "sha256:" + filepath.Base(filepath.Dir(p)) + name
				if _, err := ids.ParseDigest(name); err != nil {
					continue
				}
			} else if ids.Check(ids.Run, name) != nil {
				continue
			}
			out = append(out, candidate{name, p})
		}
	}
	return out, nil
}

// keeping names the runs of all owners and the contents that they have kept.
func keeping(ctx context.Context, log Kept) (map[string]bool, error) {
	out := map[string]bool{}
	owners, err := log.Owners(ctx)
	for _, owner := range owners {
		for before := ""; err == nil; {
			var list []record.RunState
			if list, err = log.Runs(ctx, owner, before, page); err != nil || len(list) == 0 {
				break
			}
			for _, s := range list {
				out[s.Run], before = true, s.Run
				t, err := read(ctx, log, owner, s.Session)
				if err != nil {
					return nil, err
				}
				for _, f := range t.Files() {
					out[string(f.Digest)] = true
				}
			}
		}
	}
	return out, err
}
