//go:build !unix

package homelock

import (
	"os"
	"sync"
)

// Without advisory locks, only this process is kept from opening a home twice.
var (
	mu   sync.Mutex
	held = map[string]*os.File{}
)

func tryLock(f *os.File) (bool, error) {
	mu.Lock()
	defer mu.Unlock()
	if other, ok := held[f.Name()]; ok {
		if _, err := other.Stat(); err == nil { // still open
			return false, nil
		}
	}
	held[f.Name()] = f
	return true, nil
}

// tryShare reports whether nobody holds the lock.
func tryShare(f *os.File) (bool, error) {
	mu.Lock()
	defer mu.Unlock()
	other, ok := held[f.Name()]
	if ok {
		_, err := other.Stat()
		ok = err == nil // still open
	}
	return !ok, nil
}

// unlock is left to the end of the file.
func unlock(*os.File) {}
