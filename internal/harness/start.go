package harness

import (
	"context"
	"fmt"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// Run runs a task to its end, or until it waits for a person.
func (h *Harness) Run(ctx context.Context, owner string, task Task, o Options) (Report, error) {
	return h.both(ctx, owner, func(ctx context.Context) (*run, error) { return h.open(ctx, owner, task, o) })
}

// Resume goes on with a run that stands still, under the contract that it began with. A
// call that is in doubt needs a Decision.
func (h *Harness) Resume(ctx context.Context, owner, id string, d Decision, o Options) (Report, error) {
	return h.both(ctx, owner, func(ctx context.Context) (*run, error) { return h.again(ctx, owner, id, d, o) })
}

// Start is Run in the background: it returns once the run is in the log.
func (h *Harness) Start(ctx context.Context, owner string, task Task, o Options) (string, error) {
	return h.behind(ctx, owner, func(ctx context.Context) (*run, error) { return h.open(ctx, owner, task, o) })
}

// Continue is Resume in the background: it returns once that is in the log.
func (h *Harness) Continue(ctx context.Context, owner, id string, d Decision, o Options) error {
	_, err := h.behind(ctx, owner, func(ctx context.Context) (*run, error) { return h.again(ctx, owner, id, d, o) })
	return err
}

func (h *Harness) again(ctx context.Context, owner, id string, d Decision, o Options) (*run, error) {
	h.mu.Lock()
	here := h.active[owner+"\x00"+id] != nil
	h.mu.Unlock()
	if here {
		return nil, errs.New(errs.InvalidRequest, "the run is under way", "wait for its end, or cancel it")
	}
	r, err := h.load(ctx, owner, id, o)
	if err != nil {
		return nil, err
	}
	if err := r.resume(ctx, d); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// both waits for a place, makes a run ready and works on it.
func (h *Harness) both(ctx context.Context, owner string, ready func(context.Context) (*run, error)) (Report, error) {
	wait, err := h.queue()
	if err != nil {
		return Report{}, err
	}
	leave, err := wait(ctx)
	if err != nil {
		return Report{}, err
	}
	defer leave()
	r, err := ready(ctx)
	if err != nil {
		return Report{}, err
	}
	inside, left, err := h.enter(ctx, owner, r.id)
	if err != nil {
		return Report{}, joined(r.stop(ctx, err), err)
	}
	defer left()
	share, err := h.share(inside, r.contract)
	if err != nil {
		return Report{}, joined(r.stop(inside, err), err)
	}
	defer share()
	return r.work(inside)
}

// behind makes a run ready and works on it in the background, when it gets a place.
func (h *Harness) behind(ctx context.Context, owner string, ready func(context.Context) (*run, error)) (string, error) {
	wait, err := h.queue()
	if err != nil {
		return "", err
	}
	r, err := ready(ctx)
	if err != nil {
		_, _ = wait(nil)
		return "", err
	}
	inside, left, err := h.enter(context.WithoutCancel(ctx), owner, r.id)
	if err != nil {
		_, _ = wait(nil)
		return "", joined(r.stop(ctx, err), err)
	}
	go func() {
		defer left()
		share, err := h.share(inside, r.contract)
		if err != nil {
			_, _ = wait(nil)
			err = r.stop(inside, err)
		} else if leave, late := wait(inside); late == nil {
			defer share()
			defer leave()
			_, err = r.work(inside)
		} else {
			share()
			err = r.stop(inside, context.Cause(inside))
		}
		if err != nil {
			h.Logger.Error("a run ended badly", "run", r.id, "err", err)
		}
	}()
	return r.id, nil
}

// share takes one of the places that a contract has for its runs (resources.concurrency).
func (h *Harness) share(ctx context.Context, c *contract.Contract) (leave func(), err error) {
	most := c.Resources.Concurrency
	if most == 0 {
		return func() {}, nil
	}
	h.mu.Lock()
	places := h.shares[c.Hash()]
	if places == nil {
		places = make(chan struct{}, most)
		h.shares[c.Hash()] = places
	}
	h.mu.Unlock()
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, errs.Wrap(errs.Canceled, context.Cause(ctx), "the run was not begun", "")
	}
}

// queue takes a place among those that wait, or refuses. The wait that it returns must be
// called once; without a ctx the place is given back.
func (h *Harness) queue() (wait func(ctx context.Context) (leave func(), err error), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting >= h.Waiting {
		return nil, errs.New(errs.Overloaded, fmt.Sprintf("%d runs wait already", h.Waiting), "try again when some have ended")
	}
	h.waiting++
	return func(ctx context.Context) (func(), error) {
		defer func() { h.mu.Lock(); h.waiting--; h.mu.Unlock() }()
		if ctx == nil {
			return nil, nil
		}
		select {
		case h.places <- struct{}{}:
			return func() { <-h.places }, nil
		case <-ctx.Done():
			return nil, errs.Wrap(errs.Canceled, context.Cause(ctx), "the run was not begun", "")
		}
	}, nil
}

// stop closes a run that nothing was done of, so that it can be resumed, or as cancelled.
func (r *run) stop(ctx context.Context, cause error) error {
	defer r.close()
	end := ending(ctx, cause)
	if end.status == record.RunFailed {
		end.status = record.RunStopped
	}
	return r.append(ctx, record.RunClosed{Status: end.status, Reason: end.reason, Totals: r.t.Totals})
}

// Close stops every run that is under way here, so that it can be resumed, and waits
// until they have.
func (h *Harness) Close() {
	h.mu.Lock()
	h.closed = true
	for _, cancel := range h.active {
		cancel(errStopping)
	}
	h.mu.Unlock()
	h.work.Wait()
}
