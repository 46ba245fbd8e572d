package evaluator

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge/discovery"
)

// Bounds of a line in either direction.
const (
	MaxLine  = 8 << 20
	maxDepth = 24
)

// request is a line to the evaluator.
type request struct {
	ID  int64  `json:"id"`
	Op  string `json:"op"` // hello, decide, sealed
	Ask *Ask   `json:"ask,omitempty"`

	Sealed *discovery.Question `json:"sealed,omitempty"`
}

// response is a line from it.
type response struct {
	ID       int64     `json:"id"`
	Envelope []byte    `json:"envelope,omitempty"`
	Hello    *Greeting `json:"hello,omitempty"`
	Sealed   *bool     `json:"sealed,omitempty"`  // something of the sealed split is in it
	Waiting  *Waiting  `json:"waiting,omitempty"` // nothing is decided yet: ask again
	Error    *failure  `json:"error,omitempty"`
}

// Greeting says who answers, and by which contract.
type Greeting struct {
	Key        []byte     `json:"key"`
	Evaluation ids.Digest `json:"evaluation"`
	Sequence   int64      `json:"sequence"`
}

type failure struct {
	Code    errs.Code `json:"code"`
	Message string    `json:"message"`
	Next    string    `json:"next,omitempty"`
}

// Refuse tells whoever started the process why it answers nothing: in the place of an answer to
// its greeting, so that the reason arrives there as it is, and not as a process that has ended.
func Refuse(out io.Writer, why error) error {
	c := errs.As(why)
	text, err := json.Marshal(response{Error: &failure{c.Code, c.Message, c.Next}})
	if err == nil {
		_, err = out.Write(append(text, '\n'))
	}
	return err
}

// Serve is Answer of what is read from now on.
func (e *Evaluator) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, questions := Listen(ctx, in)
	return e.Answer(ctx, questions, out)
}

// Answer answers lines until there are no more; ctx is that of Listen. A question that is being
// answered when the input ends is left undecided, which spends nothing twice: a sealed test keeps
// its number and alpha for whoever asks again. A line that is too long is the last one.
func (e *Evaluator) Answer(ctx context.Context, questions *Questions, out io.Writer) error {
	defer close(questions.left)
	for l := range questions.lines {
		var a response
		err := l.err
		if err == nil {
			a, err = e.answer(ctx, l.text)
		}
		if unheard(ctx, err) {
			return nil
		}
		if err != nil {
			c := errs.As(err)
			a.Error = &failure{c.Code, c.Message, c.Next}
		}
		text, marshal := json.Marshal(a)
		if marshal != nil {
			return marshal
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
		if errs.CodeOf(err) == errs.TooLarge {
			return err
		}
	}
	return nil
}

// unheard reports whether an answer was not come to because its asker has ended.
func unheard(ctx context.Context, err error) bool {
	stopped := errs.CodeOf(err) == errs.Canceled || errors.Is(err, context.Canceled)
	return err != nil && stopped && errors.Is(context.Cause(ctx), errUnheard)
}

func (e *Evaluator) answer(ctx context.Context, line []byte) (response, error) {
	var q request
	if err := decode(line, &q); err != nil {
		return response{}, e.account.refuse(err, Ask{})
	}
	a := response{ID: q.ID}
	switch {
	case q.Op == "hello":
		s, err := e.contract()
		a.Hello = &Greeting{e.Key(), s.Digest, e.account.seq}
		return a, err
	case q.Op == "decide" && q.Ask != nil:
		var err error
		a.Envelope, err = e.Decide(ctx, *q.Ask)
		if errors.As(err, &a.Waiting) {
			return a, nil
		}
		return a, err
	case q.Op == "sealed" && q.Sealed != nil:
		has, err := e.Has(ctx, *q.Sealed)
		a.Sealed = &has
		return a, err
	}
	return a, errs.New(errs.InvalidRequest, "there is no question "+errs.Clip(q.Op), "ask hello, decide with ask, or sealed with sealed").In("op")
}

// readLine reads one line of bounded length, without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, errs.Newf(errs.TooLarge, "a line is longer than %d bytes", MaxLine)
		}
		line = append(line, part...)
		if err == nil {
			return line[:len(line)-1], nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, io.EOF // half a line is none
		}
	}
}

// decode reads a line strictly.
func decode(line []byte, into any) error {
	depth, text, escaped := 0, false, false
	for _, b := range line {
		switch {
		case escaped:
			escaped = false
		case text && b == '\\':
			escaped = true
		case b == '"':
			text = !text
		case !text && (b == '{' || b == '['):
			if depth++; depth > maxDepth {
				return errs.Newf(errs.FormatInvalid, "a line nests deeper than %d", maxDepth)
			}
		case !text && (b == '}' || b == ']'):
			depth--
		}
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return errs.Wrap(errs.FormatInvalid, err, "a line is not what the protocol has", "docs/formats/evaluation.md tells it")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errs.New(errs.FormatInvalid, "a line has more than one value", "")
	}
	return nil
}
