package vllm

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"macaron/internal/chat"
	"macaron/internal/wire/chatapi"
)

// least is what the API sends for "impossible": JSON has no minus infinity.
const least = -9999

// promptLogprob is one entry of prompt_logprobs.
type promptLogprob struct {
	Logprob float64 `json:"logprob"`
	Rank    int     `json:"rank"`
	Decoded string  `json:"decoded_token"`
}

// promptLogprobs writes a map by token id for each token of the prompt, null for the first.
func promptLogprobs(tokens []chat.TokenLogprob) []map[string]promptLogprob {
	out := make([]map[string]promptLogprob, len(tokens))
	for i, t := range tokens {
		if i == 0 {
			continue
		}
		out[i] = map[string]promptLogprob{}
		for _, alt := range append([]chat.TokenLogprob{t}, t.Top...) {
			out[i][strconv.Itoa(int(alt.ID))] = promptLogprob{max(alt.Logprob, least), alt.Rank, readable(alt.Bytes)}
		}
	}
	return out
}

func readable(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// completionLogprobs are those of a completion.
type completionLogprobs struct {
	Offsets  []int                `json:"text_offset"`
	Logprobs []*float64           `json:"token_logprobs"`
	Tokens   []string             `json:"tokens"`
	Top      []map[string]float64 `json:"top_logprobs"`
}

// logprobWriter writes log probabilities of completions; it counts where tokens begin.
type logprobWriter struct {
	top    int
	asIDs  bool
	offset int // in characters
}

// write adds tokens; those of a prompt have none at its beginning.
func (w *logprobWriter) write(tokens []chat.TokenLogprob, prompt bool) *completionLogprobs {
	l := &completionLogprobs{Offsets: []int{}, Logprobs: []*float64{}, Tokens: []string{}, Top: []map[string]float64{}}
	for i, t := range tokens {
		l.Tokens = append(l.Tokens, w.name(t))
		l.Offsets = append(l.Offsets, w.offset)
		w.offset += utf8.RuneCountInString(readable(t.Bytes))
		if prompt && i == 0 {
			l.Logprobs, l.Top = append(l.Logprobs, nil), append(l.Top, nil)
			continue
		}
		l.Logprobs = append(l.Logprobs, ptr(max(t.Logprob, least)))
		top := map[string]float64{w.name(t): max(t.Logprob, least)}
		for _, alt := range t.Top[:min(w.top, len(t.Top))] {
			top[w.name(alt)] = max(alt.Logprob, least)
		}
		l.Top = append(l.Top, top)
	}
	return l
}

func (w *logprobWriter) name(t chat.TokenLogprob) string {
	if w.asIDs {
		return named(t.ID)
	}
	return readable(t.Bytes)
}

func named(id int32) string { return "token_id:" + strconv.Itoa(int(id)) }

func (l *completionLogprobs) add(m *completionLogprobs) *completionLogprobs {
	if l == nil {
		return m
	}
	l.Offsets, l.Logprobs = append(l.Offsets, m.Offsets...), append(l.Logprobs, m.Logprobs...)
	l.Tokens, l.Top = append(l.Tokens, m.Tokens...), append(l.Top, m.Top...)
	return l
}

// chatTokens are those of a chat completion, nil when none are wanted or none came.
func (r *request) chatTokens(tokens []chat.TokenLogprob) *chatapi.Logprobs {
	if !r.chatLogprobs {
		return nil
	}
	l := chatapi.LogprobsOf(tokens)
	if l != nil && r.tokensAsIDs {
		for i := range l.Content {
			l.Content[i].Token = named(tokens[i].ID)
			for j := range l.Content[i].Top {
				l.Content[i].Top[j].Token = named(tokens[i].Top[j].ID)
			}
		}
	}
	return l
}

func idsOf(tokens []chat.TokenLogprob) []int32 {
	out := make([]int32, len(tokens))
	for i, t := range tokens {
		out[i] = t.ID
	}
	return out
}
