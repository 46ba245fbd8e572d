// Package template renders a model's own chat template: the Jinja program, carried
// in the model file, that turns messages into the prompt that the model was
// trained on. It is a subset interpreter made for that purpose alone:
//
//   - A template is data from a stranger. It reaches no host object, no file and no
//     network, and every step and every byte that it makes is paid from a budget,
//     so that a bomb stops after bounded work.
//   - What people, tools and models wrote is data too. Every string knows which of
//     its bytes came from the template and which from the conversation, through
//     every operation, and RenderSegments tells them apart, so that no message can
//     imitate a control token.
//
// The environment is that of the transformers library: trim_blocks, lstrip_blocks,
// loop controls, {% generation %}, raise_exception, strftime_now, its tojson.
package template

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"macaron/internal/chat"
	"macaron/internal/engine/token"
	"macaron/internal/errs"
)

// Bounds of a template. The longest known ones have 17 KB and 2,500 tokens.
const (
	MaxSource = 256 << 10 // bytes
	maxTokens = 32 << 10
)

// Template is a parsed template. It is immutable and safe for concurrent use.
type Template struct {
	body  []stmt
	names map[string]bool // every name that is read
	hash  string
}

// Input is what a template may see.
type Input struct {
	Messages            []chat.Message
	Tools               []chat.ToolDef
	AddGenerationPrompt bool
	BOS, EOS            string
	Extra               map[string]any // variables on the allow-list: booleans, numbers, texts
	Now                 time.Time      // for strftime_now; the zero time makes that call fail
}

// Segment is a piece of the prompt; see token.Segment.
type Segment = token.Segment

// Parse reads a template. One that uses what is not built in is a FormatInvalid
// error that names the line.
func Parse(src string) (t *Template, err error) {
	if len(src) > MaxSource {
		return nil, errs.Newf(errs.FormatInvalid, "the chat template has %d bytes, at most %d are allowed", len(src), MaxSource)
	}
	defer caught(&err, "the model's chat template cannot be used")
	p := &parser{toks: scan(src), names: map[string]bool{}}
	body := p.body()
	if p.tok().kind != tokEOF {
		p.fail("unexpected %q", p.tok().text)
	}
	sum := sha256.Sum256([]byte(src))
	return &Template{body: body, names: p.names, hash: "sha256:" + hex.EncodeToString(sum[:])}, nil
}

// Render gives the prompt as one text. It is for display and comparison; to encode
// a prompt use RenderSegments.
func (t *Template) Render(in Input) (string, error) {
	out, err := t.run(in)
	return out.s, err
}

// RenderSegments gives the prompt in pieces that are trusted (written by the
// template's author, or the BOS and EOS texts) or not (from messages, tools,
// Extra), no two neighbours alike.
func (t *Template) RenderSegments(in Input) ([]Segment, error) {
	out, err := t.run(in)
	if err != nil {
		return nil, err
	}
	return out.segments(), nil
}

// Hash is "sha256:" and 64 hex digits over the source.
func (t *Template) Hash() string { return t.hash }

// UsesTools tells whether the template has a place for tool definitions.
func (t *Template) UsesTools() bool { return t.names["tools"] }

func (t *Template) run(in Input) (out text, err error) {
	vars, size, err := variables(in)
	if err != nil {
		return text{}, err
	}
	m := newMachine(in, size)
	defer func() {
		if err != nil {
			out = text{}
		}
	}()
	defer caught(&err, "the model's chat template failed")
	defer m.located()
	m.scope = &scope{vars: vars, parent: m.scope}
	m.run(t.body)
	return m.out.text(), nil
}

// failure carries an error up to Parse or Render, which alone recover it.
type failure struct {
	code errs.Code
	line int
	text string
}

// fail ends parsing or rendering.
func fail(format string, args ...any) {
	panic(failure{code: errs.FormatInvalid, text: fmt.Sprintf(format, args...)})
}

// caught turns a failure into an error; any other panic goes on.
func caught(err *error, what string) {
	switch x := recover().(type) {
	case nil:
	case failure:
		msg := what + ": " + x.text
		if x.line > 0 {
			msg = fmt.Sprintf("%s at line %d: %s", what, x.line, x.text)
		}
		next := "use a model file with a current chat template"
		if x.code == errs.InvalidRequest {
			msg, next = "the model's chat template refuses this conversation: "+x.text, "change the order or content of the messages"
		}
		*err = errs.New(x.code, msg, next)
	default:
		panic(x)
	}
}
