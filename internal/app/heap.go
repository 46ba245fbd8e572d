package app

import "runtime/debug"

// garbage is how much garbage the heap may gather, in per cent of what is in use.
// Nearly all of that is weights and pages of keys and values, which hold no pointers:
// a collection costs next to nothing, and Go's own 100 would let half of the memory be
// garbage once the pages are full.
const garbage = 10

// roomy is the same for a process without a model, whose heap is small and whose collections
// are a seventh of what a turn costs at Go's own 100.
const roomy = 300

// spendHeap lets garbage gather. What somebody has set with GOGC stays.
func spendHeap() {
	const untouched = 100
	if was := debug.SetGCPercent(roomy); was != untouched {
		debug.SetGCPercent(was)
	}
}

// settleHeap gives back what loading a model left behind and keeps the heap close to
// what is in use from now on. What somebody has set with GOGC stays.
func settleHeap() {
	const untouched = 100
	if was := debug.SetGCPercent(garbage); was != untouched {
		debug.SetGCPercent(was)
	}
	debug.FreeOSMemory()
}
