package turn

import (
	"errors"
	"fmt"
	"slices"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/route"
	"macaron/internal/session"
)

// check refuses early what no engine may be asked for.
func (r *Runner) check(q Request) error {
	for i, m := range q.Messages {
		for _, p := range m.Parts {
			if err := r.Media.Check(fmt.Sprintf("messages[%d].content", i), p.Address()); err != nil {
				return err
			}
		}
	}
	return nil
}

// able gives the adapters whose engine can do what a turn asks for: only they may answer it.
// Where there is none, or the forced one is not among them, the error says what is missing. A
// turn that goes on stays with its adapter, whose engine then has to.
func (r *Runner) able(c Catalog, q Request, p *session.Position) (Catalog, error) {
	m := mediaOf(p)
	if p.Continue != nil {
		name := p.Continue.Revision.Name
		return c, unable(backend.CapabilitiesOf(r.Generator, name), q, m.seen(name))
	}
	missing := unable(r.Generator.Capabilities(), q, m.some)
	if missing == nil {
		return c, nil
	}
	all := c.Adapters
	c.Adapters = nil
	for _, a := range all {
		err := unable(backend.CapabilitiesOf(r.Generator, a.Name), q, m.seen(a.Name))
		if err == nil {
			c.Adapters = append(c.Adapters, a)
		} else if a.Name == q.Adapter {
			return c, err
		}
	}
	if len(c.Adapters) == 0 {
		return c, missing
	}
	return c, nil
}

// unable is what a request asks for beyond some capabilities; nil is nothing. kind is that
// of a part in the view that is not text, or "".
func unable(can backend.Capabilities, q Request, kind string) error {
	if kind != "" && !can.Images {
		return unseen(q, kind)
	}
	switch {
	case len(q.Tools) > 0 && !can.Tools:
		return cannot("tools", "the engine cannot call tools")
	case (q.ToolChoice.Mode == "required" || q.ToolChoice.Mode == "function") && !can.ForcedTools:
		return cannot("tool_choice", "the engine cannot be made to call a tool; use \"auto\" or \"none\"")
	case q.Sampling.Logprobs && !can.Logprobs:
		return cannot("logprobs", "the engine does not tell log probabilities")
	case q.Sampling.Formatted() && !can.JSONSchema:
		return cannot("response_format", "the engine cannot be held to a format; leave it out or ask for {\"type\":\"text\"}")
	}
	return nil
}

// ignored lists what is asked for as a wish and cannot be had from this backend.
func (l *life) ignored() []string {
	var out []string
	can := backend.CapabilitiesOf(l.Generator, l.decision.Label)
	if l.request.Reasoning != "" && !can.Reasoning {
		out = append(out, "reasoning_effort")
	}
	if s := l.request.Sampling; !can.Samplers {
		for name, asked := range map[string]bool{"top_k": s.TopK != nil, "min_p": s.MinP != nil, "repetition_penalty": s.RepetitionPenalty != nil} {
			if asked {
				out = append(out, name)
			}
		}
		slices.Sort(out)
	}
	for i, t := range l.request.Tools {
		if t.Strict != nil && *t.Strict && !can.JSONSchema {
			out = append(out, fmt.Sprintf("tools[%d].function.strict", i))
		}
	}
	return out
}

func cannot(field, message string) *errs.Error {
	return errs.New(errs.Unsupported, message, "").In(field)
}

// known refuses a forced adapter before the turn is in the log.
func known(c Catalog, forced string) error {
	if _, ok := c.Find(forced); ok || forced == "" {
		return nil
	}
	return route.NoAdapter(forced).In("model")
}

// withheld refuses tool results for an open turn of an adapter that is for other users of the
// tenant, however the turn was found. One that is nobody's any more may end what it began.
func withheld(c Catalog, q Request, p *session.Position) error {
	if p.Continue == nil {
		return nil
	}
	a, ok := c.Contract.Adapter(p.Continue.Revision.Name)
	if ok && a.Within(q.Owner) && !a.For(q.Owner, q.User) {
		return errs.New(errs.NotFound, "there is no such open turn of this user", "send the results as the user that the calls were made for").In("messages")
	}
	return nil
}

// gone says that the client cannot be reached any more.
func gone(err error) error {
	var coded *errs.Error
	if errors.As(err, &coded) {
		return err
	}
	return errs.Wrap(errs.Canceled, err, "the client went away", "")
}

// shown gives an error of the backend the code that a client may see: the engine's
// own 401 or 404 is not the client's, nor is a model or adapter that cannot be used.
func shown(err error) error {
	e := *errs.As(err)
	switch e.Code {
	case errs.Unauthenticated, errs.Forbidden, errs.NotFound, errs.ModelNotFound, errs.FormatInvalid, errs.ChecksumMismatch:
		e.Code = errs.UpstreamFailed
		e.Err = err
	}
	return &e
}

// finished reports what is wrong with an answer that came to its end.
func finished(choice chat.ToolChoice, m chat.Message, f *chat.Finish) error {
	switch {
	case f == nil:
		return errs.New(errs.UpstreamFailed, "the engine stopped without an end", "send the request again")
	case choice.Mode == "none" && len(m.ToolCalls) > 0:
		return errs.New(errs.UpstreamFailed, "the engine called a tool although tool_choice is \"none\"", "send the request without tools")
	}
	return nil
}
