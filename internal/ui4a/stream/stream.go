// Package stream compiles a card while it is being written. A half-written source is
// closed at the last place at which what stands before it can be drawn, and compiled: a
// frame. What cannot be closed, or does not compile, gives no frame, and the last good
// one stays.
//
// A frame depends on the text that has come alone, never on how it was cut, and the last
// script is that of the whole source. A runtime keeps the card's state over two
// frames if the hook signature is the same in both: all that stands before the cut is
// final, so the same hooks were then given the same arguments.
package stream

import (
	"strings"

	"macaron/internal/ui4a"
	"macaron/internal/ui4a/compile"
)

// Frame is one state of a card that is being written.
type Frame struct {
	compile.Result
	Source string // the closed source that was compiled
}

// KeepsState says whether the card has the same hooks as in the frame before.
func (f Frame) KeepsState(before Frame) bool { return f.Hooks["default"] == before.Hooks["default"] }

// Stream takes the source of one card as it comes. The zero value is ready.
type Stream struct {
	text  strings.Builder
	tried string // the closed source that was compiled last
	last  Frame
}

// Write takes the next piece of the source. Beyond ui4a.MaxSource bytes nothing is kept
// but the first byte too many, of which the compiler tells.
func (s *Stream) Write(piece string) {
	s.text.WriteString(piece[:min(len(piece), ui4a.MaxSource+1-s.text.Len())])
}

// Frame gives what can be drawn of the source that has come; fresh says that it is
// another than that of the call before. Before the first that can be drawn it is empty.
func (s *Stream) Frame() (frame Frame, fresh bool) {
	closed, ok := Close(s.text.String())
	if !ok || closed == s.tried {
		return s.last, false
	}
	s.tried = closed
	r, _ := compile.Compile(closed, compile.Options{Partial: true})
	if r.JS == "" || r.JS == s.last.JS {
		return s.last, false
	}
	s.last = Frame{Result: r, Source: closed}
	return s.last, true
}

// End compiles the whole source, which is the same as compiling it at once.
func (s *Stream) End() (compile.Result, []ui4a.Diagnostic) {
	return compile.Compile(s.text.String(), compile.Options{})
}
