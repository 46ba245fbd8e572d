package trajectory

import (
	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// Exchange is a turn of a conversation as its specialist saw it, with what the log has
// about it.
type Exchange struct {
	Opened   record.Head   // of turn.opened, whose consent counts
	History  []record.Head // of the turns that View shows, oldest first
	Root     string        // the first session of its family
	Adapter  adapter.Revision
	Tools    []chat.ToolDef
	View     []chat.Message // what was put to the model before its first answer of the turn
	User     []chat.Message // those of View that are the turn's own
	Trace    []chat.Message // its answers, and results of tools
	Answers  []Answer       // the calls of the model that gave them, in order
	Status   record.Status
	Feedback *record.Feedback // the last; nil: none
	Cards    []Card           // that the answer wrote or changed
}

// Answer is a hop with the head of its record.
type Answer struct {
	Head record.Head
	Hop  record.Hop
}

// TrainableTurn is a turn that may leave as training data. Only TrainingTurn makes one.
type TrainableTurn struct{ of *Exchange }

// TrainingTurn admits a turn as Training admits a run. What it follows is shown in it, so
// all of that must be admissible too.
func TrainingTurn(e *Exchange) (TrainableTurn, error) {
	if err := admit(e.Opened, "the turn "+e.Opened.Turn); err != nil {
		return TrainableTurn{}, err
	}
	for _, h := range e.History {
		if err := admit(h, "the turn "+h.Turn+", which the turn "+e.Opened.Turn+" follows,"); err != nil {
			return TrainableTurn{}, err
		}
	}
	for _, a := range e.Answers {
		if err := admit(a.Head, "the answer "+a.Hop.ID); err != nil {
			return TrainableTurn{}, err
		}
	}
	return TrainableTurn{e}, nil
}

// Exchange is the turn; nobody changes it.
func (t TrainableTurn) Exchange() *Exchange { return t.of }

// Run is the run; nobody changes it.
func (t Trainable) Run() record.Head { return t.run.Head }

// ToolErrors counts the calls of tools that failed.
func (t Trainable) ToolErrors() (n int) {
	for _, c := range t.run.Calls() {
		if c.Returned != nil && c.Returned.Error != nil {
			n++
		}
	}
	return n
}

// Judged is what a person said of the run last; nil: nobody did.
func (t Trainable) Judged() *record.Feedback { return t.run.Judged }

// Status is how the run ended.
func (t Trainable) Status() record.RunStatus { return t.run.Status }

// Pins are the parts that the run was made of.
func (t Trainable) Pins() record.RunPins { return t.run.Opened.Pins }

// Answers are the calls of the model that the run is made of.
func (t Trainable) Answers() []Answer {
	var out []Answer
	for _, turn := range t.run.Turns {
		out = append(out, Answer{turn.Head, turn.Hop})
	}
	return out
}

// SFT is the turn as its specialist saw it, with its answers; those begin at message first.
func (t TrainableTurn) SFT() (row SFTRow, first int) {
	e := t.of
	origin := map[string]any{"session": e.Opened.Session, "turn": e.Opened.Turn, "contract": e.Opened.Contract, "revision": e.Adapter.Hash}
	if len(e.Cards) > 0 {
		origin["cards"] = e.Cards
	}
	return sftRow(append(append([]chat.Message(nil), e.View...), e.Trace...), e.Tools, origin), len(e.View)
}

// GRPO gives a row for each answer, from the served token ids: nothing is tokenised again.
func (t TrainableTurn) GRPO() ([]GRPORow, error) {
	var rows []GRPORow
	for _, a := range t.of.Answers {
		b := a.Head.Blob
		if b == nil || len(b.Prompt) == 0 || a.Hop.Continues != "" || len(b.Logps) != len(b.Tokens) || !finite(b.Logps) {
			return nil, errs.New(errs.Unsupported, "the turn "+t.of.Opened.Turn+" was served without token ids and log probabilities", "serve what is to be trained on with an engine that reports them, such as the built-in one")
		}
		row := GRPORow{Group: t.of.Opened.Turn + "@" + string(t.of.Opened.Contract), Part: len(rows), Prompt: b.Prompt, Revision: a.Hop.Adapter.Hash, Contract: t.of.Opened.Contract, Cards: t.of.Cards}
		row.said(a.Hop.ID, b)
		rows = append(rows, row)
	}
	return rows, nil
}
