package record

import (
	"bytes"

	"macaron/internal/chat"
)

// Settle gives a record the body that the log will give back, so that what is in hand and
// what is read later are equal to the byte, and keeps its text. Settling twice costs nothing;
// whoever changes Body must take Text away.
func (r *Record) Settle() error {
	if r.Text != nil {
		return nil
	}
	text, err := EncodeBody(r.Body)
	if err != nil {
		return err
	}
	if body, ok := same(r.Body); ok && !bytes.Contains(text, replaced) {
		r.Body, r.Text = body, text
		return nil
	}
	if r.Body, err = DecodeBody(r.Body.Kind(), text); err == nil {
		r.Text = text
	}
	return err
}

// replaced is how encoding/json writes what was no UTF-8.
var replaced = []byte(`\ufffd`)

// same gives what the text of a body reads back as, for bodies of which that is plain to see:
// empty lists and maps that are left out come back as nil. Raw JSON comes back without its
// layout, and is left to the decoder.
func same(b Body) (Body, bool) {
	switch b := b.(type) {
	case TurnClosed, Summary, SummaryUsed:
		return b, true
	case SessionOpened:
		return b, b.Asked == nil
	case Hop:
		return sameHop(b)
	case TurnOpened:
		if len(b.Tools) > 0 || b.Asked != nil || b.Continued != nil || len(b.Messages) == 0 {
			return nil, false
		}
		b.Tools = nil
		for _, list := range []*[]chat.Message{&b.System, &b.Imported, &b.Messages} {
			if !sameMessages(list) {
				return nil, false
			}
		}
		return b, true
	}
	return nil, false
}

func sameHop(h Hop) (Body, bool) {
	if h.Sampling.ResponseFormat != nil {
		return nil, false
	}
	if len(h.Sampling.Stop) == 0 {
		h.Sampling.Stop = nil
	}
	if len(h.Adapter.Targets) == 0 {
		h.Adapter.Targets = nil
	}
	if h.Message != nil {
		m := []chat.Message{*h.Message}
		if !sameMessages(&m) {
			return nil, false
		}
		h.Message = &m[0]
	}
	if h.Route != nil {
		d := *h.Route
		if len(d.Probabilities) == 0 {
			d.Probabilities = nil
		}
		if len(d.Offered) == 0 {
			d.Offered = nil
		}
		if len(d.Earlier) == 0 {
			d.Earlier = nil
		}
		h.Route = &d
	}
	return h, true
}

// sameMessages copies a list and brings the copies to the form in which they are read back.
func sameMessages(list *[]chat.Message) bool {
	if len(*list) == 0 {
		*list = nil
		return true
	}
	copies := append([]chat.Message(nil), *list...)
	for i := range copies {
		m := &copies[i]
		for _, p := range m.Parts {
			if p.Raw != nil {
				return false
			}
		}
		if len(m.Parts) == 0 {
			m.Parts = nil
		}
		if len(m.ToolCalls) == 0 {
			m.ToolCalls = nil
		}
	}
	*list = copies
	return true
}
