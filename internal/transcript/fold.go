package transcript

import (
	"macaron/internal/chat"
	"macaron/internal/record"
)

// Apply moves the run on by one record. Records of other runs, and those it has, are
// passed over.
func (r *Run) Apply(rec record.Record) {
	if opened, ok := rec.Body.(record.RunOpened); ok && r.Records == 0 {
		r.open(rec.Head, opened)
		return
	}
	if r.Records == 0 || rec.Run != r.Head.Run || rec.Seq > 0 && rec.Seq <= r.Seq {
		return
	}
	r.Records++
	r.Seq = max(r.Seq, rec.Seq)
	if b, ok := rec.Body.(record.Feedback); ok { // said of the run, and no part of it
		r.Judged = &b
		return
	}
	r.last = rec.Time
	switch b := rec.Body.(type) {
	case record.Hop:
		r.hop(rec.Head, b)
	case record.ToolCalled:
		r.called(rec.Head, b)
	case record.ToolReturned:
		r.returned(rec.Head, b)
	case record.CellRan:
		r.ran(rec.Head, b)
	case record.RunNote:
		r.note(rec.Head, b)
	case record.RunClosed:
		r.Status, r.Closed, r.Totals = b.Status, &b, b.Totals
	}
}

func (r *Run) open(h record.Head, b record.RunOpened) {
	*r = Run{Head: h, Opened: b, Status: record.RunRunning, Records: 1, Seq: h.Seq,
		calls: map[string]*Call{}, cells: map[string]*Cell{}, since: h.Time, last: h.Time}
}

func (r *Run) hop(h record.Head, b record.Hop) {
	r.Totals.Turns++
	r.Totals.Usage = r.Totals.Usage.Add(b.Usage)
	r.Totals.CostUSD += b.CostUSD
	if b.Error != "" || b.Message == nil {
		r.Failed = append(r.Failed, &Turn{Head: h, Hop: b})
		return
	}
	r.Turns = append(r.Turns, &Turn{Head: h, Hop: b, Acts: r.acts(b)})
}

// acts lists what an answer asks for.
func (r *Run) acts(b record.Hop) []Act {
	var acts []Act
	for _, c := range b.Message.ToolCalls {
		acts = append(acts, Act{ID: c.ID, Name: c.Name})
	}
	if _, code := Code(b.Message.Text()); len(acts) == 0 && code && r.Opened.Mode != "functions" {
		acts = []Act{{ID: b.ID, Name: Python, Fenced: true}}
	}
	return acts
}

// act finds an act of the last turns by its id.
func (r *Run) act(id string) *Act {
	for i := len(r.Turns) - 1; i >= 0; i-- {
		for j := range r.Turns[i].Acts {
			if a := &r.Turns[i].Acts[j]; a.ID == id {
				return a
			}
		}
	}
	return nil
}

// call gives the call of an id, which belongs to the call of a tool, to a cell or to an act.
func (r *Run) call(h record.Head, id, parent string) *Call {
	if c := r.calls[id]; c != nil {
		return c
	}
	c := &Call{ID: id, Time: h.Time, parent: parent}
	r.calls[id] = c
	if outer := r.calls[parent]; outer != nil {
		outer.Calls = append(outer.Calls, c)
	} else if parent != "" {
		cell := r.cell(h, parent)
		cell.Calls = append(cell.Calls, c)
	} else if a := r.act(id); a != nil {
		a.Call = c
	}
	return c
}

func (r *Run) cell(h record.Head, id string) *Cell {
	if c := r.cells[id]; c != nil {
		return c
	}
	c := &Cell{ID: id, Time: h.Time}
	r.cells[id] = c
	if a := r.act(id); a != nil {
		a.Cell = c
	}
	return c
}

func (r *Run) called(h record.Head, b record.ToolCalled) {
	c := r.call(h, b.Call, b.Parent)
	if c.Called == nil {
		r.Totals.ToolCalls++
	}
	c.Called, c.Returned, c.Doubt, c.Time = &b, nil, "", h.Time
}

func (r *Run) returned(h record.Head, b record.ToolReturned) {
	c := r.call(h, b.Call, b.Parent)
	c.Returned, c.Doubt = &b, ""
}

func (r *Run) ran(h record.Head, b record.CellRan) {
	c := r.cell(h, b.Cell)
	if c.Ran == nil {
		r.Totals.Cells++
	}
	c.Ran, c.At = &b, h.Time
}

func (r *Run) note(h record.Head, b record.RunNote) {
	r.Notes = append(r.Notes, Note{b, h.Time})
	switch b.Note {
	case record.NoteMessage:
		r.say(b)
	case record.NoteApprovalAsked:
		r.call(h, b.Call, b.Item).Asked = true
	case record.NoteApproved, record.NoteRefused:
		yes := b.Note == record.NoteApproved
		c := r.call(h, b.Call, "")
		c.Approved, c.Refusal = &yes, b.Text
	case record.NoteRetry, record.NoteAssumeDone:
		if c := r.calls[b.Call]; c != nil {
			c.Doubt, c.Returned = b.Note, nil
		}
	case record.NoteResumed:
		r.Status, r.since = record.RunRunning, h.Time
	}
}

// say puts a text to the model: as the answer of a call, or in the person's place.
func (r *Run) say(b record.RunNote) {
	if a := r.act(b.Call); b.Call != "" && a != nil {
		a.Reply = &b.Text
		return
	}
	if t := r.Last(); t != nil {
		t.Said = append(t.Said, b.Text)
		return
	}
	r.Said = append(r.Said, b.Text)
}

// Messages is the conversation as the model is shown it next.
func (r *Run) Messages() []chat.Message {
	out := append([]chat.Message(nil), r.Opened.Messages...)
	for _, s := range r.Said {
		out = append(out, chat.Text(chat.User, s))
	}
	for _, t := range r.Turns {
		out = append(out, t.messages()...)
	}
	return out
}

func (t *Turn) messages() []chat.Message {
	out := []chat.Message{*t.Hop.Message}
	for i := range t.Acts {
		a := &t.Acts[i]
		text, ok := a.Shown()
		switch {
		case !ok:
		case a.Fenced:
			out = append(out, chat.Text(chat.User, text))
		default:
			m := chat.Text(chat.Tool, text)
			m.ToolCallID, m.Name = a.ID, a.Name
			out = append(out, m)
		}
	}
	for _, s := range t.Said {
		out = append(out, chat.Text(chat.User, s))
	}
	return out
}

// Shown is what the model is told of an act.
func (a *Act) Shown() (string, bool) {
	switch {
	case a.Reply != nil:
		return *a.Reply, true
	case a.Cell != nil && a.Cell.Ran != nil:
		return a.Cell.Ran.Shown, true
	case a.Call != nil && a.Call.Returned != nil:
		return a.Call.Returned.Shown, true
	}
	return "", false
}
