package token

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const preBuiltIn = "BertPreTokenizer, ByteLevel, Digits, Metaspace, Punctuation, Sequence, Split (by a text or one of the known expressions), Whitespace, WhitespaceSplit"

// preTokenizerJSON is what all pre-tokenizers may have as members.
type preTokenizerJSON struct {
	Type       string          `json:"type"`
	PrefixOld  *bool           `json:"add_prefix_space"`
	Trim       bool            `json:"trim_offsets"`
	UseRegex   *bool           `json:"use_regex"`
	Pattern    json.RawMessage `json:"pattern"`
	Behavior   string          `json:"behavior"`
	Invert     bool            `json:"invert"`
	Individual bool            `json:"individual_digits"`
	Blank      string          `json:"replacement"`
	BlankOld   string          `json:"str_rep"`
	Scheme     string          `json:"prepend_scheme"`
	Split      *bool           `json:"split"`
}

// stage is one pre-tokenizer: its name and how it splits; none: not at all.
type stage struct {
	name  string
	split splitter
}

// preJSON reads how a text is split into words. Stages that together are the rule of a
// known family have its name.
func (t *Tokenizer) preJSON(raw json.RawMessage) error {
	t.algo = bpeRunes
	list, err := parts(raw, "pretokenizers", "the pre-tokenizer", 0)
	if err != nil {
		return err
	}
	var names []string
	for i, part := range list {
		if t.algo == bpeBytes {
			return unsupported("pre-tokenizer goes on after ByteLevel", "")
		}
		var x preTokenizerJSON
		if err := known(part, "pre-tokenizer", preBuiltIn); err != nil {
			return err
		}
		if err := strict(part, &x, "pre-tokenizer"); err != nil {
			return err
		}
		s, err := t.stageOf(x, len(list) == 1)
		if err != nil {
			return err
		}
		if t.blanks && i > 0 {
			return unsupported(fmt.Sprintf("pre-tokenizer %s is one of a sequence", x.Type), "")
		}
		if s.split != nil {
			t.split = append(t.split, s.split)
			names = append(names, s.name)
		}
	}
	t.namePre(strings.Join(names, " + "))
	return nil
}

// namePre gives the pre-tokeniser the name of the family that has the same stages.
func (t *Tokenizer) namePre(stages string) {
	t.pre = stages
	if family, ok := stagesOf[stages]; ok && t.algo == bpeBytes {
		t.pre, t.split = family, families[family].split
	}
	if stages == "" {
		t.pre = "none"
	}
}

// stagesOf names the families by their stages.
var stagesOf = map[string]string{
	"digits one + gpt-2": "smollm", "gpt-2": "gpt-2", "llama-bpe": "llama-bpe", "qwen2": "qwen2", "qwen35": "qwen35", "tekken": "tekken", "gpt-4o": "gpt-4o",
	"numbers 3 + ideograms + deepseek-v3":                                                   "deepseek-v3",
	"line ends + deepseek letters + deepseek marks + end blanks + east asian + digits many": "deepseek-llm",
	"line ends + spaced letters + spaced punctuation + east asian + digits one":             "deepseek-coder",
	"punctuation many + gpt-2 + three digits":                                               "falcon",
}

func (t *Tokenizer) stageOf(x preTokenizerJSON, alone bool) (stage, error) {
	switch x.Type {
	case "ByteLevel":
		return t.byteLevel(x, alone)
	case "Metaspace":
		return t.metaspace(x, alone)
	case "Split":
		return splitOf(x)
	case "Digits":
		if x.Individual {
			return stage{"digits one", oneOf(unicode.IsNumber)}, nil
		}
		return stage{"digits many", runOf(unicode.IsNumber)}, nil
	case "Punctuation":
		return punctuationOf(x.Behavior)
	case "BertPreTokenizer":
		t.blanks = true
		return stage{"bert", bertWord}, nil
	case "WhitespaceSplit":
		t.blanks = true
		return stage{"blanks", runOf(unicode.IsSpace)}, nil
	case "Whitespace":
		t.blanks = true
		return stage{"words", wordOrMarks}, nil
	}
	return stage{}, unsupported(fmt.Sprintf("pre-tokenizer is of type %q", x.Type), preBuiltIn)
}

// byteLevel spells text in bytes, after splitting it as GPT-2 does unless use_regex is
// false.
func (t *Tokenizer) byteLevel(x preTokenizerJSON, alone bool) (stage, error) {
	t.algo = bpeBytes
	if x.PrefixOld != nil && *x.PrefixOld {
		if !alone {
			return stage{}, unsupported("pre-tokenizer ByteLevel adds a space, within a sequence", "")
		}
		t.before = spaceFirst(" ", always)
		t.rules += "space first\n"
	}
	if x.UseRegex != nil && !*x.UseRegex {
		return stage{}, nil
	}
	return stage{"gpt-2", gpt2Word}, nil
}

// metaspace spells spaces as U+2581, puts one first, and splits before each.
func (t *Tokenizer) metaspace(x preTokenizerJSON, alone bool) (stage, error) {
	if !alone || x.Blank != blank || x.BlankOld != "" && x.BlankOld != blank {
		return stage{}, unsupported(fmt.Sprintf("pre-tokenizer Metaspace writes a space as %.20q, or is one of a sequence", x.Blank), "")
	}
	scheme := scheme(x.Scheme)
	if scheme == "" {
		scheme = always
		if x.PrefixOld != nil && !*x.PrefixOld {
			scheme = never
		}
	}
	if scheme != always && scheme != first && scheme != never {
		return stage{}, unsupported(fmt.Sprintf("pre-tokenizer Metaspace has the prepend_scheme %.20q", x.Scheme), "always, first, never")
	}
	t.before = inOrder([]normaliser{replaced(" ", blank), spaceFirst(blank, scheme)})
	t.rules += "metaspace " + string(scheme) + "\n"
	if x.Split != nil && !*x.Split {
		return stage{}, nil
	}
	return stage{"metaspace", beforeEach(blank)}, nil
}

// scheme says which texts get a space first.
type scheme string

const (
	always scheme = "always"
	first  scheme = "first"
	never  scheme = "never"
)

// spaceFirst puts a space first unless there is one.
func spaceFirst(space string, when scheme) normaliser {
	return func(text string, start bool) string {
		if when == never || when == first && !start || strings.HasPrefix(text, space) {
			return text
		}
		return space + text
	}
}

// beforeEach splits before every occurrence of a text.
func beforeEach(mark string) splitter {
	return func(s string) int {
		_, n := utf8.DecodeRuneInString(s)
		if i := strings.Index(s[n:], mark); i >= 0 {
			return n + i
		}
		return len(s)
	}
}

// afterEach splits after every occurrence of a text.
func afterEach(mark string) splitter {
	return func(s string) int {
		if i := strings.Index(s, mark); i >= 0 {
			return i + len(mark)
		}
		return len(s)
	}
}

// each makes every occurrence of a text a piece.
func each(mark string) splitter {
	return func(s string) int {
		switch i := strings.Index(s, mark); i {
		case -1:
			return len(s)
		case 0:
			return len(mark)
		default:
			return i
		}
	}
}

func bertPunctuation(r rune) bool {
	return unicode.IsPunct(r) || r < utf8.RuneSelf && unicode.IsSymbol(r)
}

func punctuationOf(behavior string) (stage, error) {
	switch behavior {
	case "Contiguous":
		return stage{"punctuation many", runOf(bertPunctuation)}, nil
	case "Isolated", "":
		return stage{"punctuation one", oneOf(bertPunctuation)}, nil
	}
	return stage{}, unsupported(fmt.Sprintf("pre-tokenizer Punctuation has the behavior %.40q", behavior), "Contiguous, Isolated")
}

// wordOrMarks is \w+|[^\w\s]+.
func wordOrMarks(s string) int {
	kind := func(r rune) class {
		switch {
		case wordRune(r):
			return letter
		case unicode.IsSpace(r):
			return space
		}
		return other
	}
	r, _ := rune0(s)
	want := kind(r)
	return prefix(s, func(r rune) bool { return kind(r) == want })
}
