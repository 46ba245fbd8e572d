package vllm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// text are the fields that only completions have.
var text = map[string]reader{
	"prompt":     promptField,
	"max_tokens": maxTokens(0),
	"echo":       boolean(func(r *request) *bool { return &r.echo }),
	"logprobs": func(r *request, f string, raw json.RawMessage) error {
		n, err := limits.Whole(f, raw, 0, limits.TopLogprobs)
		r.logprobs = ptr(int(n))
		return err
	},
	"suffix":        only("there is no filling in", `""`),
	"prompt_embeds": only("prompts are text or tokens", "[]"),
}

// defaultTokens is how long a completion gets when nobody says.
const defaultTokens = 16

// promptField reads a string, a list of strings, token ids, or a list of lists of them.
func promptField(r *request, field string, raw json.RawMessage) error {
	if raw[0] != '[' {
		s, err := limits.Text(field, raw, limits.TextBytes)
		r.prompts = []prompt{{text: s}}
		return err
	}
	items, err := limits.List(field, raw, 1<<20)
	if err != nil || len(items) == 0 {
		return err
	}
	if items[0][0] != '"' && items[0][0] != '[' {
		ids, err := tokenList(field, raw, 1<<20)
		r.prompts = []prompt{{tokens: ids}}
		return err
	}
	if len(items) > listPrompts {
		return errs.New(errs.TooLarge, fmt.Sprintf("prompt list length %d exceeds the maximum allowed count of %d.", len(items), listPrompts), "send fewer").In(field)
	}
	for i, item := range items {
		p, err := onePrompt(fmt.Sprintf("%s[%d]", field, i), item)
		if err != nil {
			return err
		}
		r.prompts = append(r.prompts, p)
	}
	return nil
}

func onePrompt(at string, raw json.RawMessage) (p prompt, err error) {
	if raw[0] == '[' {
		p.tokens, err = tokenList(at, raw, 1<<20)
		return p, err
	}
	p.text, err = limits.Text(at, raw, limits.TextBytes)
	return p, err
}

// complete serves POST /v1/completions.
func (a *api) complete(w http.ResponseWriter, r *http.Request) {
	q, prompts, err := a.readCompletion(w, r)
	if err != nil {
		a.fail(w, r, err, 0)
		return
	}
	defer q.letGo()
	jobs := q.jobs(prompts)
	out := &completions{q: q, head: a.head(r, q, "cmpl-"), lines: make([]line, len(jobs)), decode: a.Tokens.Decode}
	out.head.Object = "text_completion"
	for i := range out.lines {
		out.lines[i].index, out.lines[i].of = i, prompts[i/q.n]
		out.lines[i].probs = logprobWriter{asIDs: q.tokensAsIDs, top: q.Sampling.TopLogprobs}
	}
	if !q.stream {
		if err := a.run(r, jobs, &wholeText{completions: out, w: w}); err != nil {
			a.fail(w, r, err, 0)
		}
		return
	}
	s := a.newStream(w)
	a.serveStream(w, r, jobs, &textStream{completions: out, stream: s}, s)
}

func (a *api) readCompletion(w http.ResponseWriter, r *http.Request) (*request, [][]int32, error) {
	body, err := chatapi.Body(w, r)
	if err != nil {
		return nil, nil, err
	}
	q, err := decode(body, text, sampling)
	if err != nil {
		return nil, nil, err
	}
	if err := q.finishCompletion(); err != nil {
		return nil, nil, err
	}
	if err := a.adapters(q); err != nil {
		return nil, nil, err
	}
	return q, a.tokensOf(q), nil
}

// finishCompletion checks what the fields of a completion mean together.
func (r *request) finishCompletion() error {
	switch {
	case len(r.prompts) == 0 || len(r.prompts) == 1 && r.prompts[0].text == "" && len(r.prompts[0].tokens) == 0:
		return errs.New(errs.InvalidRequest, "Either prompt or prompt_embeds must be provided and non-empty.", "send a prompt").In("prompt")
	case r.maxTokens == nil:
		r.maxTokens = ptr(defaultTokens)
	case *r.maxTokens == 0 && !r.echo:
		return errs.New(errs.InvalidRequest, "max_tokens must be at least 1, got 0.", "with echo, 0 scores the prompt").In("max_tokens")
	}
	r.MaxTokens = max(*r.maxTokens, 1)
	r.Sampling.Logprobs = true
	if r.logprobs != nil {
		r.Sampling.TopLogprobs = *r.logprobs
		if r.echo && r.Wanted.PromptLogprobs == nil {
			r.Wanted.PromptLogprobs = r.logprobs
		}
	}
	r.Wanted.Prompt = r.Wanted.Prompt || r.echo
	return nil
}

// tokensOf encodes the prompts. A prompt is the client's own: control tokens in it count.
func (a *api) tokensOf(q *request) [][]int32 {
	out := make([][]int32, len(q.prompts))
	for i, p := range q.prompts {
		if out[i] = p.tokens; p.tokens == nil {
			out[i] = a.encode(p.text, q.special == nil || *q.special)
		}
	}
	return out
}

func (a *api) encode(text string, special bool) []int32 {
	ids := a.Tokens.Encode(text, true)
	if bos := a.Tokens.BOS(); special && a.Tokens.AddBOS() && (len(ids) == 0 || ids[0] != bos) {
		ids = append([]int32{bos}, ids...)
	}
	if ids == nil {
		ids = []int32{}
	}
	return ids
}

// completions is what whole and streamed completions share.
type completions struct {
	q      *request
	head   head
	lines  []line
	usage  chatapi.Usage
	decode func([]int32) []byte
}

// line is one choice.
type line struct {
	index  int
	of     []int32 // its prompt
	probs  logprobWriter
	prompt []chat.TokenLogprob
	text   strings.Builder
	all    textChoice
}

type textChoice struct {
	Index          int                        `json:"index"`
	Text           string                     `json:"text"`
	Logprobs       *completionLogprobs        `json:"logprobs"`
	FinishReason   *string                    `json:"finish_reason"`
	StopReason     any                        `json:"stop_reason"`
	TokenIDs       []int32                    `json:"token_ids,omitempty"`
	PromptTokenIDs []int32                    `json:"prompt_token_ids,omitempty"`
	PromptLogprobs []map[string]promptLogprob `json:"prompt_logprobs,omitempty"`
	Macaron        *choiceNote                `json:"macaron,omitempty"`
}

type textCompletion struct {
	head
	Choices []textChoice   `json:"choices"`
	Usage   *chatapi.Usage `json:"usage,omitempty"`
}

// piece turns an event into what it adds to its choice.
func (s *completions) piece(i int, e chat.Event) textChoice {
	l, c := &s.lines[i], textChoice{Index: i, Text: e.Text}
	first := i%s.q.n == 0
	tokens := e.Tokens
	switch {
	case e.Start != nil:
		addUsage(&s.usage, chat.Usage{PromptTokens: e.Start.PromptTokens, CachedTokens: e.Start.CachedTokens}, first)
		s.begin(l, &c, e.Start)
		return c
	case e.Finish != nil:
		tokens = e.Finish.Tokens
		c.Text = s.q.stopText(e.Finish)
		c.FinishReason, c.StopReason = ptr(string(e.Finish.Reason)), stopReason(e.Finish)
	case e.Choice != nil:
		c.Macaron = noteOf(e.Choice.Probabilities)
	}
	if *s.q.maxTokens == 0 { // only the prompt was asked for
		c.Text, tokens = "", nil
	}
	addUsage(&s.usage, chat.Usage{OutputTokens: len(tokens)}, false)
	if s.q.logprobs != nil {
		c.Logprobs = l.probs.write(tokens, false)
	}
	if s.q.tokenIDs {
		c.TokenIDs = idsOf(tokens)
	}
	return c
}

// begin tells the prompt, as far as it was asked for. All choices of a prompt echo it.
func (s *completions) begin(l *line, c *textChoice, start *chat.Start) {
	if l.index%s.q.n == 0 {
		l.prompt = start.Prompt
	} else {
		l.prompt = s.lines[l.index-l.index%s.q.n].prompt
	}
	if s.q.echo {
		c.Text = s.promptText(l)
		if s.q.logprobs != nil {
			c.Logprobs = l.probs.write(l.prompt, true)
		}
	} else if s.q.logprobs != nil && !s.q.stream { // an answer without tokens has a list all the same
		c.Logprobs = l.probs.write(nil, false)
	}
	if s.q.tokenIDs {
		c.PromptTokenIDs = l.of
	}
	if s.q.Wanted.PromptLogprobs != nil && !s.q.stream {
		c.PromptLogprobs = promptLogprobs(l.prompt)
	}
}

func (s *completions) promptText(l *line) string {
	if p := s.q.prompts[l.index/s.q.n]; p.tokens == nil {
		return p.text
	}
	return readable(s.decode(l.of))
}
