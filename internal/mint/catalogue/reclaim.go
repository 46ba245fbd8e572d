package catalogue

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"macaron/internal/disk"
)

// reclaim removes shards that no revision uses and empties those that few do. A shard that is
// younger than the grace may be somebody's whose commit is yet to come.
func (s *sweep) reclaim(ctx context.Context) error {
	old, err := s.shards.before(s.now.Add(-s.Grace))
	if err != nil {
		return err
	}
	use, err := s.Store.ShardUse(ctx)
	if err != nil {
		return err
	}
	for name, size := range old {
		switch {
		case use[name] == 0:
			gone, err := s.shards.remove(name, s.now.Add(-s.Grace))
			if err != nil {
				return err
			}
			if gone {
				s.did.Shards++
				s.did.Bytes += size
			}
		case use[name] < size/2:
			if err := s.empty(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// empty moves the revisions of a shard to another one. The next collection removes it.
func (s *sweep) empty(ctx context.Context, shard string) error {
	for {
		some, err := s.Store.InShard(ctx, shard, atOnce)
		if err != nil || len(some) == 0 {
			return err
		}
		entries := make([][]byte, len(some))
		for i, p := range some {
			if entries[i], err = s.shards.read(p.Place); err != nil {
				return err
			}
			if _, err := decode(entries[i]); err != nil { // damage does not travel
				return err
			}
		}
		places, err := s.shards.append(entries)
		if err != nil {
			return err
		}
		for i, p := range some {
			if err := s.Store.MoveRevision(ctx, p.Published, places[i]); err != nil {
				return err
			}
			s.did.Moved++
		}
	}
}

// before gives the sizes of the shards that were not written since a time and that this
// process does not append to.
func (s *shards) before(t time.Time) (map[string]int64, error) {
	s.mu.Lock()
	mine := s.name
	s.mu.Unlock()
	all, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil, disk.Error(err, "the shards cannot be listed")
	}
	sizes := map[string]int64{}
	for _, e := range all {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process has removed it
		}
		if err != nil {
			return nil, disk.Error(err, "the shards cannot be listed")
		}
		if e.Name() != mine && shardName.MatchString(e.Name()) && info.Mode().IsRegular() && !info.ModTime().After(t) {
			sizes[e.Name()] = info.Size()
		}
	}
	return sizes, nil
}

// remove takes a shard away, unless it turns out to have been written since. Its process
// sees after a write that it is gone, and writes to another.
func (s *shards) remove(name string, since time.Time) (bool, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	var err error
	if f := s.open[name]; f != nil {
		delete(s.open, name)
		err = f.Close()
	}
	aside := "old-" + name
	if gone := s.root.Rename(name, aside); errors.Is(gone, fs.ErrNotExist) {
		return false, disk.Error(err, "a shard cannot be closed")
	} else if err = errors.Join(err, gone); err != nil {
		return false, disk.Error(err, "a shard cannot be removed")
	}
	info, err := s.root.Stat(aside)
	if err == nil && info.ModTime().After(since) {
		return false, disk.Error(s.root.Rename(aside, name), "a shard cannot be put back")
	}
	return true, disk.Error(errors.Join(err, s.root.Remove(aside)), "a shard cannot be removed")
}
