package app

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"macaron/internal/config"
	"macaron/internal/obs"
)

// A process without a model lets garbage gather, unless somebody has set how much.
func TestAProxyLetsGarbageGather(t *testing.T) {
	for was, want := range map[int]int{100: roomy, 50: 50} {
		before := debug.SetGCPercent(was)
		cfg := settings(t, t.TempDir())
		cfg.Upstream = config.Upstream{URL: "http://127.0.0.1:1/v1", Timeout: cfg.Upstream.Timeout}
		a, err := New(cfg, Options{Log: obs.Discard()})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if got := debug.SetGCPercent(before); got != want {
			t.Errorf("%d became %d, not %d", was, got, want)
		}
	}
}

// TestTheHeapStaysCloseToWhatIsInUse: much more garbage than the pages that are in use
// comes by, and never more of it lies around than is allowed. Garbage that comes while a
// collection is under way would count as in use, and how much that is depends on the
// machine, so each collection is waited for.
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
		for try := 0; m.HeapAlloc > m.NextGC && try < 1_000_000; try++ {
			time.Sleep(50 * time.Microsecond)
			runtime.ReadMemStats(&m)
		}
	}
	runtime.KeepAlive(pages)
	if limit := base.HeapAlloc + base.HeapAlloc/5; most > limit {
		t.Errorf("the heap grows from %d to %d MB", base.HeapAlloc>>20, most>>20)
	}
}
