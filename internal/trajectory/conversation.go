package trajectory

import (
	"time"

	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// Talk is one branch of a conversation, from its first turn to one that none follows.
type Talk struct {
	Session string
	Turns   []Spoken
}

// Spoken is a turn as its participants saw it.
type Spoken struct {
	Turn     string
	Opened   time.Time
	Closed   time.Time
	System   []chat.Message
	Said     []chat.Message // by the person, or by a card in the person's place
	Trace    []chat.Message // answers, and results of tools
	Partial  string         // how far an answer came that was stopped
	Answers  []record.Hop   // the calls of the model that gave the answers, in order
	Status   record.Status
	Contract ids.Digest
	Deleted  bool    // a person has deleted the answer
	Action   *Action // on a card, which the turn came of
	Cards    []Card  // that the answer wrote or changed
}

// Action is what of an Action a model may know: where it was done, and the declared keys
// whose values it saw. The text that it saw is that of the turn.
type Action struct {
	ID       string     `json:"id"`
	Surface  string     `json:"surface"`
	Revision ids.Digest `json:"revision"`
	Sent     []string   `json:"sent,omitempty"`
}

// ActionOf makes the projection of a record: of the Action's own state it takes nothing.
func ActionOf(a record.CardAction) *Action {
	return &Action{ID: a.Action.ID, Surface: a.Action.Origin.Surface, Revision: ids.Digest(a.Action.Origin.Revision), Sent: a.Receipt.Sent}
}

// Told makes the projection of a record for readers who are no model: what became of the
// Action, and what the model saw of it. Of one that no model saw it has the outcome alone.
func Told(a record.CardAction) Receipt {
	r := Receipt{Outcome: a.Receipt.Outcome, Reason: a.Receipt.Reason}
	if a.Receipt.Saw != "" {
		r.Sent, r.Saw = a.Receipt.Sent, a.Receipt.Saw
	}
	return r
}

// ATIF makes the document of a branch. version is that of the program.
func (t Talk) ATIF(version string) Document {
	last := &t.Turns[len(t.Turns)-1]
	d := Document{SchemaVersion: ATIFVersion, SessionID: t.Session, TrajectoryID: last.Turn, Agent: Agent{Name: "macaron", Version: version, Extra: map[string]any{"contract": last.Contract}}, FinalMetrics: &FinalMetrics{}}
	for i := range t.Turns {
		s := &t.Turns[i]
		for _, m := range append(append([]chat.Message(nil), s.System...), s.Said...) {
			d.add(s.said(m))
		}
		s.answered(&d)
	}
	for _, s := range d.Steps {
		if m := s.Metrics; m != nil {
			f := d.FinalMetrics
			f.PromptTokens, f.CompletionTokens, f.CachedTokens, f.CostUSD = f.PromptTokens+m.PromptTokens, f.CompletionTokens+m.CompletionTokens, f.CachedTokens+m.CachedTokens, f.CostUSD+m.CostUSD
		}
		if s.ModelName != "" {
			d.Agent.ModelName = s.ModelName
		}
	}
	d.FinalMetrics.Steps = len(d.Steps)
	return d
}

// said is a message of the person, or one that the client had sent along.
func (s *Spoken) said(m chat.Message) Step {
	step := Step{Source: source(m.Role), Message: m.Text(), Timestamp: stamp(s.Opened)}
	if s.Action != nil && m.Role == chat.User {
		step.Extra = map[string]any{"action": s.Action}
	}
	return step
}

// answered adds a step for each answer of the turn, with the results of the tools that it
// called; what became of its cards stands with the last.
func (s *Spoken) answered(d *Document) {
	begin := len(d.Steps)
	for _, m := range s.Trace {
		switch {
		case m.Role == chat.Assistant:
			d.add(s.step(m, len(d.Steps)-begin))
		case len(d.Steps) > begin && m.Role == chat.Tool && !s.Deleted:
			last := &d.Steps[len(d.Steps)-1]
			if last.Observation == nil {
				last.Observation = &Observation{}
			}
			last.Observation.Results = append(last.Observation.Results, Result{SourceCallID: m.ToolCallID, Content: m.Text()})
		}
	}
	if s.Partial != "" && !s.Deleted {
		d.add(Step{Source: "agent", Message: s.Partial, Timestamp: stamp(s.Closed)})
	}
	if len(d.Steps) == begin {
		return
	}
	extra := map[string]any{"turn": s.Turn, "status": s.Status}
	if len(s.Cards) > 0 && !s.Deleted {
		extra["cards"] = s.Cards
	}
	if s.Deleted {
		extra["deleted"] = true
	}
	d.Steps[len(d.Steps)-1].Extra = extra
}

// step is the nth answer of the turn.
func (s *Spoken) step(m chat.Message, n int) Step {
	one := 1
	step := Step{Source: "agent", Message: m.Text(), Reasoning: m.Reasoning, Timestamp: stamp(s.Closed)}
	if n < len(s.Answers) {
		h := s.Answers[n]
		step.LLMCallCount, step.ModelName = &one, model(h.Adapter.Name, h.Engine.Base)
		step.Metrics = &Metrics{PromptTokens: h.Usage.PromptTokens, CompletionTokens: h.Usage.OutputTokens, CachedTokens: h.Usage.CachedTokens, CostUSD: h.CostUSD.Dollars()}
	}
	if s.Deleted {
		step.Message, step.Reasoning = "", ""
		return step
	}
	for _, c := range m.ToolCalls {
		step.ToolCalls = append(step.ToolCalls, ToolCall{ID: c.ID, Name: c.Name, Arguments: arguments(c.Arguments)})
	}
	return step
}
