package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// attempts is how often a model call is made that fails for reasons that pass.
const attempts = 4

// passing are such reasons.
var passing = []errs.Code{errs.UpstreamUnavailable, errs.UpstreamFailed, errs.Overloaded, errs.RateLimited}

// ask makes one model call and has it on record: the answer, the token ids that were
// served with their log probabilities, and those of the prompt that are new.
func (r *run) ask(ctx context.Context) error {
	delay := time.Second
	for n := 1; ; n++ {
		err := r.hop(ctx)
		if err == nil || n == attempts || ctx.Err() != nil || !slices.Contains(passing, errs.CodeOf(err)) {
			return err
		}
		if err := r.spent(); err != nil {
			return err
		}
		if wait := errs.As(err).RetryAfter; wait > delay {
			delay = min(wait, time.Minute)
		}
		r.h.Pause(ctx, delay)
		delay *= 2
	}
}

// hop is one attempt.
func (r *run) hop(ctx context.Context) error {
	q, h, added, err := r.request()
	if err != nil {
		return err
	}
	r.h.Point("hop")
	all := &backend.Collected{}
	for e, err := range r.h.Generator.Generate(ctx, q) {
		if err != nil {
			return r.failed(ctx, h, all, err)
		}
		all.Add(e)
	}
	if all.Finish == nil {
		return r.failed(ctx, h, all, errs.New(errs.UpstreamFailed, "the engine stopped without an end", "try again"))
	}
	m := r.named(r.unframe(all.Message()))
	h.Message = &m
	blob := all.Record(&h)
	r.h.Point("hop.done")
	prompt := q.Tokens
	switch {
	case blob != nil && len(q.Tokens) > 0:
		blob.Prompt = added
	case blob != nil && len(blob.Prompt) > 0:
		prompt = blob.Prompt
		blob.Prompt, h.Continues = r.follows(prompt)
	}
	bodies := []record.Body{h}
	if word := r.astray(h); word != "" {
		bodies = append(bodies, record.RunNote{Note: record.NoteMessage, Text: word})
	}
	if err := r.commit(ctx, blob, bodies...); err != nil {
		return err
	}
	r.prompt = nil
	if blob != nil {
		r.prompt = prompt
	}
	r.h.Point("hop.recorded")
	return nil
}

// failed has a model call on record that did not come to its end.
func (r *run) failed(ctx context.Context, h record.Hop, all *backend.Collected, cause error) error {
	all.Record(&h)
	h.Continues = ""
	h.Error, h.Detail = string(errs.CodeOf(cause)), errs.Clip(cause.Error())
	if err := r.append(ctx, h); err != nil {
		return err
	}
	return cause
}

// request is what the model is asked next. Added are the prompt's token ids that are new.
func (r *run) request() (q backend.Request, h record.Hop, added []int32, err error) {
	c, o := r.contract, r.t.Opened
	seed := int64(o.Seed + uint64(r.totals().Turns)) //nolint:gosec // any bits are a seed
	sampling := chat.Sampling{Seed: &seed}.Over(c.Sampling.Chat())
	q = backend.Request{
		Messages: r.said(), Tools: o.Tools, ToolChoice: r.choice(o.Tools), ToolPrompt: c.ToolPrompt(), Revision: o.Pins.Adapter, Sampling: sampling,
		MaxTokens: r.step(), Salt: r.owner, Session: r.head.Session, Wanted: backend.Wanted{TokenIDs: true, Rows: true},
	}
	if err := r.frame(&q); err != nil {
		return q, h, nil, err
	}
	h = record.Hop{ID: r.h.IDs.New(ids.Hop), Hop: record.HopAnswer, Adapter: q.Revision, Sampling: sampling}
	if !r.h.Generator.Capabilities().TakesTokens {
		return q, h, nil, nil
	}
	q.Tokens, added, h.Continues, err = r.tokens(q)
	return q, h, added, err
}

// step is how many tokens the next answer may have.
func (r *run) step() int {
	most := r.contract.Agent.StepTokens
	if all := r.t.Opened.Limits.Tokens; all > 0 {
		u := r.totals().Usage
		most = min(most, max(1, all-u.PromptTokens-u.OutputTokens))
	}
	return most
}

// tokens makes the prompt as ids. What was served before is taken as it was, where the
// template allows it; otherwise all is made of the messages, and the hop continues none.
func (r *run) tokens(q backend.Request) (all, added []int32, continues string, err error) {
	engine, ok := r.h.Generator.(backend.Tokenizer)
	if !ok {
		return nil, nil, "", nil
	}
	last := r.t.Last()
	if last != nil && last.Head.Blob != nil && len(r.prompt) > 0 {
		at := lastAssistant(q.Messages)
		all, ok, err = engine.Continue(q, at, r.prompt, last.Head.Blob.Tokens)
		if err != nil {
			return nil, nil, "", err
		}
		if ok {
			return all, all[len(r.prompt)+len(last.Head.Blob.Tokens):], last.Hop.ID, nil
		}
	}
	all, err = engine.Encode(q)
	return all, all, "", err
}

// follows compares a prompt that the server made of messages with what it was shown and
// said before. Where that is the beginning, the hop continues the last one, and only the
// ids behind it are new.
func (r *run) follows(prompt []int32) (added []int32, continues string) {
	last := r.t.Last()
	if last == nil || last.Head.Blob == nil || len(r.prompt) == 0 {
		return prompt, ""
	}
	before := slices.Concat(r.prompt, last.Head.Blob.Tokens)
	if len(prompt) <= len(before) || !slices.Equal(prompt[:len(before)], before) {
		return prompt, ""
	}
	return prompt[len(before):], last.Hop.ID
}

func lastAssistant(messages []chat.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == chat.Assistant {
			return i
		}
	}
	return -1
}

// named gives every call an id that no other of the run has: results are matched by it,
// and effects counted.
func (r *run) named(m chat.Message) chat.Message {
	seen := map[string]bool{}
	for _, t := range r.t.Turns {
		for _, a := range t.Acts {
			seen[a.ID] = true
		}
	}
	for i := range m.ToolCalls {
		if id := m.ToolCalls[i].ID; id == "" || seen[id] || len(id) > 128 || strings.Contains(id, "/") {
			m.ToolCalls[i].ID = backend.NewCallID()
		}
		seen[m.ToolCalls[i].ID] = true
	}
	return m
}

// astray is what a model is told whose answer is neither an act nor an end, or has a call
// beside its acts that was not read.
func (r *run) astray(h record.Hop) string {
	text := h.Message.Text()
	_, code := transcript.Code(text)
	code = code && r.mode() != contract.Functions
	unread := r.unread(text)
	switch {
	case len(h.Message.ToolCalls) > 0:
		return unread
	case code:
		return "" // a mark within code is the code's
	case strings.TrimSpace(text) == "":
		return "The answer was empty. Call a tool, or give the result."
	case h.Finish == chat.FinishLength:
		return fmt.Sprintf("The answer was cut off after %d tokens. Say it shorter.", h.Usage.OutputTokens)
	}
	return unread
}
