package evaluator

import (
	"bufio"
	"context"
	"errors"
	"io"

	"macaron/internal/errs"
)

// Questions are the lines of an input. They are read while a question is answered, so that the end
// of the input is heard then too: who asked has ended, however that came, and nobody hears the answer.
type Questions struct {
	lines chan line
	left  chan struct{} // closed when nobody takes lines any more
}

type line struct {
	text []byte
	err  error
}

// errUnheard is the cause by which the context of Listen ends.
var errUnheard = errs.New(errs.Canceled, "whoever asked has ended: the input is closed", "ask again: a question goes on under the number that it had")

// Listen reads an input, one line ahead of what is answered. The context ends with the input; a pipe
// ends with the process that holds its other end, also where that was killed.
func Listen(ctx context.Context, in io.Reader) (context.Context, *Questions) {
	ctx, end := context.WithCancelCause(ctx)
	q := &Questions{make(chan line, 1), make(chan struct{})}
	go func() {
		defer close(q.lines)
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			text, err := readLine(r)
			if errors.Is(err, io.EOF) {
				end(errUnheard)
				return
			}
			select {
			case q.lines <- line{text, err}:
			case <-q.left:
				return
			}
			if err != nil { // where the next line begins, nobody knows
				return
			}
		}
	}()
	return ctx, q
}
