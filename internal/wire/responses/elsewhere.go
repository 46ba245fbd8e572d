package responses

import (
	"context"
	"time"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// A response in the background runs in one process, and its cancellation may come to
// another one, which then asks the others, again and again, until the log says that it ended.
// Who follows it there waits for that too.
const (
	reach  = 5 * time.Second        // how long a cancellation waits for another process
	again  = 200 * time.Millisecond // between two times of asking
	seldom = 2 * time.Second        // and of looking, for those who have waited long
)

// Stop ends what runs here in the background of an owner's turn.
func (a *API) Stop(owner, turn string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for at, r := range a.running {
		if name, _, err := parseID(at.id); err == nil && at.owner == owner && name == turn {
			r.stop()
		}
	}
}

// end stops a response, here or in another process, and waits until it has ended, for a
// while. It gives the response as it stands then.
func (a *API) end(ctx context.Context, owner, id string) (*stored, error) {
	if b := a.find(owner, id); b != nil {
		b.stop()
		<-b.done
	}
	s, err := a.load(ctx, owner, id)
	if err != nil || a.Elsewhere == nil {
		return s, err
	}
	for over := time.Now().Add(reach); s.step.Status == record.StatusOpen && s.asked.Background && time.Now().Before(over); {
		if err := a.Elsewhere(ctx, owner, s.turn.ID); err != nil {
			return s, err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return s, ctx.Err()
		}
		if s, err = a.load(ctx, owner, id); err != nil {
			return s, err
		}
	}
	return s, nil
}

// ended waits until the log says that a response has ended, as long as ctx and the server last.
func (a *API) ended(ctx context.Context, owner, id string) (*stored, error) {
	for pause := again; ; pause = min(pause+pause/4, seldom) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-a.Stopping:
			return nil, errs.New(errs.Overloaded, "the server is about to stop", "ask again, with the number of the last event as starting_after")
		}
		if s, err := a.load(ctx, owner, id); err != nil || s.step.Status != record.StatusOpen {
			return s, err
		}
	}
}
