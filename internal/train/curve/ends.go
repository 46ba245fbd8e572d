package curve

import (
	"sync"

	"macaron/internal/errs"
)

// Ends keeps the first line of a file that grows and the last one. A file may be cut, where a run
// goes on from a checkpoint or begins anew; then it is read from its beginning again.
type Ends struct {
	path string

	mu          sync.Mutex
	at          int64
	first, last Line
}

// NewEnds reads nothing yet; the file may come later.
func NewEnds(path string) *Ends { return &Ends{path: path} }

// Look reads what has come since the last time. Both lines are nil as long as there is none, and
// belong to all who look.
func (e *Ends) Look() (first, last Line, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		lines, next, err := Read(e.path, e.at, 1000)
		if errs.CodeOf(err) == errs.InvalidRequest && e.at > 0 {
			e.at, e.first, e.last = 0, nil, nil
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if len(lines) == 0 {
			return e.first, e.last, nil
		}
		if e.first == nil {
			e.first = lines[0]
		}
		e.at, e.last = next, lines[len(lines)-1]
	}
}
