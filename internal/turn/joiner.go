package turn

import (
	"sync"

	"macaron/internal/backend"
	"macaron/internal/chat"
)

// between stands between the answers of two parts.
const between = "\n\n"

// joiner makes one stream of those of several parts: the events of the first part that has
// not ended go out as they come, those of the parts behind it are held.
type joiner struct {
	mu    sync.Mutex
	out   Sink
	all   backend.Collected // what went out
	held  [][]chat.Event
	ended []bool
	at    int  // the part that is told now
	said  bool // it has said something
}

// event takes an event of a part.
func (j *joiner) event(part int, e chat.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if part != j.at {
		j.held[part] = append(j.held[part], e)
		return nil
	}
	return j.tell(e)
}

// end says that a part has no more events.
func (j *joiner) end(part int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended[part] = true
	for j.at < len(j.ended) && j.ended[j.at] {
		j.at, j.said = j.at+1, false
		if j.at == len(j.ended) {
			return nil
		}
		for _, e := range j.held[j.at] {
			if err := j.tell(e); err != nil {
				return err
			}
		}
		j.held[j.at] = nil
	}
	return nil
}

// tell sends an event on, after what parts it from the text before.
func (j *joiner) tell(e chat.Event) error {
	if e.Text != "" && !j.said && j.all.Text() != "" {
		if err := j.send(chat.Event{Text: between}); err != nil {
			return err
		}
	}
	j.said = j.said || e.Text != ""
	return j.send(e)
}

func (j *joiner) send(e chat.Event) error {
	j.all.Add(e)
	return j.out.Event(e)
}

// partSink is the Sink of one part.
type partSink struct {
	*joiner
	part int
}

// Chosen implements Sink: the whole turn has told.
func (s *partSink) Chosen(Report) error { return nil }

// Event implements Sink.
func (s *partSink) Event(e chat.Event) error { return s.event(s.part, e) }

// Done implements Sink: the whole turn will tell.
func (s *partSink) Done(Report, chat.FinishReason, chat.Usage) error { return nil }
