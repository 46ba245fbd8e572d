package local

import (
	"slices"
	"strings"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/engine/template"
)

var _ backend.Tokenizer = (*Backend)(nil)

// place stands for the served text while the template is rendered, to find what follows it.
// No template, and hardly a message, has it.
const place = "\u2402served-here\u2403"

// Continue implements backend.Tokenizer. Text that was served is not tokenised again: what
// a model wrote has other tokens than the tokeniser would choose for it, and training and
// cached prefixes need the ones that were there.
func (b *Backend) Continue(r backend.Request, at int, prompt, served []int32) ([]int32, bool, error) {
	if at < 0 || at >= len(r.Messages) || len(served) == 0 {
		return nil, false, nil
	}
	r.Messages = slices.Clone(r.Messages)
	r.Messages[at] = chat.Text(chat.Assistant, place)
	segments, err := b.render(&r)
	if err != nil {
		return nil, false, nil // some templates take results only behind calls; the caller renders the messages as they are
	}
	rest, ok := behind(segments)
	if !ok {
		return nil, false, nil
	}
	tail := b.eng.Tokenizer().EncodeSegments(rest)
	if last := served[len(served)-1]; len(tail) > 0 && tail[0] == last && b.eng.Tokenizer().IsControl(last) {
		tail = tail[1:] // the model has ended its turn itself
	}
	return slices.Concat(prompt, served, tail), true, nil
}

// behind gives the segments after the place, if it stands there once.
func behind(segments []template.Segment) (rest []template.Segment, ok bool) {
	found := 0
	for i, s := range segments {
		_, after, here := strings.Cut(s.Text, place)
		if !here {
			continue
		}
		found += 1 + strings.Count(after, place)
		s.Text = after
		rest = append([]template.Segment{s}, segments[i+1:]...)
	}
	return rest, found == 1
}
