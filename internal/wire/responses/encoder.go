package responses

import (
	"encoding/json"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/errs"
)

// encoder makes the events of a response, numbered from 0. It is given the answer in
// pieces of any size and cuts them itself, so that the events of a stored answer, given
// whole, are those that were streamed.
type encoder struct {
	head
	emit func(event) error

	seq  int
	n    int // items begun
	open *opened
	rank int // of the open item: reasoning 0, text 1, calls from 2
	err  error
}

// event is one of a stream, as its bytes.
type event struct {
	seq  int
	name string
	data []byte
}

// opened is the item that is being told.
type opened struct {
	item
	kind  kind
	text  strings.Builder
	cut   cutter
	index int
}

// kind says how an item's text is told.
type kind struct {
	name string // of its events
	part func(string) piece
}

var (
	thinking = kind{"response.reasoning_text", reasoningText}
	speaking = kind{"response.output_text", outputText}
	calling  = kind{"response.function_call_arguments", nil}
)

// body is what all events have members of.
type body struct {
	Type         string    `json:"type"`
	Sequence     int       `json:"sequence_number"`
	Response     *response `json:"response,omitempty"`
	ItemID       string    `json:"item_id,omitempty"`
	OutputIndex  *int      `json:"output_index,omitempty"`
	ContentIndex *int      `json:"content_index,omitempty"`
	Item         *item     `json:"item,omitempty"`
	Part         *piece    `json:"part,omitempty"`
	Delta        *string   `json:"delta,omitempty"`
	Text         *string   `json:"text,omitempty"`
	Name         string    `json:"name,omitempty"`
	Arguments    *string   `json:"arguments,omitempty"`
	Logprobs     *[]any    `json:"logprobs,omitempty"`
}

func (e *encoder) send(name string, b body) error {
	if e.err != nil {
		return e.err
	}
	b.Type, b.Sequence = name, e.seq
	data, err := json.Marshal(b)
	if err == nil {
		err = e.emit(event{seq: e.seq, name: name, data: data})
	}
	e.seq++
	e.err = err
	return err
}

func (e *encoder) whole(name string, r *response) error { return e.send(name, body{Response: r}) }

// begin tells that the response exists.
func (e *encoder) begin() error {
	first := inProgress
	if e.asked.Background {
		first = queued
	}
	if err := e.whole("response.created", e.object(first)); err != nil {
		return err
	}
	if e.asked.Background {
		if err := e.whole("response.queued", e.object(queued)); err != nil {
			return err
		}
	}
	return e.whole("response.in_progress", e.object(inProgress))
}

// add takes a piece of the answer.
func (e *encoder) add(v chat.Event) error {
	if v.Reasoning != "" {
		if err := e.piece(0, thinking, item{Type: "reasoning", Summary: &[]any{}, Content: &[]piece{}}, v.Reasoning); err != nil {
			return err
		}
	}
	if v.Text != "" {
		if err := e.piece(1, speaking, item{Type: "message", Role: "assistant", Content: &[]piece{}}, v.Text); err != nil {
			return err
		}
	}
	if c := v.ToolCall; c != nil {
		empty := ""
		return e.piece(2+c.Index, calling, item{Type: "function_call", CallID: c.ID, Name: c.Name, Arguments: &empty}, c.Arguments)
	}
	return nil
}

// piece tells of more text of the item of a rank, after beginning the item if it is new.
func (e *encoder) piece(rank int, k kind, fresh item, text string) error {
	if e.open == nil || e.rank != rank {
		if fresh.Type == "function_call" && fresh.CallID == "" {
			return errs.New(errs.UpstreamFailed, "the engine mixed the pieces of two tool calls", "ask for the answer without stream")
		}
		if err := e.close(completed); err != nil {
			return err
		}
		if err := e.start(rank, k, fresh); err != nil {
			return err
		}
	}
	e.open.text.WriteString(text)
	return e.open.cut.add(text, e.delta)
}

func (e *encoder) start(rank int, k kind, fresh item) error {
	fresh.ID, fresh.Status = itemID(fresh.Type, e.id(), e.n), inProgress
	e.open, e.rank = &opened{item: fresh, kind: k, index: e.n}, rank
	e.n++
	if err := e.send("response.output_item.added", body{OutputIndex: &e.open.index, Item: &fresh}); err != nil || k.part == nil {
		return err
	}
	empty := k.part("")
	return e.send("response.content_part.added", e.at(body{Part: &empty}))
}

// at says which item an event is about, and that it is its first part.
func (e *encoder) at(b body) body {
	b.ItemID, b.OutputIndex = e.open.ID, &e.open.index
	if e.open.kind.part != nil {
		b.ContentIndex = new(int)
	}
	return b
}

func (e *encoder) delta(text string) error {
	return e.send(e.open.kind.name+".delta", e.spoken(e.at(body{Delta: &text})))
}

// spoken adds the list that events of text always have.
func (e *encoder) spoken(b body) body {
	if e.open.kind.name == speaking.name {
		b.Logprobs = &[]any{}
	}
	return b
}

// close ends the open item.
func (e *encoder) close(status string) error {
	o := e.open
	if o == nil {
		return nil
	}
	if err := o.cut.flush(e.delta); err != nil {
		return err
	}
	text, done := o.text.String(), o.item
	done.Status = status
	b := e.spoken(e.at(body{}))
	if o.kind.part == nil {
		done.Arguments, b.Arguments, b.Name = &text, &text, o.Name
	} else {
		b.Text = &text
	}
	if err := e.send(o.kind.name+".done", b); err != nil {
		return err
	}
	if o.kind.part != nil {
		part := o.kind.part(text)
		done.Content = &[]piece{part}
		if err := e.send("response.content_part.done", e.at(body{Part: &part})); err != nil {
			return err
		}
	}
	e.open = nil
	return e.send("response.output_item.done", body{OutputIndex: &o.index, Item: &done})
}

// end tells the whole response: after its last item if it came to its end.
func (e *encoder) end(r *response) error {
	if r.Status == completed || r.Status == incomplete {
		if err := e.close(r.Status); err != nil {
			return err
		}
	}
	name := "response." + r.Status
	if r.Status == cancelled { // the API has no event for it
		name = "response.failed"
	}
	return e.whole(name, r)
}
