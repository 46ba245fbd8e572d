package token

import (
	"encoding/json"
	"fmt"
)

const postBuiltIn = "BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing"

// postJSON is what all post-processors may have as members.
type postJSON struct {
	Type      string                 `json:"type"`
	Single    []map[string]pieceJSON `json:"single"`
	Pair      json.RawMessage        `json:"pair"`
	Specials  map[string]specialJSON `json:"special_tokens"`
	Sep       *tokenID               `json:"sep"`
	Cls       *tokenID               `json:"cls"`
	Trim      bool                   `json:"trim_offsets"`
	PrefixOld bool                   `json:"add_prefix_space"`
	UseRegex  bool                   `json:"use_regex"`
}

type pieceJSON struct {
	ID     string `json:"id"`
	TypeID int    `json:"type_id"`
}

type specialJSON struct {
	ID     string   `json:"id"`
	IDs    []int64  `json:"ids"`
	Tokens []string `json:"tokens"`
}

// tokenID is ["[SEP]", 102].
type tokenID struct{ id int64 }

// UnmarshalJSON reads the pair.
func (x *tokenID) UnmarshalJSON(b []byte) error {
	var text string
	return json.Unmarshal(b, &[]any{&text, &x.id})
}

// frameJSON reads what stands around a text: from the post-processor, unless
// tokenizer_config.json says whether BOS and EOS are added. It also finds the tokens
// that begin and end texts and turns.
func (t *Tokenizer) frameJSON(raw json.RawMessage, c companion) error {
	list, err := parts(raw, "processors", "the post-processor", 0)
	if err != nil {
		return err
	}
	for _, part := range list {
		var x postJSON
		if err := known(part, "post-processor", postBuiltIn); err != nil {
			return err
		}
		if err := strict(part, &x, "post-processor"); err != nil {
			return err
		}
		if err := t.postStep(x); err != nil {
			return err
		}
	}
	return t.companionSpecials(c)
}

func (t *Tokenizer) postStep(x postJSON) error {
	switch x.Type {
	case "ByteLevel":
		return nil
	case "BertProcessing", "RobertaProcessing":
		if x.Sep == nil || x.Cls == nil {
			return bad("the post-processor %s names no sep or cls", x.Type)
		}
		return t.surround([]int64{x.Cls.id}, []int64{x.Sep.id})
	case "TemplateProcessing":
		return t.templateJSON(x)
	}
	return unsupported(fmt.Sprintf("post-processor is of type %q", x.Type), postBuiltIn)
}

// templateJSON reads the template for one text: special tokens around one sequence.
func (t *Tokenizer) templateJSON(x postJSON) error {
	var around [2][]int64
	at := 0
	for _, member := range x.Single {
		for kind, p := range member {
			switch kind {
			case "Sequence":
				at++
			case "SpecialToken":
				if at < 2 {
					around[at] = append(around[at], x.Specials[p.ID].IDs...)
				}
			default:
				return unsupported(fmt.Sprintf("post-processor has a piece %.40q", kind), "Sequence, SpecialToken")
			}
		}
	}
	if at != 1 {
		return bad("the post-processor's template has %d sequences, it must have one", at)
	}
	return t.surround(around[0], around[1])
}

func (t *Tokenizer) surround(front, back []int64) error {
	for _, x := range []struct {
		from []int64
		to   *[]int32
	}{{front, &t.front}, {back, &t.back}} {
		for _, id := range x.from {
			if id < 0 || id >= int64(t.Vocab()) {
				return bad("the post-processor adds the token %d, the vocabulary has %d tokens", id, t.Vocab())
			}
			*x.to = append(*x.to, int32(id))
		}
	}
	return nil
}
