package tinkerclient

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"macaron/internal/errs"
)

// heartbeat is how often a session is told of while an operation is waited for.
const heartbeat = 10 * time.Second

// shortPause lies between polls that a server does not hold.
const shortPause = 100 * time.Millisecond

// result submits an operation and waits for what it comes to.
func (m *Model) result(ctx context.Context, path string, body map[string]any) (result, error) {
	var promise struct {
		Request string `json:"request_id"`
	}
	if err := m.c.post(ctx, path, body, &promise); err != nil {
		return result{}, err
	}
	if promise.Request == "" {
		return result{}, errs.New(errs.UpstreamFailed, "the training service promises nothing for "+path, "look at its version")
	}
	ask, err := json.Marshal(map[string]string{"request_id": promise.Request})
	if err != nil {
		return result{}, err
	}
	for {
		r, pending, err := m.poll(ctx, ask)
		if err != nil || !pending {
			return r, err
		}
		if err := m.alive(ctx); err != nil {
			return r, err
		}
	}
}

// poll asks once for an outcome.
func (m *Model) poll(ctx context.Context, ask []byte) (r result, pending bool, err error) {
	const path = "retrieve_future"
	var waiting bool
	began := time.Now()
	a, err := m.c.insist(ctx, func() (*answer, error) {
		a, err := m.c.ask(ctx, http.MethodPost, path, "application/json", bytes.NewReader(ask))
		if waiting = err == nil && a.status == http.StatusRequestTimeout; waiting {
			a.status = http.StatusOK
		}
		return a, err
	})
	if err == nil {
		err = a.read(path, &r)
	}
	if err != nil {
		return r, false, err
	}
	if waiting || r.Type == "try_again" {
		if time.Since(began) < shortPause { // it was not held
			err = m.c.o.Wait(ctx, shortPause)
		}
		return r, true, err
	}
	return r, false, r.failure()
}

// failure is what a future says that failed.
func (r *result) failure() error {
	switch {
	case r.Error == "":
		return nil
	case r.By == "user":
		return errs.New(errs.InvalidRequest, "the training service refuses an operation: "+errs.Clip(r.Error), "")
	}
	return errs.New(errs.UpstreamFailed, "an operation of the training service failed: "+errs.Clip(r.Error), "look at its log")
}

// alive tells of the session where that was long ago.
func (m *Model) alive(ctx context.Context) error {
	if time.Since(m.beat) < heartbeat {
		return nil
	}
	m.beat = time.Now()
	return m.c.Alive(ctx, m.session)
}
