package vllm

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"

	"macaron/internal/errs"
	"macaron/internal/limits"
	"macaron/internal/wire/chatapi"
)

// embedding is a decoded request for vectors.
type embedding struct {
	request
	base64 bool
	width  int
	cut    bool // texts that are too long lose their ends
}

// embeddingFields reads the fields of /v1/embeddings into e.
func embeddingFields(e *embedding) map[string]reader {
	return map[string]reader{
		"model": sampling["model"],
		"input": promptField,
		"encoding_format": func(_ *request, f string, raw json.RawMessage) error {
			word, err := chatapi.OneOf(f, raw, "float", "base64")
			e.base64 = word == "base64"
			return err
		},
		"dimensions": func(_ *request, f string, raw json.RawMessage) error {
			n, err := limits.Whole(f, raw, 1, 1<<20)
			e.width = int(n)
			return err
		},
		"request_id":         sampling["request_id"],
		"add_special_tokens": only("the model's own tokens are always added", "true"),
		"truncate_prompt_tokens": func(r *request, f string, raw json.RawMessage) error {
			e.cut = true
			return only("texts are cut where the model ends, or not at all", "-1")(r, f, raw)
		},
		"truncation_side":     only("texts are cut at their ends", `"right"`),
		"priority":            sampling["priority"],
		"cache_salt":          only("vectors are not cached"),
		"embed_dtype":         only("vectors are float32", `"float32"`),
		"endianness":          only("vectors are little-endian", `"native"`, `"little"`),
		"use_activation":      only("the model itself says whether its vectors are normalised"),
		"padding":             only("inputs are not padded", `"do_not_pad"`),
		"mm_processor_kwargs": sampling["mm_processor_kwargs"],
		"messages":            only("texts are embedded, not conversations"),
	}
}

type embeddings struct {
	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Created int64          `json:"created"`
	Model   string         `json:"model"`
	Data    []vector       `json:"data"`
	Usage   *chatapi.Usage `json:"usage"`
	Macaron *note          `json:"macaron,omitempty"`
}

type vector struct {
	Index     int    `json:"index"`
	Object    string `json:"object"`
	Embedding any    `json:"embedding"` // numbers, or their bytes in base64
}

// embed serves POST /v1/embeddings.
func (a *api) embed(w http.ResponseWriter, r *http.Request) {
	out, err := a.vectors(w, r)
	if err != nil {
		a.fail(w, r, err, 0)
		return
	}
	if err := depart(w, out); err != nil {
		a.note(r, errs.Wrap(errs.Canceled, err, "the client went away", ""))
	}
}

func (a *api) vectors(w http.ResponseWriter, r *http.Request) (*embeddings, error) {
	body, err := chatapi.Body(w, r)
	if err != nil {
		return nil, err
	}
	var e embedding
	q, err := decode(body, embeddingFields(&e))
	if err != nil {
		return nil, err
	}
	e.request = *q
	if err := a.embedding(&e); err != nil {
		return nil, err
	}
	inputs, used, err := a.inputs(&e)
	if err != nil {
		return nil, err
	}
	ctx, cancel := a.bounded(r.Context())
	defer cancel()
	rows, err := a.Embedder.EmbedTokens(ctx, inputs)
	if err != nil {
		return nil, err
	}
	h := a.head(r, &e.request, "embd-")
	out := &embeddings{ID: h.ID, Object: "list", Created: h.Created, Model: a.Embedder.Name(), Macaron: h.Macaron, Usage: &chatapi.Usage{PromptTokens: used, TotalTokens: used}}
	for i, row := range rows {
		out.Data = append(out.Data, vector{i, "embedding", e.encode(row)})
	}
	return out, nil
}

// embedding checks a request against the model of embeddings.
func (a *api) embedding(e *embedding) error {
	switch {
	case a.Embedder == nil:
		return errs.New(errs.Unsupported, "this server makes no embeddings", "start it with --embedding-model").In("model")
	case e.model != "" && e.model != a.Embedder.Name():
		return errs.New(errs.ModelNotFound, fmt.Sprintf("The model `%s` makes no embeddings.", errs.Clip(e.model)), "name "+a.Embedder.Name()).In("model")
	case len(e.prompts) == 0:
		return errs.New(errs.InvalidRequest, "input is missing or empty", "send a text or a list of texts").In("input")
	case e.width != 0 && e.width != a.Embedder.Width():
		return errs.New(errs.Unsupported, fmt.Sprintf("the vectors have %d dimensions; the model was not trained to be cut to %d", a.Embedder.Width(), e.width), "leave dimensions out").In("dimensions")
	}
	return nil
}

// inputs encodes the texts and counts their tokens.
func (a *api) inputs(e *embedding) (out [][]int32, used int, err error) {
	for i, p := range e.prompts {
		ids, whole := p.tokens, len(p.tokens)
		if ids == nil {
			ids, whole = a.Embedder.Cut(p.text)
		}
		if most := a.Embedder.MaxTokens(); whole > most && (!e.cut || p.tokens != nil) {
			return nil, 0, errs.New(errs.ContextExceeded, fmt.Sprintf("input %d has %d tokens; the model takes %d.", i, whole, most), "shorten it, or send truncate_prompt_tokens: -1").In("input")
		}
		out, used = append(out, ids), used+len(ids)
	}
	return out, used, nil
}

func (e *embedding) encode(row []float32) any {
	if !e.base64 {
		return row
	}
	b := make([]byte, 0, 4*len(row))
	for _, x := range row {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}
