package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLong is returned for an event of more bytes than the reader allows.
var ErrTooLong = errors.New("sse: an event is longer than allowed")

// Event is one event of a stream.
type Event struct {
	Name string // empty means "message"
	Data []byte // lines joined with \n
}

// Reader reads events with LF, CRLF or CR line ends. It holds at most one event,
// of at most max bytes.
type Reader struct {
	r      *bufio.Reader
	max    int
	skipLF bool // the last line ended in CR: an LF now belongs to it
	first  bool
}

// NewReader reads from r; max bounds one event's bytes, comments included.
func NewReader(r io.Reader, max int) *Reader {
	return &Reader{r: bufio.NewReader(r), max: max, first: true}
}

// Next returns the next event that has data. At the end it returns io.EOF; an event
// that the end cut short is dropped, as the format says, with io.ErrUnexpectedEOF.
func (r *Reader) Next() (Event, error) {
	var e Event
	size, some := 0, false
	for {
		line, err := r.line(r.max - size)
		size += len(line) + 1
		switch {
		case errors.Is(err, io.EOF) && (some || len(line) > 0):
			return Event{}, io.ErrUnexpectedEOF
		case err != nil:
			return Event{}, err
		case len(line) > 0:
			some = e.take(line, some)
		case some:
			return e, nil
		default:
			e, size = Event{}, 0
		}
	}
}

// take reads one field into the event and reports whether it has data now.
func (e *Event) take(line []byte, some bool) bool {
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		e.Name = string(value)
	case "data":
		if some {
			e.Data = append(e.Data, '\n')
		}
		e.Data = append(e.Data, value...)
		return true
	}
	return some
}

// line reads up to a line end, which it drops. At the end of the stream it returns
// what is there and io.EOF.
func (r *Reader) line(room int) ([]byte, error) {
	if line, ok := r.buffered(room); ok {
		return line, nil
	}
	var line []byte
	for {
		b, err := r.r.ReadByte()
		if err != nil {
			return line, err
		}
		if r.skipLF {
			r.skipLF = false
			if b == '\n' {
				continue
			}
		}
		if b == '\n' || b == '\r' {
			r.skipLF = b == '\r'
			if r.first {
				r.first, line = false, bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			return line, nil
		}
		if len(line) >= room {
			return nil, ErrTooLong
		}
		line = append(line, b)
	}
}

// buffered gives a line that is in the buffer whole, valid until the next one is read. What
// is less usual, a lone CR among it, is left to line.
func (r *Reader) buffered(room int) ([]byte, bool) {
	if r.skipLF || r.first {
		return nil, false
	}
	b, _ := r.r.Peek(r.r.Buffered()) // never more than there is
	end := bytes.IndexByte(b, '\n')
	if end < 0 || end > room {
		return nil, false
	}
	line := bytes.TrimSuffix(b[:end], []byte("\r"))
	if bytes.IndexByte(line, '\r') >= 0 {
		return nil, false
	}
	_, _ = r.r.Discard(end + 1) // it is there
	return line, true
}

// More reports whether the next event has come already.
func (r *Reader) More() bool {
	b, _ := r.r.Peek(r.r.Buffered()) // never more than there is
	return bytes.Contains(b, []byte("\n\n")) || bytes.Contains(b, []byte("\n\r\n"))
}
