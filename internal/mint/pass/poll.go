package pass

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"macaron/internal/errs"
	"macaron/internal/mint"
	"macaron/internal/mint/ledger"
)

// Pauses between polls of a backend that does not hold them, and of one that is away.
const (
	pauseShort = 100 * time.Millisecond
	pauseAway  = time.Second
)

// waiting is what a client is told while there is no outcome.
type waiting struct {
	Type    string `json:"type"`
	Request string `json:"request_id"`
	Queue   string `json:"queue_state"`
	Reason  string `json:"queue_state_reason,omitempty"`
}

// retrieve holds a client's poll, and polls the backend meanwhile as the backend has it:
// some hold polls for longer than clients do, some not at all. While a backend is away its
// promises are pending.
func (p *Pass) retrieve(c *call) (bool, error) {
	id := c.name("request_id")
	r, b, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteRequest, id)
	if err != nil || !ok {
		return false, err
	}
	f, err := factsOf(r)
	if err != nil {
		return true, err
	}
	if f.Final != nil {
		return true, p.send(c, http.StatusOK, f.Final)
	}
	if err := p.o.Local.Heartbeat(c.ctx(), c.owner, r.Session); err != nil && errs.CodeOf(err) != errs.Gone {
		return true, err
	}
	ctx, done := p.untilStop(c.ctx())
	defer done()
	return true, p.poll(ctx, c, b, r, f)
}

// untilStop gives a context of one poll.
func (p *Pass) untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, p.o.Poll)
	go func() {
		select {
		case <-p.o.Stop:
			cancel()
		case <-p.ctx.Done():
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (p *Pass) poll(ctx context.Context, c *call, b *peer, r ledger.Remote, f facts) error {
	again := waiting{"try_again", r.ID, string(mint.Active), ""}
	c.members["request_id"] = text(r.There)
	if c.members["model_id"] != nil {
		delete(c.members, "model_id") // of older clients; the request's own is known
	}
	header := c.r.Header.Clone()
	switch b.speaks(Auto) {
	case JSON:
		header.Set("Accept", "application/json")
	case Proto:
		header.Set("Accept", protobuf)
	}
	for ctx.Err() == nil {
		a, err := b.ask(ctx, http.MethodPost, "retrieve_future", c.join(), false, header)
		pause := pauseShort
		switch {
		case err != nil:
			if code := errs.CodeOf(err); code != errs.UpstreamUnavailable {
				return err
			}
			again.Reason = "the backend " + b.Name + " does not answer"
			pause = pauseAway
		case a.status == http.StatusTooManyRequests:
			again.Queue, again.Reason = string(mint.PausedRateLimit), "the backend "+b.Name+" asks to wait"
			pause = after(a.header)
		case a.status >= 500:
			again.Reason = "the backend " + b.Name + " answers " + strconv.Itoa(a.status)
			pause = pauseAway
		default:
			var pending bool
			if pending, err = p.outcome(c, b, r, f, a, &again); err != nil || !pending {
				return err
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	return p.send(c, http.StatusRequestTimeout, again)
}

// after reads Retry-After.
func after(h http.Header) time.Duration {
	n, err := strconv.ParseFloat(h.Get("Retry-After"), 64)
	if err != nil || n < 0 || n > 30 {
		return pauseAway
	}
	return max(time.Duration(n*float64(time.Second)), pauseShort)
}

// outcome answers with what a poll has come to, unless it is pending still.
func (p *Pass) outcome(c *call, b *peer, r ledger.Remote, f facts, a *answer, again *waiting) (pending bool, err error) {
	if a.proto {
		return false, p.result(c, f.Op, a)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(a.body, &got); err != nil && (a.status/100 == 2 || a.status == http.StatusRequestTimeout) {
		return false, errs.Wrap(errs.UpstreamFailed, err, "the backend "+b.Name+" answered no JSON", "look at its log")
	}
	var kind string
	_ = json.Unmarshal(got["type"], &kind) // what is no text is not try_again
	switch {
	case a.status == http.StatusRequestTimeout || kind == "try_again":
		again.Reason = ""
		_ = json.Unmarshal(got["queue_state"], &again.Queue)
		_ = json.Unmarshal(got["queue_state_reason"], &again.Reason)
		return true, nil
	case a.status == http.StatusNotFound || a.status == http.StatusBadRequest:
		return false, p.send(c, http.StatusOK, map[string]string{"error": "the backend " + b.Name + " does not know its promise any more: " + errs.Clip(string(a.body)), "category": string(mint.ByServer)})
	case a.status/100 != 2:
		return false, p.pass(c, a)
	case got["error"] != nil && got["category"] != nil:
		f.Final = a.body
		if err := p.keep(c.ctx(), r, f); err != nil {
			return false, err
		}
		return false, p.pass(c, a)
	case got["status"] != nil && got["response_payload_size"] != nil:
		got["request_id"] = text(r.ID)
		return false, p.send(c, http.StatusOK, got)
	}
	switch f.Op {
	case mint.OpBack, mint.OpForward, mint.OpSample:
		return false, p.result(c, f.Op, a)
	case mint.OpStep:
		return false, p.pass(c, a)
	}
	return false, p.settle(c, b, r, f, got)
}

// keep writes what is known of a request.
func (p *Pass) keep(ctx context.Context, r ledger.Remote, f facts) error {
	about, err := json.Marshal(f)
	if err != nil {
		return err
	}
	r.About = about
	return p.o.Table.PutRemotes(ctx, []ledger.Remote{r})
}

// result passes on tensors, in the dialect of the client.
func (p *Pass) result(c *call, op mint.Op, a *answer) (err error) {
	wanted := p.o.Wire.WantsProto(c.r)
	switch {
	case wanted && !a.proto:
		a.body, err = p.o.Wire.ResultToProto(op, a.body)
	case a.proto && !wanted && !takesProto(c.r):
		a.body, err = p.o.Wire.ResultToJSON(op, a.body)
		wanted = false
	default:
		wanted = a.proto
	}
	if err != nil {
		return err
	}
	p.o.Wire.Send(c.w, c.r, http.StatusOK, a.body, wanted)
	return nil
}

// takesProto tells whether a client names protobuf among what it takes.
func takesProto(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Accept"), ",")), protobuf)
}

// cancel passes cancel_future on. A backend that has none is left alone.
func (p *Pass) cancel(c *call) (bool, error) {
	r, b, ok, err := p.find(c.ctx(), c.owner, ledger.RemoteRequest, c.name("request_id"))
	if err != nil || !ok {
		return false, err
	}
	c.members["request_id"] = text(r.There)
	ctx, done := b.within(c.ctx())
	defer done()
	a, err := b.ask(ctx, http.MethodPost, c.path, c.join(), false, c.r.Header)
	if err != nil {
		return true, err
	}
	if a.status == http.StatusNotFound {
		return true, p.send(c, http.StatusOK, struct{}{})
	}
	return true, p.pass(c, a)
}
