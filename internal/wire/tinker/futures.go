package tinker

import (
	"context"
	"math"
	"net/http"
	"time"

	"macaron/internal/limits"
	"macaron/internal/mint"
)

// bigResult is the size from which a client that asks for it is told of a result before it
// is sent, so that it can make room.
const bigResult = 1 << 20

// maxWait is the longest that a request for many futures may ask to wait.
const maxWait = 40 * time.Second

type tryAgain struct {
	Type    string     `json:"type"`
	Request string     `json:"request_id"`
	Queue   mint.Queue `json:"queue_state"`
	Reason  string     `json:"queue_state_reason,omitempty"`
}

type failed struct {
	Error    string        `json:"error"`
	Category mint.Category `json:"category"`
}

// retrieve holds the request until there is an outcome or the poll's time is over.
func (a *api) retrieve(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	id, peek := o.text("request_id", limits.MetadataText), o.flag("allow_metadata_only", false)
	o.need("request_id")
	o.name("model_id") // of older clients; the request's own is known
	if err := o.close(); err != nil {
		return err
	}
	ctx, done := a.untilStop(r.Context())
	defer done()
	out, err := a.Service.Retrieve(ctx, a.owner(r), id, a.Poll)
	if err != nil && ctx.Err() != nil && r.Context().Err() == nil {
		out, err = mint.Outcome{Request: id, State: mint.Pending}, nil // by the stop: the client comes back
	}
	if err != nil {
		return err
	}
	return a.outcome(w, r, out, peek)
}

// untilStop gives a context that ends when this process is about to.
func (a *api) untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if a.Stop != nil {
		go func() {
			select {
			case <-a.Stop:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return ctx, cancel
}

func (a *api) outcome(w http.ResponseWriter, r *http.Request, out mint.Outcome, peek bool) error {
	switch {
	case out.State == mint.Pending:
		queue := out.Queue
		if queue == "" {
			queue = mint.Active
		}
		return send(w, r, http.StatusRequestTimeout, encode(tryAgain{"try_again", out.Request, queue, out.Reason}), jsonType)
	case out.Failure != nil:
		return a.answer(w, r, failed{out.Failure.Message, out.Failure.Category})
	case peek && out.Bytes >= bigResult:
		return a.answer(w, r, map[string]any{"status": "complete_metadata", "request_id": out.Request, "response_payload_size": out.Bytes})
	}
	b, contentType := result(out, wantsProto(r))
	return send(w, r, http.StatusOK, b, contentType)
}

type completion struct {
	State   string `json:"state"`
	Request string `json:"request_id"`
	Bytes   int64  `json:"response_payload_uncompressed_size,omitempty"`
}

// retrieveMany waits for any promise of a sampler that is kept after a cursor.
func (a *api) retrieveMany(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	target := o.object("target")
	sampler := target.id("sampling_session_id")
	target.of("cloned_sampler_id")
	o.of("retrieved_request_ids") // results are kept until the session ends, seen or not
	cursor, wait := o.whole("prev_cursor", 0, 0, math.MaxInt64), o.number("timeout", a.Poll.Seconds(), 0, math.MaxInt32)
	o.fail(target.close())
	if err := o.close(); err != nil {
		return err
	}
	done, next, err := a.Service.Finished(r.Context(), a.owner(r), sampler, cursor, min(time.Duration(wait*float64(time.Second)), maxWait))
	if err != nil {
		return err
	}
	return a.answer(w, r, map[string]any{"completions": completions(done), "cursor": next})
}

func completions(done []mint.Outcome) []completion {
	all := []completion{}
	for _, d := range done {
		c := completion{"finished", d.Request, d.Bytes}
		if d.State == mint.Failed {
			c = completion{State: "failed", Request: d.Request}
		}
		all = append(all, c)
	}
	return all
}

func (a *api) cancel(w http.ResponseWriter, r *http.Request) error {
	o, err := body(r)
	if err != nil {
		return err
	}
	o.need("request_id")
	id := o.text("request_id", limits.MetadataText)
	if err := o.close(); err != nil {
		return err
	}
	if err := a.Service.Cancel(r.Context(), a.owner(r), id); err != nil {
		return err
	}
	return a.answer(w, r, struct{}{})
}
