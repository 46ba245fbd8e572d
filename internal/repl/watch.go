package repl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// How often a session is looked at, while a cell runs and while none does. A burst
// between two looks can pass a limit by what it writes in that time.
const (
	lookRunning = 100 * time.Millisecond
	lookIdle    = time.Second
)

// mostFiles bounds the entries of a workspace.
const mostFiles = 100_000

// watch ends a session whose workspace or processes pass limits that the kernel does not
// know: the size of a directory, the CPU time of all processes together, and, without
// control groups, their memory.
func (s *Session) watch(eng engine) {
	for {
		s.mu.Lock()
		wait := lookIdle
		if s.busy {
			wait = lookRunning
		}
		s.mu.Unlock()
		select {
		case <-eng.ended():
			return
		case <-time.After(wait):
		}
		if why := s.excess(eng); why != "" {
			s.pool.log.Warn("a sandbox passed a limit", "session", s.ID, "why", why)
			eng.kill(why)
		}
	}
}

func (s *Session) excess(eng engine) string {
	u := eng.usage()
	if u.cpu > float64(s.limits.CPUSeconds) {
		return fmt.Sprintf("it used more than %d s of CPU time", s.limits.CPUSeconds)
	}
	if u.memory > int64(s.limits.MemoryMB)<<20 {
		return fmt.Sprintf("it used more than %d MB of memory", s.limits.MemoryMB)
	}
	if bytes, files := diskUse(s.Workspace, int64(s.limits.DiskMB)<<20); bytes > int64(s.limits.DiskMB)<<20 {
		return fmt.Sprintf("its workspace has more than %d MB", s.limits.DiskMB)
	} else if files > mostFiles {
		return fmt.Sprintf("its workspace has more than %d files", mostFiles)
	}
	return ""
}

var errEnough = errors.New("enough")

// diskUse counts what lies below dir and stops above most bytes. It never leaves dir,
// whatever links code makes while it looks.
func diskUse(dir string, most int64) (bytes int64, files int) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, 0
	}
	defer root.Close() // a directory handle
	_ = fs.WalkDir(root.FS(), ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil { // removed meanwhile, or closed to us: its entry counts
			return nil
		}
		files++
		if info, err := d.Info(); err == nil {
			bytes += blocks(info)
		}
		if bytes > most || files > mostFiles {
			return errEnough
		}
		return nil
	})
	return bytes, files
}

// blocks is what a file takes on disk: a sparse one takes little.
func blocks(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
