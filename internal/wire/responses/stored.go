package responses

import (
	"context"
	"encoding/json"
	"slices"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/turn"
)

// api names this wire format in the log.
const api = "responses"

// kept is what the log has of a request, in record.Asked.
type kept struct {
	asked
	Ignored []string `json:"ignored,omitempty"`
}

func encodeAsked(a asked, ignored []string) (json.RawMessage, error) {
	b, err := json.Marshal(kept{asked: a, Ignored: ignored})
	return b, errs.Wrap(errs.Internal, err, "a request cannot be kept", "")
}

// stored is a response as the log has it.
type stored struct {
	head
	turn session.Turn
	step session.Step
}

// load reads a response of an owner.
func (a *API) load(ctx context.Context, owner, id string) (*stored, error) {
	name, n, err := parseID(id)
	if err != nil {
		return nil, err
	}
	t, steps, err := a.Log.Steps(ctx, owner, name)
	if errs.CodeOf(err) == errs.NotFound || err == nil && n >= len(steps) {
		return nil, noResponse(id)
	}
	if err != nil {
		return nil, err
	}
	s := &stored{turn: t, step: steps[n]}
	for _, later := range steps[n:] {
		if slices.Contains(later.Deleted, id) {
			return nil, noResponse(id)
		}
	}
	if s.step.Asked == nil || s.step.Asked.API != api {
		return nil, noResponse(id)
	}
	var k kept
	if err := json.Unmarshal(s.step.Asked.Fields, &k); err != nil {
		return nil, errs.Wrap(errs.FormatInvalid, err, "the log has a malformed response", "restore the log from a backup")
	}
	s.head = head{asked: k.asked, ignored: k.Ignored, report: turn.Reported(t, n, s.step)}
	return s, nil
}

// object is the response as it stands.
func (s *stored) object() *response {
	switch s.step.Status {
	case record.StatusOpen:
		if s.asked.Background && len(s.step.Hops) == 0 {
			return s.head.object(queued)
		}
		return s.head.object(inProgress)
	case record.StatusInterrupted:
		if s.step.Reason == string(errs.Canceled) {
			return s.broken(cancelled, nil, s.step.Message())
		}
		return s.broken(failed, failedFor(s.step.Reason), s.step.Message())
	}
	return s.ended(*s.step.Message(), s.finish(), s.step.Usage())
}

// crashed reports whether the process ended before the answer did.
func (s *stored) crashed() bool {
	return s.step.Status == record.StatusInterrupted && !slices.Contains(errs.Codes(), errs.Code(s.step.Reason))
}

// finish is why the answer ended.
func (s *stored) finish() chat.FinishReason {
	if s.step.Joined != nil {
		return s.step.Joined.Finish
	}
	for _, h := range slices.Backward(s.step.Hops) {
		if h.Hop == record.HopAnswer {
			return h.Finish
		}
	}
	return chat.FinishStop
}

// failedFor says what the log keeps of a failure: its code.
func failedFor(reason string) *failure {
	code := errs.Code(reason)
	if !slices.Contains(errs.Codes(), code) {
		code = errs.Internal
	}
	return &failure{Code: string(code), Message: "the response did not come to its end: " + reason}
}

// replay tells the events again, those after a number. They are the events that were
// streamed, with their numbers, since the encoder cuts the same text alike. A process that
// ended suddenly had streamed more than the log has: then the end follows what the client saw.
func (s *stored) replay(after int, emit func(event) error) error {
	e := s.retelling(after, emit)
	if err := e.begin(); err != nil {
		return err
	}
	if m := s.step.Message(); m != nil {
		if err := e.message(*m); err != nil {
			return err
		}
	}
	if s.crashed() && e.seq <= after {
		e.seq = after + 1
	}
	return e.end(s.object())
}

// opening tells the events, after a number, that come before the answer.
func (s *stored) opening(after int, emit func(event) error) error {
	return s.retelling(after, emit).begin()
}

// retelling is an encoder that leaves out what the client has.
func (s *stored) retelling(after int, emit func(event) error) *encoder {
	return &encoder{head: s.head, emit: func(v event) error {
		if v.seq <= after {
			return nil
		}
		return emit(v)
	}}
}

// message gives the encoder a whole answer.
func (e *encoder) message(m chat.Message) error {
	pieces := []chat.Event{{Reasoning: m.Reasoning}, {Text: m.Text()}}
	for i, c := range m.ToolCalls {
		pieces = append(pieces, chat.Event{ToolCall: &chat.ToolCallDelta{Index: i, ID: c.ID, Name: c.Name, Arguments: c.Arguments}})
	}
	for _, p := range pieces {
		if err := e.add(p); err != nil {
			return err
		}
	}
	return nil
}
