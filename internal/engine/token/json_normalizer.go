package token

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const normalizersBuiltIn = "BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Prepend, Replace (of a text), Sequence, Strip, StripAccents"

// maxGrowth bounds how many times longer a text may become, by all replacements
// together.
const maxGrowth = 64

// normalizerJSON reads what happens to a text before it is split.
func (t *Tokenizer) normalizerJSON(raw json.RawMessage) error {
	list, err := parts(raw, "normalizers", "the normalizer", 0)
	if err != nil {
		return err
	}
	var steps []normaliser
	growth := 1
	for _, part := range list {
		step, times, err := normalizerOf(part)
		if err != nil {
			return err
		}
		if growth *= times; growth > maxGrowth {
			return bad("the normalizer makes a text more than %d times longer", maxGrowth)
		}
		steps = append(steps, step)
		t.rules += ruleOf(part)
	}
	t.norm = inOrder(steps)
	return nil
}

// normalizerJSON is what all normalizers may have as members.
type normalizerJSON struct {
	Type     string          `json:"type"`
	Clean    bool            `json:"clean_text"`
	Chinese  bool            `json:"handle_chinese_chars"`
	Strip    *bool           `json:"strip_accents"`
	Lower    bool            `json:"lowercase"`
	Pattern  json.RawMessage `json:"pattern"`
	Content  string          `json:"content"`
	Prepend  string          `json:"prepend"`
	TrimLeft bool            `json:"strip_left"`
	TrimEnd  bool            `json:"strip_right"`
}

// normalizerOf reads one normalizer and how many times longer it can make a text.
func normalizerOf(raw json.RawMessage) (step normaliser, growth int, err error) {
	var x normalizerJSON
	if err := known(raw, "normalizer", normalizersBuiltIn); err != nil {
		return nil, 0, err
	}
	if err := strict(raw, &x, "normalizer"); err != nil {
		return nil, 0, err
	}
	growth = 1
	switch x.Type {
	case "NFC":
		step = form(norm.NFC)
	case "NFD":
		step = form(norm.NFD)
	case "NFKC":
		step = form(norm.NFKC)
	case "NFKD":
		step = form(norm.NFKD)
	case "Lowercase":
		step = lowered
	case "StripAccents":
		step = func(text string, _ bool) string { return without(unicode.M, text) }
	case "BertNormalizer":
		strip := x.Lower
		if x.Strip != nil {
			strip = *x.Strip
		}
		step = bertRules{clean: x.Clean, chinese: x.Chinese, strip: strip, lower: x.Lower}.normalise
	case "Strip":
		step = trimmed(x.TrimLeft, x.TrimEnd)
	case "Prepend":
		if len(x.Prepend) > maxGrowth {
			return nil, 0, bad("the normalizer puts %d bytes before every text", len(x.Prepend))
		}
		step = prefixed(x.Prepend)
	case "Replace":
		old, err := textPattern(x.Pattern, "normalizer Replace")
		if err != nil {
			return nil, 0, err
		}
		step, growth = replaced(old, x.Content), 1+len(x.Content)/len(old)
	default:
		return nil, 0, unsupported(fmt.Sprintf("normalizer is of type %q", x.Type), normalizersBuiltIn)
	}
	return step, growth, nil
}

func form(f norm.Form) normaliser {
	return func(text string, _ bool) string { return f.String(text) }
}

func trimmed(left, right bool) normaliser {
	return func(text string, _ bool) string {
		if left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text
	}
}

// pattern is what a Replace or Split looks for.
type pattern struct {
	String *string
	Regex  *string
}

// textPattern reads a pattern that is a text.
func textPattern(raw json.RawMessage, what string) (string, error) {
	var p pattern
	if err := strict(raw, &p, what); err != nil {
		return "", err
	}
	if p.String == nil || *p.String == "" {
		return "", unsupported(fmt.Sprintf("%s looks for %.200s", what, raw), "patterns {\"String\": TEXT}")
	}
	return *p.String, nil
}

// ruleOf writes a normalizer for the digest.
func ruleOf(raw json.RawMessage) string { return "normalize " + compact(raw) + "\n" }

// compact is JSON without its blanks, for the digest.
func compact(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	b, _ := json.Marshal(v) // of a value that was JSON
	return string(b)
}
