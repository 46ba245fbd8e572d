package session

import (
	"context"
	"time"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// Step is one request of a turn and its answer. The first opens the turn; each later one
// brings tool results.
type Step struct {
	Request string
	Asked   *record.Asked  // nil if nobody will ask for it again
	Results []chat.Message // tool results; of the first step none
	Hops    []record.Hop   // in the order they ended, without summaries
	Joined  *record.Joined // the answer of several specialists, in the place of an answer hop
	Trace   int            // messages of the turn's trace at the step's end
	Status  record.Status  // open, awaiting, delivered or interrupted
	Reason  string         // why it is interrupted
	Deleted []string       // what is not to be had by these identifiers any more

	Opened, Closed time.Time
}

// Message is the step's answer, nil if none was served; what a failed hop had served
// until then counts.
func (s *Step) Message() *chat.Message {
	if s.Joined != nil {
		return &s.Joined.Message
	}
	for i := len(s.Hops) - 1; i >= 0; i-- {
		if h := &s.Hops[i]; h.Hop == record.HopAnswer && h.Message != nil {
			return h.Message
		}
	}
	return nil
}

// Usage sums the step's hops.
func (s *Step) Usage() (sum chat.Usage) {
	for _, h := range s.Hops {
		sum = sum.Add(h.Usage)
	}
	if s.Joined != nil {
		for _, p := range s.Joined.Parts {
			sum = sum.Add(p.Usage)
		}
	}
	return sum
}

// Steps gives a turn and its steps, in order.
func (l *Log) Steps(ctx context.Context, owner, turn string) (Turn, []Step, error) {
	records, err := l.store.Lineage(ctx, owner, turn, 1)
	if err != nil {
		return Turn{}, nil, err
	}
	var t Turn
	var steps []Step
	for _, r := range records {
		t.apply(r)
		if steps = stepped(steps, r); len(steps) > 0 {
			steps[len(steps)-1].Trace = len(t.Trace)
		}
	}
	if len(steps) > 0 {
		state, err := l.store.Turn(ctx, owner, turn)
		if err != nil {
			return t, nil, err
		}
		t.Scope = state.Scope
	}
	if len(steps) == 0 {
		return t, nil, errs.New(errs.NotFound, "there is no such turn", "list your sessions to see what there is")
	}
	return t, steps, nil
}

// stepped adds a record to the steps of its turn.
func stepped(steps []Step, r record.Record) []Step {
	fresh := Step{Request: r.Request, Status: record.StatusOpen, Opened: r.Time}
	switch b := r.Body.(type) {
	case record.TurnOpened:
		fresh.Asked = b.Asked
		return append(steps, fresh)
	case record.ToolResults:
		fresh.Asked, fresh.Results = b.Asked, b.Messages
		return append(steps, fresh)
	}
	if len(steps) == 0 {
		return steps
	}
	last := &steps[len(steps)-1]
	switch b := r.Body.(type) {
	case record.Hop:
		if b.Hop != record.HopSummary {
			last.Hops = append(last.Hops, b)
		}
	case record.Joined:
		last.Joined = &b
	case record.TurnClosed:
		last.Status, last.Reason, last.Closed = b.Status, b.Reason, r.Time
	case record.Deleted:
		last.Deleted = append(last.Deleted, b.Response)
	}
	return steps
}

// Delete records that an answer is not to be had by its identifier any more. Nothing
// else changes: the turn stays in the log and is history of the turns behind it.
func (l *Log) Delete(ctx context.Context, owner, turn, response string) error {
	t, err := l.turn(ctx, owner, turn)
	if err != nil {
		return err
	}
	return l.store.Append(ctx, record.Batch{Records: []record.Record{l.record(t, record.Deleted{Response: response})}})
}
