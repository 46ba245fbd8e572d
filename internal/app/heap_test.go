package app

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestTheHeapStaysCloseToWhatIsInUse: much more garbage than the pages that are in use
// comes by, and never more of it lies around than is allowed.
func TestTheHeapStaysCloseToWhatIsInUse(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	pages := make([]byte, 256<<20)
	settleHeap()
	var base, m runtime.MemStats
	runtime.ReadMemStats(&base)
	most := uint64(0)
	for range 600 {
		_ = make([]byte, 1<<20+len(pages)%2)
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
	}
	runtime.KeepAlive(pages)
	if limit := base.HeapAlloc + base.HeapAlloc/5; most > limit {
		t.Errorf("the heap grows from %d to %d MB", base.HeapAlloc>>20, most>>20)
	}
}
