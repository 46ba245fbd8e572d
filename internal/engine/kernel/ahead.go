package kernel

import "sync/atomic"

// Ahead is the weights that the next product will read, in its order, for each worker
// from where its share of them begins. While a worker has nothing to do, because another
// one still works or computes what cannot be shared, the memory would have nothing to do
// either; a pool that knows what comes next lets idle workers bring the beginning of
// their shares into their own second-level caches. Results do not depend on it.
type Ahead struct{ parts [][][]byte } // by worker

// aheadChunk is what an idle worker asks for between two looks at its share, aheadMost
// what it asks for altogether: about what fits beside the rest in its cache.
const (
	aheadChunk = 2 << 10
	aheadMost  = 256 << 10
)

// NewAhead lists what the products of some matrices with few rows begin with.
func NewAhead(threads int, ws ...*Matrix) *Ahead {
	total := 0
	for _, w := range ws {
		total += len(w.data)
	}
	a := &Ahead{}
	for i := range max(threads, 1) {
		lo, hi := i*total/threads, (i+1)*total/threads
		a.parts = append(a.parts, chunks(lo, min(hi, lo+aheadMost), ws))
	}
	return a
}

// chunks cuts bytes [lo, hi) of matrices that stand in one line.
func chunks(lo, hi int, ws []*Matrix) (out [][]byte) {
	for _, w := range ws {
		for at := max(lo, 0); at < min(hi, len(w.data)); at += aheadChunk {
			out = append(out, w.data[at:min(at+aheadChunk, hi, len(w.data))])
		}
		lo, hi = lo-len(w.data), hi-len(w.data)
	}
	return out
}

// aheadState is what one worker knows of the next product and how much of it it has
// asked for; the worker changes at alone.
type aheadState struct {
	next atomic.Pointer[[][]byte]
	last *[][]byte
	at   int
}

// Ahead tells the pool what the product after the coming one will read.
func (p *Pool) Ahead(a *Ahead) {
	for i := range p.workers {
		p.workers[i].ahead.next.Store(&a.parts[i])
	}
}

// fetch asks for some of it, and tells whether there was any.
func (s *aheadState) fetch() bool {
	next := s.next.Load()
	if next == nil {
		return false
	}
	if next != s.last {
		s.last, s.at = next, 0
	}
	if s.at >= len(*next) {
		return false
	}
	fetch((*next)[s.at])
	s.at++
	return true
}
