package vllm

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"macaron/internal/errs"
	"macaron/internal/wire/chatapi"
)

// inText and inChat are the fields of /tokenize: a text, or a conversation.
var (
	inText = map[string]reader{
		"model":              sampling["model"],
		"prompt":             promptField,
		"add_special_tokens": sampling["add_special_tokens"],
		"return_token_strs":  boolean(func(r *request) *bool { return &r.tokenIDs }),
	}
	inChat = merged(inText, conversation, "messages", "tools", "add_generation_prompt", "continue_final_message", "chat_template", "chat_template_kwargs")
)

// merged adds some fields of one table to another.
func merged(to, from map[string]reader, names ...string) map[string]reader {
	out := maps.Clone(to)
	for _, n := range names {
		out[n] = from[n]
	}
	for _, n := range []string{"media_io_kwargs", "mm_processor_kwargs"} {
		out[n] = sampling[n]
	}
	return out
}

type tokenized struct {
	Count       int      `json:"count"`
	MaxModelLen int      `json:"max_model_len"`
	Tokens      []int32  `json:"tokens"`
	TokenStrs   []string `json:"token_strs"`
	Macaron     *note    `json:"macaron,omitempty"`
}

// tokenize serves POST /tokenize.
func (a *api) tokenize(w http.ResponseWriter, r *http.Request) {
	body, err := chatapi.Body(w, r)
	if err != nil {
		a.fail(w, r, err, 0)
		return
	}
	q, err := decode(body, inChat)
	if err == nil {
		err = a.adapters(q)
		defer q.letGo()
	}
	if err != nil {
		a.fail(w, r, err, 0)
		return
	}
	ids, err := a.countable(q)
	if err != nil {
		a.fail(w, r, err, 0)
		return
	}
	out := tokenized{Count: len(ids), MaxModelLen: a.Engine.Capabilities().Context, Tokens: ids}
	if len(q.ignored) > 0 {
		out.Macaron = &note{Ignored: q.ignored}
	}
	if q.tokenIDs {
		out.TokenStrs = []string{}
		for _, id := range ids {
			out.TokenStrs = append(out.TokenStrs, readable(a.Tokens.Piece(id)))
		}
	}
	writeJSON(w, out)
}

// countable encodes what /tokenize was given.
func (a *api) countable(q *request) ([]int32, error) {
	switch {
	case len(q.Messages) > 0 && len(q.prompts) > 0:
		return nil, errs.New(errs.InvalidRequest, "both prompt and messages are there", "send one of them").In("messages")
	case len(q.Messages) > 0:
		return a.Engine.Encode(q.Request)
	case len(q.prompts) == 1 && q.prompts[0].tokens == nil:
		return a.encode(q.prompts[0].text, q.special == nil || *q.special), nil
	}
	return nil, errs.New(errs.InvalidRequest, "there is no prompt", "send prompt, one text, or messages").In("prompt")
}

// detokenize serves POST /detokenize.
func (a *api) detokenize(w http.ResponseWriter, r *http.Request) {
	body, err := chatapi.Body(w, r)
	if err != nil {
		a.fail(w, r, err, 0)
		return
	}
	var ids []int32
	q, err := decode(body, map[string]reader{"model": sampling["model"], "tokens": func(_ *request, f string, raw json.RawMessage) (err error) {
		ids, err = tokenList(f, raw, 1<<20)
		return err
	}})
	if err == nil {
		err = a.adapters(q)
		defer q.letGo()
	}
	for i, id := range ids {
		if err == nil && int(id) >= a.Tokens.Vocab() {
			err = errs.Newf(errs.InvalidRequest, "Token id %d is out of vocabulary", id).In(fmt.Sprintf("tokens[%d]", i))
		}
	}
	if err == nil && ids == nil {
		err = errs.New(errs.InvalidRequest, "tokens is missing", "send a list of token ids").In("tokens")
	}
	if err != nil {
		a.fail(w, r, err, 0)
		return
	}
	writeJSON(w, map[string]string{"prompt": readable(a.Tokens.Decode(ids))})
}
