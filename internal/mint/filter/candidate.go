package filter

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"macaron/internal/chat"
	"macaron/internal/record"
	"macaron/internal/trajectory"
)

// candidate is something trainable on its way to rows.
type candidate struct {
	origin    Provenance
	messages  []Message
	train     []int
	own       int  // the first message that is new in this turn, or of the run
	calls     bool // a message is more than a role and a text
	notText   bool
	toolError bool
	failed    bool // a run that did not end well
	truncated bool
	feedback  *record.Feedback
	tokens    func() ([]trajectory.GRPORow, error)
	changes   []string
}

func ofTurn(t trajectory.TrainableTurn) *candidate {
	e := t.Exchange()
	sft, first := t.SFT()
	c := &candidate{origin: origin(e.Opened, e.Adapter.Name, e.Root), feedback: e.Feedback, tokens: t.GRPO, own: first - len(e.User)}
	c.origin.Revision = e.Adapter.Hash
	for _, h := range e.History {
		c.origin.Shows = append(c.origin.Shows, h.Turn)
	}
	c.origin.Cards = labels(e.Cards)
	c.answers(e.Answers)
	c.take(sft, first)
	for _, m := range append(append([]chat.Message(nil), e.View...), e.Trace...) {
		c.notText = c.notText || foreign(m)
	}
	for _, m := range e.Trace {
		c.toolError = c.toolError || m.Role == chat.Tool && toolFailed.MatchString(m.Text())
	}
	return c
}

// labels are what became of the cards of an answer.
func labels(cards []trajectory.Card) (out []CardLabel) {
	for _, c := range cards {
		l := CardLabel{Surface: c.Surface, Revision: c.Revision, Outcome: cmp.Or(string(c.Outcome), "none"), Rounds: c.Rounds}
		for _, r := range c.Receipts {
			if l.Actions == nil {
				l.Actions = map[string]int{}
			}
			l.Actions[string(r.Outcome)]++
		}
		out = append(out, l)
	}
	return out
}

func ofRun(t trajectory.Trainable) *candidate {
	head, pins := t.Run(), t.Pins()
	c := &candidate{origin: origin(head, pins.Adapter.Name, head.Session), toolError: t.ToolErrors() > 0, failed: t.Status() != record.RunDone, feedback: t.Judged(), tokens: t.GRPO}
	c.origin.Revision = pins.Adapter.Hash
	c.answers(t.Answers())
	c.take(t.SFT(), 0)
	for c.own < len(c.messages)-1 && c.messages[c.own].Role == string(chat.System) {
		c.own++
	}
	return c
}

func origin(h record.Head, adapter, root string) Provenance {
	return Provenance{Owner: h.Owner, Session: h.Session, Root: root, Turn: h.Turn, Run: h.Run, Contract: h.Contract, Adapter: adapter, Purpose: h.Purpose,
		Consent: h.Consent, ConsentRecord: h.ID, Time: h.Time.UTC(), Filter: Version, Changes: []string{}, Hops: []string{}}
}

func (c *candidate) answers(all []trajectory.Answer) {
	for _, a := range all {
		c.origin.Hops = append(c.origin.Hops, a.Hop.ID)
		c.truncated = a.Hop.Finish == chat.FinishLength
	}
}

// take copies the messages; what is learned are the assistant's from the first on.
func (c *candidate) take(row trajectory.SFTRow, first int) {
	for i, m := range row.Messages {
		text := m.Content
		if !utf8.ValidString(text) {
			text = strings.ToValidUTF8(text, "\uFFFD")
		}
		c.messages = append(c.messages, Message{string(m.Role), text})
		c.calls = c.calls || len(m.ToolCalls) > 0
		if i >= first && m.Role == chat.Assistant {
			c.train = append(c.train, i)
		}
	}
	c.spans()
}

// spans name the call behind each message that is learned. Where calls and messages do not
// go one to one, nothing is claimed.
func (c *candidate) spans() {
	if len(c.train) != len(c.origin.Hops) {
		return
	}
	for k, i := range c.train {
		c.origin.Spans = append(c.origin.Spans, Span{c.origin.Hops[k], i, i + 1})
	}
}

func foreign(m chat.Message) bool {
	for _, p := range m.Parts {
		if p.Kind != "text" {
			return true
		}
	}
	return false
}

// asked is what people said in this turn; learned what the model is to say.
func (c *candidate) asked() string {
	var texts []string
	for _, m := range c.messages[min(c.own, len(c.messages)):] {
		if m.Role == string(chat.User) {
			texts = append(texts, m.Content)
		}
	}
	return strings.Join(texts, "\n")
}

func (c *candidate) learned() string {
	var texts []string
	for _, i := range c.train {
		texts = append(texts, c.messages[i].Content)
	}
	return strings.Join(texts, "\n")
}

func (c *candidate) chars() (n int) {
	for _, m := range c.messages {
		n += utf8.RuneCountInString(m.Content)
	}
	return n
}

// correct puts a person's correction in the place of the last answer.
func (c *candidate) correct() {
	if c.feedback == nil || c.feedback.Correction == "" || len(c.train) == 0 {
		return
	}
	last := c.train[len(c.train)-1]
	c.messages[last].Content = strings.ToValidUTF8(c.feedback.Correction, "\uFFFD")
	c.origin.Spans = nil  // no call of the model has said it
	c.train = []int{last} // what led to the answer that was corrected is not learned
	c.changes = append(c.changes, "correction")
	c.truncated = false
}
