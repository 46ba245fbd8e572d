package harness

import (
	"context"
	"fmt"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/record"
	"macaron/internal/tool"
	"macaron/internal/transcript"
)

// loop goes on with a run until it is done. The next step follows from the record alone,
// so that a run goes on in the same way in the process that began it and in any later one:
// an act of the model without an answer is answered; else an answer without acts is the
// end, if the gates agree; else the model is asked.
func (r *run) loop(ctx context.Context) (record.RunClosed, error) {
	if err := r.doubted(); err != nil {
		return record.RunClosed{}, err
	}
	if err := r.start(ctx); err != nil {
		return record.RunClosed{}, err
	}
	for {
		if ctx.Err() != nil {
			return record.RunClosed{}, context.Cause(ctx)
		}
		next := r.next()
		switch {
		case next.final:
			passed, err := r.gates(ctx, next)
			if err != nil {
				return record.RunClosed{}, err
			}
			if passed {
				return record.RunClosed{Status: record.RunDone, Answer: next.answer}, nil
			}
		case next.act != nil:
			if err := r.act(ctx, next); err != nil {
				return record.RunClosed{}, err
			}
		default:
			if err := r.spent(); err != nil {
				return record.RunClosed{}, err
			}
			if err := r.ask(ctx); err != nil {
				return record.RunClosed{}, err
			}
		}
	}
}

// doubted halts a run that has a call of which nobody knows whether it took effect, though
// its failure is on record. (One without a result is met when it is to be made again.)
func (r *run) doubted() error {
	r.state.Lock()
	defer r.state.Unlock()
	for _, c := range r.t.Calls() {
		if c.Returned != nil && c.InDoubt() {
			return inDoubt(c.ID, c.Returned.Name, "failed: "+r.clean(c.Returned.Error.Message))
		}
	}
	return nil
}

// step is what is to be done next.
type step struct {
	turn   *transcript.Turn // the last one
	act    *transcript.Act  // that has no answer; a copy
	at     int              // its place among the turn's
	final  bool             // the model wants to end
	answer string
}

func (r *run) next() step {
	r.state.Lock()
	defer r.state.Unlock()
	t := r.t.Last()
	if t == nil {
		return step{}
	}
	for i := range t.Acts {
		if a := t.Acts[i]; !a.Done() {
			s := step{turn: t, act: &a, at: i}
			if a.Name == transcript.Finish {
				s.answer, s.final = finishing(t, a.ID)
			}
			return s
		}
	}
	if len(t.Acts) == 0 && len(t.Said) == 0 {
		return step{turn: t, final: true, answer: t.Hop.Message.Text()}
	}
	return step{turn: t}
}

// finishing reads the answer of a call that ends the run.
func finishing(t *transcript.Turn, id string) (string, bool) {
	for _, c := range t.Hop.Message.ToolCalls {
		if c.ID == id {
			answer, err := argument([]byte(c.Arguments), "answer")
			return answer, err == nil
		}
	}
	return "", false
}

// act answers one act of the model.
func (r *run) act(ctx context.Context, s step) error {
	if why := r.later(s); why != "" {
		return r.reply(ctx, s.act.ID, why)
	}
	switch {
	case s.act.Name == transcript.Finish:
		return r.reply(ctx, s.act.ID, "The call is not read. Give the answer as {\"answer\": \"...\"}.")
	case s.act.Name == transcript.Python && r.coding():
		return r.cell(ctx, s)
	}
	if err := r.callable(); err != nil {
		return err
	}
	call := tool.Call{ID: s.act.ID, Name: s.act.Name, Arguments: arguments(s.turn, s.act.ID)}
	_, err := r.invoke(ctx, call)
	return err
}

// reply answers an act without doing anything.
func (r *run) reply(ctx context.Context, id, text string) error {
	return r.append(ctx, record.RunNote{Note: record.NoteMessage, Call: id, Text: text})
}

// arguments are those of a call of the model's answer.
func arguments(t *transcript.Turn, id string) []byte {
	for _, c := range t.Hop.Message.ToolCalls {
		if c.ID == id && strings.TrimSpace(c.Arguments) != "" {
			return []byte(c.Arguments)
		}
	}
	return []byte("{}")
}

// later says why an act is not carried out now. The model looks before it goes on: behind
// a result that must be observed nothing of the same answer is done, and in hybrid mode
// what changes something stands alone at the beginning of an answer, so that it follows
// from results that the model has seen.
func (r *run) later(s step) string {
	hybrid := r.mode() == contract.Hybrid
	for i := range s.at {
		before, _ := r.gate.Def(s.turn.Acts[i].Name)
		if before.Observe {
			return "Not done: look at the result of " + before.Name + " first, then call again if it is still right."
		}
		if hybrid && r.changes(s.turn.Acts[i].Name) {
			return "Not done: look at what " + s.turn.Acts[i].Name + " did first, then call again if it is still right."
		}
	}
	if hybrid && s.at > 0 && r.changes(s.act.Name) {
		return "Not done: " + s.act.Name + " changes something and is called by itself, after the results before it were looked at. Call it again if it is still right."
	}
	return ""
}

// changes reports whether a tool changes anything. Code in hybrid mode cannot.
func (r *run) changes(name string) bool {
	d, ok := r.gate.Def(name)
	return ok && d.Effect.Changes()
}

func (r *run) mode() contract.Mode { return contract.Mode(r.t.Opened.Mode) }

// coding reports whether the model may write Python.
func (r *run) coding() bool { return r.codes(&r.t.Opened) }

// spent halts a run whose budget for model calls is used up.
func (r *run) spent() error {
	l, u := r.t.Opened.Limits, r.totals()
	used := u.Usage.PromptTokens + u.Usage.OutputTokens
	switch {
	case l.Turns > 0 && u.Turns >= l.Turns:
		return &halt{status: record.RunTurns, reason: fmt.Sprintf("all %d model calls are made", l.Turns)}
	case l.Tokens > 0 && used >= l.Tokens:
		return &halt{status: record.RunTokens, reason: fmt.Sprintf("%d of %d tokens are used", used, l.Tokens)}
	case l.CostUSD > 0 && u.CostUSD >= l.CostUSD:
		return &halt{status: record.RunMoney, reason: fmt.Sprintf("%s of %s USD are spent", u.CostUSD, l.CostUSD)}
	}
	return nil
}

// callable halts a run that may call no tool any more.
func (r *run) callable() error {
	if most, made := r.t.Opened.Limits.ToolCalls, r.totals().ToolCalls; most > 0 && made >= most {
		return &halt{status: record.RunCalls, reason: fmt.Sprintf("all %d tool calls are made", most)}
	}
	return nil
}

// said is the conversation so far.
func (r *run) said() []chat.Message {
	r.state.Lock()
	defer r.state.Unlock()
	return r.t.Messages()
}
