package backend

import "macaron/internal/errs"

// Tokenizer is a Generator that shows its prompts as token ids and takes them.
type Tokenizer interface {
	// Encode gives the ids that a request's prompt becomes.
	Encode(r Request) ([]int32, error)
	// Continue gives the prompt of r as ids: those of prompt, then those of served, then the
	// messages behind the one at index at, which is the assistant message that served became,
	// with what the template puts around them. False: the template cannot be continued so, and
	// the prompt has to be made of the messages anew.
	Continue(r Request, at int, prompt, served []int32) (ids []int32, ok bool, err error)
}

// Encode asks g, or refuses for one that cannot tell.
func Encode(g Generator, r Request) ([]int32, error) {
	if t, can := g.(Tokenizer); can {
		return t.Encode(r)
	}
	return nil, errs.New(errs.Unsupported, "the engine does not tell the tokens of a prompt", "use the built-in engine")
}
