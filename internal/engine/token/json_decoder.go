package token

import (
	"encoding/json"
	"fmt"
	"strings"
)

const decodersBuiltIn = "ByteFallback, ByteLevel, Fuse, Metaspace, Replace, Sequence, Strip, WordPiece"

// decoderJSON is what all decoders may have as members.
type decoderJSON struct {
	Type      string          `json:"type"`
	PrefixOld *bool           `json:"add_prefix_space"`
	Trim      bool            `json:"trim_offsets"`
	UseRegex  bool            `json:"use_regex"`
	Pattern   json.RawMessage `json:"pattern"`
	Content   string          `json:"content"`
	Start     int             `json:"start"`
	Stop      int             `json:"stop"`
	Blank     string          `json:"replacement"`
	BlankOld  string          `json:"str_rep"`
	Scheme    string          `json:"prepend_scheme"`
	Split     bool            `json:"split"`
	Prefix    string          `json:"prefix"`
	Cleanup   bool            `json:"cleanup"`
}

// decoderJSON reads how tokens become text again. t.decoded stays nil for spellings in
// bytes.
func (t *Tokenizer) decoderJSON(raw json.RawMessage) error {
	list, err := parts(raw, "decoders", "the decoder", 0)
	if err != nil {
		return err
	}
	if len(list) == 0 && t.algo != bpeBytes {
		t.decoded = func(text string, _ Kind) []byte { return []byte(text) }
	}
	for _, part := range list {
		var x decoderJSON
		if err := known(part, "decoder", decodersBuiltIn); err != nil {
			return err
		}
		if err := strict(part, &x, "decoder"); err != nil {
			return err
		}
		if err := t.decoderStep(x); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tokenizer) decoderStep(x decoderJSON) error {
	switch x.Type {
	case "ByteLevel", "Fuse":
		return nil
	case "ByteFallback":
		if t.decoded == nil {
			t.decoded = decodedPiece
		}
		return nil
	case "WordPiece":
		t.tidy, t.decoded = x.Cleanup, decodedPiece
		return nil
	case "Metaspace":
		t.decoded = decodedPiece
		if scheme(x.Scheme) != never && (x.PrefixOld == nil || *x.PrefixOld) {
			t.strip = stripWord
		}
		return nil
	case "Replace":
		old, err := textPattern(x.Pattern, "decoder Replace")
		if err != nil {
			return err
		}
		t.decoded = func(text string, k Kind) []byte {
			if b, isByte := byteOf(text); isByte && k == Byte {
				return []byte{b}
			}
			return []byte(strings.ReplaceAll(text, old, x.Content))
		}
		return nil
	case "Strip":
		if x.Content == " " && x.Start == 1 && x.Stop == 0 {
			t.strip = stripAny
			return nil
		}
		return unsupported(fmt.Sprintf("decoder strips %d and %d of %.20q", x.Start, x.Stop, x.Content), "one space at the start")
	}
	return unsupported(fmt.Sprintf("decoder is of type %q", x.Type), decodersBuiltIn)
}
