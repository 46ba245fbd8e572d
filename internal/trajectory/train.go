package trajectory

import (
	"math"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// Trainable is a run whose records may leave as training data. Only Training makes one, so
// that rows of an evaluation cannot be written by mistake.
type Trainable struct{ run *transcript.Run }

// Training admits a run: one of discovery, or of production where the person has consented.
func Training(r *transcript.Run) (Trainable, error) {
	if err := admit(r.Head, "the run "+r.Head.Run); err != nil {
		return Trainable{}, err
	}
	return Trainable{r}, nil
}

// admit is the one rule about what may be trained on, of runs and of turns.
func admit(h record.Head, what string) error {
	switch p := h.Purpose; {
	case p == record.Discovery, p == record.Production && h.Consent == record.ConsentTrain:
		return nil
	case p == record.Production:
		return errs.New(errs.Forbidden, "nobody has consented to training on "+what, "begin what may be trained on with the consent train")
	default:
		return errs.New(errs.Forbidden, what+" is of the purpose "+string(p)+", which is never trained on", "train on production (with consent) or discovery")
	}
}

// SFTRow is a conversation in the form of OpenAI's fine-tuning files.
type SFTRow struct {
	Messages []SFTMessage   `json:"messages"`
	Tools    []any          `json:"tools,omitempty"`
	Metadata map[string]any `json:"metadata"`
}

// SFTMessage is one of its messages.
type SFTMessage struct {
	Role       chat.Role `json:"role"`
	Content    string    `json:"content"`
	ToolCalls  []SFTCall `json:"tool_calls,omitempty"`
	ToolCallID string    `json:"tool_call_id,omitempty"`
	Name       string    `json:"name,omitempty"`
}

// SFTCall is a call of a tool.
type SFTCall struct {
	ID       string      `json:"id"`
	Type     string      `json:"type"`
	Function SFTFunction `json:"function"`
}

// SFTFunction is what is called; Arguments is the text as served.
type SFTFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// SFT is the conversation of a run as the model was shown it.
func (t Trainable) SFT() SFTRow {
	return sftRow(t.run.Messages(), t.run.Opened.Tools, t.origin())
}

func sftRow(messages []chat.Message, tools []chat.ToolDef, origin map[string]any) SFTRow {
	row := SFTRow{Metadata: origin}
	for _, m := range messages {
		out := SFTMessage{Role: m.Role, Content: m.Text(), ToolCallID: m.ToolCallID, Name: m.Name}
		for _, c := range m.ToolCalls {
			out.ToolCalls = append(out.ToolCalls, SFTCall{c.ID, "function", SFTFunction{c.Name, c.Arguments}})
		}
		row.Messages = append(row.Messages, out)
	}
	for _, d := range tools {
		row.Tools = append(row.Tools, definition(d))
	}
	return row
}

func (t Trainable) origin() map[string]any {
	return map[string]any{"run": t.run.Head.Run, "task": t.run.Opened.Task.ID, "suite": t.run.Opened.Task.Suite, "contract": t.run.Head.Contract, "revision": t.run.Head.Revision, "status": t.run.Status}
}

// GRPORow is one stretch of tokens that were served one behind the other. Completion has
// what the model said (mask 1, with its log probabilities) and what was put to it in
// between (mask 0, log probability 0). All three are equal in length.
type GRPORow struct {
	Run        string           `json:"run"`
	Group      string           `json:"group"` // rows of one task under one contract are compared with each other
	Part       int              `json:"part"`  // of the run; another one begins where its prompt was made anew
	Prompt     []int32          `json:"prompt_ids"`
	Completion []int32          `json:"completion_ids"`
	Logprobs   []float32        `json:"logprobs"`
	Mask       []int            `json:"mask"`
	Spans      []Span           `json:"spans"` // which call of the model said which tokens of Completion
	Revision   ids.Digest       `json:"revision"`
	Contract   ids.Digest       `json:"contract"`
	Status     record.RunStatus `json:"status"`
	Reward     *float64         `json:"reward"`          // null: the export knows none
	Cards      []Card           `json:"cards,omitempty"` // of a turn: what became of the cards that its answer wrote
}

// Span is a stretch of a completion that one call of the model said.
type Span struct {
	Hop    string `json:"hop"`
	From   int    `json:"from"`
	Length int    `json:"length"`
}

// GRPO gives the rows of a run, from the served token ids: nothing is tokenised again.
func (t Trainable) GRPO() ([]GRPORow, error) {
	var rows []GRPORow
	prompts := Prompts(t.run)
	last := ""
	for i, turn := range t.run.Turns {
		b := turn.Head.Blob
		if b == nil || prompts[i] == nil || len(b.Logps) != len(b.Tokens) || !finite(b.Logps) {
			return nil, errs.New(errs.Unsupported, "the run "+t.run.Head.Run+" was served without token ids and log probabilities", "run it on an engine that reports them, such as the built-in one")
		}
		if turn.Hop.Continues == "" || turn.Hop.Continues != last || len(rows) == 0 {
			rows = append(rows, t.row(len(rows), prompts[i]))
		} else {
			rows[len(rows)-1].given(b.Prompt)
		}
		rows[len(rows)-1].said(turn.Hop.ID, b)
		last = turn.Hop.ID
	}
	return rows, nil
}

func (t Trainable) row(part int, prompt []int32) GRPORow {
	h := t.run.Head
	group := t.run.Opened.Task.ID
	if group == "" {
		group = string(ids.DigestOf([]byte(t.run.Opened.Task.Instruction)))
	}
	return GRPORow{Run: h.Run, Group: group + "@" + string(h.Contract), Part: part, Prompt: prompt, Revision: h.Revision, Contract: h.Contract, Status: t.run.Status}
}

func (r *GRPORow) given(tokens []int32) {
	r.Completion = append(r.Completion, tokens...)
	r.Logprobs = append(r.Logprobs, make([]float32, len(tokens))...)
	r.Mask = append(r.Mask, make([]int, len(tokens))...)
}

func (r *GRPORow) said(hop string, b *record.Blob) {
	r.Spans = append(r.Spans, Span{hop, len(r.Completion), len(b.Tokens)})
	r.Completion = append(r.Completion, b.Tokens...)
	r.Logprobs = append(r.Logprobs, b.Logps...)
	for range b.Tokens {
		r.Mask = append(r.Mask, 1)
	}
}

// finite reports whether JSON can say all of them.
func finite(all []float32) bool {
	for _, x := range all {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}
