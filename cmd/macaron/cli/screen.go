package cli

import (
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"
)

// screen is a terminal that nothing printed can steer: control characters are struck out of
// what is written. Names, reasons, recipes and answers come from clients and models.
type screen struct {
	to   io.Writer
	mu   sync.Mutex // a log's lines and a command's share one
	rest []byte     // the first bytes of a character whose others are not there yet
}

// OnScreen is where a program prints to; a terminal as a screen.
func OnScreen(f *os.File) io.Writer {
	if IsTerminal(f) {
		return &screen{to: f}
	}
	return f
}

// OnTerminal tells whether somebody sees what is printed as it comes.
func OnTerminal(w io.Writer) bool {
	_, ok := w.(*screen)
	return ok
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, p...)
	whole := len(s.rest)
	for back := 1; back < utf8.UTFMax && back <= len(s.rest); back++ {
		if tail := s.rest[len(s.rest)-back:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				whole -= back
			}
			break
		}
	}
	_, err := io.WriteString(s.to, Plain(string(s.rest[:whole])))
	s.rest = append(s.rest[:0], s.rest[whole:]...)
	return len(p), err
}

// control tells what steers a terminal: control characters of one byte and of two, but for line
// ends and tabs.
func control(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0
}

// Plain strikes out control characters: what a model says must not steer a terminal.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if control(r) {
			return -1
		}
		return r
	}, s)
}

// Cell is a text as one field of a line: without what steers a terminal, ends the line or the
// field, or turns the direction of what is behind it.
func Cell(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == 0x2028 || r == 0x2029:
			return ' '
		case control(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, s)
}

// IsTerminal tells whether a stream is a terminal.
func IsTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
