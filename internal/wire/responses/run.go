package responses

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"macaron/internal/errs"
	"macaron/internal/turn"
	"macaron/internal/wire/sse"
)

// The bounds of what is held of a running response's events. Who asks for older ones is
// told to wait: once it has ended they are told from the log.
const (
	ringEvents = 1 << 16
	ringBytes  = 8 << 20
)

// run is a response in the background, with its events so far.
type run struct {
	api    *API
	owner  string
	stop   context.CancelFunc
	opened chan struct{} // closed once id and report are set
	done   chan struct{} // closed once it is in the log how it ended

	id     string
	report turn.Report
	err    error

	mu      sync.Mutex
	events  []event
	bytes   int
	changed chan struct{} // closed, and made anew, when an event came or it ended
}

func newRun(a *API, owner string, stop context.CancelFunc) *run {
	return &run{api: a, owner: owner, stop: stop, opened: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{})}
}

// enter counts a run in, unless the process is about to end.
func (a *API) enter() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ending {
		return errs.New(errs.Overloaded, "the server is about to stop", "send the request again")
	}
	a.group.Add(1)
	return nil
}

// register makes a run known by its id.
func (a *API) register(r *run, id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running[place{r.owner, id}] = r
	r.id = id
}

// find gives the run of a response, nil when none is under way.
func (a *API) find(owner, id string) *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running[place{owner, id}]
}

// add implements an encoder's emit.
func (r *run) add(e event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events, r.bytes = append(r.events, e), r.bytes+len(e.data)
	for len(r.events) > ringEvents || r.bytes > ringBytes {
		r.bytes -= len(r.events[0].data)
		r.events[0] = event{}
		r.events = r.events[1:]
	}
	r.wake()
	return nil
}

func (r *run) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// finish ends the run: from here on the log tells.
func (r *run) finish(err error) {
	r.api.mu.Lock()
	delete(r.api.running, place{r.owner, r.id})
	r.api.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
	close(r.done)
	r.wake()
}

// errBehind says that a watcher wants events that are held no more.
var errBehind = errors.New("the events are held no more")

// next waits for events after a number, and gives none when there will be no more.
func (r *run) next(ctx context.Context, after int) ([]event, error) {
	for {
		r.mu.Lock()
		events, changed := r.events, r.changed
		r.mu.Unlock()
		if n := len(events); n > 0 && events[n-1].seq > after {
			skip := after + 1 - events[0].seq
			if skip < 0 {
				return nil, errBehind
			}
			return events[skip:n:n], nil
		}
		select {
		case <-r.done:
			r.mu.Lock()
			more := len(r.events) > 0 && r.events[len(r.events)-1].seq > after
			r.mu.Unlock()
			if !more {
				return nil, nil
			}
			continue
		default:
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// watch streams a run's events after a number.
func (a *API) watch(w http.ResponseWriter, r *http.Request, b *run, after int) error {
	out := sse.NewWriter(w, a.Stream)
	defer out.Close()
	if err := out.Start(); err != nil {
		return nil // the client is gone, and the run goes on
	}
	for {
		events, err := b.next(r.Context(), after)
		switch {
		case errors.Is(err, errBehind):
			return tell(out, after+1, errs.New(errs.InvalidRequest, "so early events of a running response are held no more", "ask again when it has ended"))
		case err != nil || len(events) == 0:
			return nil
		}
		for _, e := range events {
			if err := out.Send(e.name, e.data); err != nil {
				return nil
			}
			after = e.seq
		}
	}
}
