package catalogue

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sync"

	"macaron/internal/adapter"
	"macaron/internal/disk"
	"macaron/internal/errs"
)

// A shard is a file below blobs/shards that only grows: entries one behind the other. An
// entry is a magic number, the lengths of the two files (uint32 each, little-endian),
// the SHA-256 of both together, and the files. Entries are synced before the index names
// them; what a crash leaves behind the last named one is garbage that nobody reads.
const (
	magic     = "MCRS"
	entryHead = 4 + 4 + 4 + sha256.Size
	packed    = 64 << 10 // larger revisions are directories
	full      = 64 << 20 // a shard of this size takes no more
	opened    = 64       // shards that are kept open for reading
)

const shardsDir = "blobs/shards"

var shardName = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// shards are those of a home. A process appends to shards that it has begun itself.
type shards struct {
	root *os.Root
	dir  string

	mu   sync.Mutex // of what is appended
	name string     // of the shard that takes more; "": none
	out  *os.File
	size int64

	reading sync.RWMutex
	open    map[string]*os.File
}

func openShards(home string) (*shards, error) {
	dir := filepath.Join(home, filepath.FromSlash(shardsDir))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, disk.Error(err, "the directory "+dir+" cannot be made")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, disk.Error(err, "the directory "+dir+" cannot be opened")
	}
	return &shards{root: root, dir: dir, open: map[string]*os.File{}}, nil
}

func encode(f Files) []byte {
	b := make([]byte, entryHead, entryHead+len(f.Config)+len(f.Tensors))
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(f.Config)))
	binary.LittleEndian.PutUint32(b[8:], uint32(len(f.Tensors)))
	b = append(append(b, f.Config...), f.Tensors...)
	sum := sha256.Sum256(b[entryHead:])
	copy(b[12:], sum[:])
	return b
}

func decode(b []byte) (Files, error) {
	if len(b) < entryHead || string(b[:4]) != magic {
		return Files{}, errDamaged("it does not begin with an entry's mark")
	}
	n, m := uint64(binary.LittleEndian.Uint32(b[4:])), uint64(binary.LittleEndian.Uint32(b[8:]))
	body := b[entryHead:]
	if n+m != uint64(len(body)) {
		return Files{}, errDamaged("its lengths do not add up")
	}
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], b[12:entryHead]) {
		return Files{}, errDamaged("its bytes have changed")
	}
	return Files{Config: body[:n:n], Tensors: body[n:]}, nil
}

func errDamaged(why string) error {
	return errs.New(errs.ChecksumMismatch, "an entry of a shard is damaged: "+why, "import the revision again, or restore the home from a backup; check the disk")
}

// append writes entries, makes them durable and tells where each is.
func (s *shards) append(entries [][]byte) ([]adapter.Place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	places := make([]adapter.Place, 0, len(entries))
	for len(entries) > 0 {
		if err := s.begin(); err != nil {
			return nil, err
		}
		some, err := s.write(entries)
		if errors.Is(err, fs.ErrNotExist) { // a collection of another process took the shard, which nothing used
			if err := s.end(); err != nil {
				return nil, disk.Error(err, "the shard cannot be closed")
			}
			continue
		}
		if err != nil {
			return nil, disk.Error(errors.Join(err, s.end()), "the shard cannot be written") // what it holds now is not known
		}
		places, entries = append(places, some...), entries[len(some):]
	}
	return places, nil
}

// write appends as many entries as the shard takes.
func (s *shards) write(entries [][]byte) ([]adapter.Place, error) {
	var chunk []byte
	var places []adapter.Place
	for _, e := range entries {
		if at := s.size + int64(len(chunk)); len(chunk) == 0 || at < full {
			places = append(places, adapter.Place{Shard: s.name, At: at, Len: int64(len(e))})
			chunk = append(chunk, e...)
		}
	}
	_, err := s.out.Write(chunk)
	if err = errors.Join(err, s.out.Sync()); err == nil {
		_, err = s.root.Stat(s.name)
	}
	s.size += int64(len(chunk))
	return places, err
}

// begin sees to a shard that takes more.
func (s *shards) begin() error {
	if s.out != nil && s.size < full {
		return nil
	}
	if err := s.end(); err != nil {
		return disk.Error(err, "the shard cannot be closed")
	}
	name := rand.Text()
	f, err := s.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		s.name, s.out, s.size = name, f, 0
		err = disk.SyncDir(s.dir)
	}
	return disk.Error(err, "a shard cannot be made")
}

func (s *shards) end() error {
	if s.out == nil {
		return nil
	}
	err := s.out.Close()
	s.name, s.out, s.size = "", nil, 0
	return err
}

// read gives the bytes of an entry.
func (s *shards) read(p adapter.Place) ([]byte, error) {
	if !shardName.MatchString(p.Shard) || p.At < 0 || p.Len < entryHead || p.Len > entryHead+packed {
		return nil, errDamaged("the index names a place that cannot be")
	}
	s.reading.RLock()
	f := s.open[p.Shard]
	if f != nil {
		defer s.reading.RUnlock()
		return readEntry(f, p)
	}
	s.reading.RUnlock()
	s.reading.Lock()
	defer s.reading.Unlock()
	f, err := s.openShard(p.Shard)
	if err != nil {
		return nil, err
	}
	return readEntry(f, p)
}

func readEntry(f *os.File, p adapter.Place) ([]byte, error) {
	b := make([]byte, p.Len)
	if _, err := f.ReadAt(b, p.At); errors.Is(err, io.EOF) {
		return nil, errDamaged("the shard ends before it")
	} else if err != nil {
		return nil, disk.Error(err, "the shard "+p.Shard+" cannot be read")
	}
	return b, nil
}

func (s *shards) openShard(name string) (*os.File, error) {
	if f := s.open[name]; f != nil {
		return f, nil
	}
	f, err := s.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.New(errs.NotFound, "the shard "+name+" is not in this home", "share blobs/ among the processes of one database, or export the revision where it is and import it here")
	}
	if err != nil {
		return nil, disk.Error(err, "the shard "+path.Join(s.dir, name)+" cannot be opened")
	}
	for old, file := range s.open {
		if len(s.open) < opened {
			break
		}
		delete(s.open, old)
		if err := file.Close(); err != nil {
			return nil, disk.Error(err, "a shard cannot be closed")
		}
	}
	s.open[name] = f
	return f, nil
}

func (s *shards) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading.Lock()
	defer s.reading.Unlock()
	err := s.end()
	for name, f := range s.open {
		delete(s.open, name)
		err = errors.Join(err, f.Close())
	}
	return disk.Error(errors.Join(err, s.root.Close()), "the shards cannot be closed")
}
