package token

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"macaron/internal/errs"
)

// document is a tokenizer.json, the format of Hugging Face's tokenizers library.
// Truncation and padding are read and not applied: what is too long is the caller's
// decision.
type document struct {
	Version    string          `json:"version"`
	Truncation json.RawMessage `json:"truncation"`
	Padding    json.RawMessage `json:"padding"`
	Added      []addedJSON     `json:"added_tokens"`
	Normalizer json.RawMessage `json:"normalizer"`
	Pre        json.RawMessage `json:"pre_tokenizer"`
	Post       json.RawMessage `json:"post_processor"`
	Decoder    json.RawMessage `json:"decoder"`
	Model      json.RawMessage `json:"model"`
}

// FromJSON builds the tokenizer of a Hugging Face directory from its tokenizer.json and
// those of tokenizer_config.json, special_tokens_map.json, generation_config.json and
// config.json that there are, in this order; a nil companion is absent, and of two that
// say the same thing the first counts. Parts that are not built in are Unsupported,
// by name; a file that contradicts itself is FormatInvalid.
func FromJSON(tokenizer []byte, companions ...[]byte) (*Tokenizer, error) {
	var d document
	if err := strict(tokenizer, &d, "tokenizer.json"); err != nil {
		return nil, err
	}
	c, err := readCompanions(companions)
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{unk: -1, bos: -1, eos: -1}
	ranked, err := t.fromDocument(d)
	if err != nil {
		return nil, err
	}
	if err := t.frameJSON(d.Post, c); err != nil {
		return nil, err
	}
	t.hash = t.digest(ranked)
	return t, nil
}

func (t *Tokenizer) fromDocument(d document) (ranked []uint64, err error) {
	if err := t.normalizerJSON(d.Normalizer); err != nil {
		return nil, err
	}
	if err := t.preJSON(d.Pre); err != nil {
		return nil, err
	}
	if err := t.decoderJSON(d.Decoder); err != nil {
		return nil, err
	}
	return t.modelJSON(d.Model, d.Added)
}

// strict reads a JSON value into a struct that has a field for every member that may
// be there.
func strict(raw []byte, into any, what string) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			return unsupported(what+" has the member "+errs.Clip(name), "")
		}
		return errs.Wrap(errs.FormatInvalid, err, what+" cannot be read: "+errs.Clip(err.Error()), "fetch the file again")
	}
	if d.More() {
		return bad("%s goes on after its value", what)
	}
	return nil
}

func unsupported(what, known string) error {
	if known != "" {
		known = "; built in are: " + known
	}
	return errs.New(errs.Unsupported, fmt.Sprintf("the tokenizer's %s, which is not built in%s", what, known), "serve this model through --upstream")
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// typeOf reads the type of a part.
func typeOf(raw json.RawMessage, what string) (string, error) {
	var x struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		return "", errs.Wrap(errs.FormatInvalid, err, what+" cannot be read", "fetch the file again")
	}
	return x.Type, nil
}

// known refuses a part of a type that is not in the list of those built in.
func known(raw json.RawMessage, what, builtIn string) error {
	kind, err := typeOf(raw, what)
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(builtIn, ", ") {
		if name, _, _ = strings.Cut(name, " "); name == kind {
			return nil
		}
	}
	return unsupported(fmt.Sprintf("%s is of type %q", what, errs.Clip(kind)), builtIn)
}

// maxParts bounds the members of a sequence, and maxNested how deep sequences nest.
const (
	maxParts  = 32
	maxNested = 4
)

// parts takes a sequence apart, nested ones too; member is the name of its list.
func parts(raw json.RawMessage, member, what string, nested int) ([]json.RawMessage, error) {
	if isNull(raw) {
		return nil, nil
	}
	kind, err := typeOf(raw, what)
	if err != nil || kind != "Sequence" {
		return []json.RawMessage{raw}, err
	}
	var members map[string]json.RawMessage
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, bad("%s cannot be read", what)
	}
	if err := json.Unmarshal(members[member], &list); err != nil || len(list) > maxParts || nested > maxNested {
		return nil, bad("%s is no sequence of at most %d parts, nested at most %d deep", what, maxParts, maxNested)
	}
	var flat []json.RawMessage
	for _, part := range list {
		inner, err := parts(part, member, what, nested+1)
		if err != nil {
			return nil, err
		}
		if flat = append(flat, inner...); len(flat) > maxParts {
			return nil, bad("%s has more than %d parts", what, maxParts)
		}
	}
	return flat, nil
}
