package token

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitter returns the length in bytes of the first word of s, which is not empty.
// Words are merged apart from each other. The scanners below are hand-written
// forms of the regular expressions that the vocabularies were trained with; their
// \s+(?!\S) is beyond Go's regexp.
type splitter func(s string) int

// rule is how a family of vocabularies splits text. name is the family's best known
// member, under which all that split alike have one hash.
type rule struct {
	name  string
	split []splitter // each splits the pieces of the one before
	whole bool
}

func by(split ...splitter) []splitter { return split }

var (
	gpt2     = rule{name: "gpt-2", split: by(gpt2Word)}
	digit    = rule{name: "smollm", split: by(digitWord)}
	llama3   = rule{name: "llama-bpe", split: by(words{digits: 3}.next), whole: true}
	threes   = rule{name: "dbrx", split: by(words{digits: 3}.next)}
	qwen2    = rule{name: "qwen2", split: by(words{digits: 1}.next)}
	qwen35   = rule{name: "qwen35", split: by(words{digits: 1, marks: true}.next)}
	falcon   = rule{name: "falcon", split: by(falconMarks, gpt2Word, threeDigits)}
	deepLLM  = rule{name: "deepseek-llm", split: by(oneOf(lineEnd), spacedRun(cased), spacedRun(deepMarks), endBlanks, runOf(eastAsian), runOf(unicode.IsNumber))}
	deepCode = rule{name: "deepseek-coder", split: by(oneOf(lineEnd), spacedRun(unicode.IsLetter), spacedRun(unicode.IsPunct), runOf(eastAsian), oneOf(unicode.IsNumber))}
	deepV3   = rule{name: "deepseek-v3", split: by(upTo(3, unicode.IsNumber), runOf(ideogram), between(deepWord))}
	tekken   = rule{name: "tekken", split: by(casedWords{digits: 1}.next), whole: true}
	gpt4o    = rule{name: "gpt-4o", split: by(casedWords{digits: 3, contractions: true}.next)}
)

// families maps the names that files use to rules.
var families = map[string]rule{
	"default": gpt2, "gpt-2": gpt2, "phi-2": gpt2, "mpt": gpt2, "olmo": gpt2, "jais": gpt2, "trillion": gpt2, "granite-docling": gpt2,
	"exaone4": gpt2, "modern-bert": gpt2, "gigachat": gpt2,
	"smollm": digit, "starcoder": digit, "refact": digit, "command-r": digit, "codeshell": digit, "exaone": digit, "minerva-7b": digit, "mellum2": digit,
	"llama-bpe": llama3, "llama3": llama3, "llama-v3": llama3, "falcon3": llama3, "falcon-h1": llama3, "pixtral": llama3, "lfm2": llama3,
	"dbrx": threes, "smaug-bpe": threes, "chatglm-bpe": threes,
	"glm4": llama3, "glm5": llama3,
	"qwen2": qwen2, "stablelm2": qwen2, "deepseek-r1-qwen": qwen2, "hunyuan": qwen2, "solar-open": qwen2, "megrez": qwen2, "grok-2": qwen2,
	"qwen35": qwen35, "falcon": falcon, "deepseek-llm": deepLLM, "deepseek-coder": deepCode,
	"deepseek-v3": deepV3, "hunyuan-dense": deepV3, "joyai-llm": deepV3,
	"tekken": tekken, "gpt-4o": gpt4o, "llama4": gpt4o, "kanana2": gpt4o, "minimax-m2": gpt4o,
}

type class uint8

const (
	other class = iota
	space
	letter
	number
)

// classify gives the class and the width in bytes of the first rune of s. A byte
// that is not UTF-8 is of class other.
func classify(s string) (class, int) {
	if c := s[0]; c < utf8.RuneSelf {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			return letter, 1
		case c >= '0' && c <= '9':
			return number, 1
		case c == ' ' || c >= '\t' && c <= '\r':
			return space, 1
		}
		return other, 1
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case unicode.IsLetter(r):
		return letter, n
	case unicode.IsNumber(r):
		return number, n
	case unicode.IsSpace(r):
		return space, n
	}
	return other, n
}

// run is the length of the longest prefix of s whose runes are all of class c.
func run(s string, c class) int {
	i := 0
	for i < len(s) {
		got, n := classify(s[i:])
		if got != c {
			break
		}
		i += n
	}
	return i
}

// gpt2Word: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func gpt2Word(s string) int {
	if n := contraction(s, false); n > 0 {
		return n
	}
	lead := 0
	if s[0] == ' ' && len(s) > 1 {
		lead = 1
	}
	if c, _ := classify(s[lead:]); c != space {
		return lead + run(s[lead:], c)
	}
	return blanks(s)
}

// digitWord is gpt2Word on the pieces between single digits, each its own word. A
// piece ends the text for gpt2Word: the blanks before a digit stay together.
func digitWord(s string) int {
	c, n := classify(s)
	if c == number {
		return n
	}
	if c == space {
		all := run(s, space)
		if all < len(s) {
			if c, _ := classify(s[all:]); c == number {
				return all
			}
		}
	}
	return gpt2Word(s)
}

// blanks is \s+(?!\S)|\s+ on a text that starts with a blank: all blanks at the
// end of the text, else all but the last, but at least one.
func blanks(s string) int {
	n, last := 0, 0
	for n < len(s) {
		c, w := classify(s[n:])
		if c != space {
			if n > last {
				return n - last
			}
			return n
		}
		n += w
		last = w
	}
	return n
}

// contraction is the length of 's, 't, 're, 've, 'm, 'll or 'd at the start of s,
// in any case if fold.
func contraction(s string, fold bool) int {
	if s[0] != '\'' {
		return 0
	}
	for _, c := range [...]string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if len(s) >= len(c) && (s[:len(c)] == c || fold && strings.EqualFold(s[:len(c)], c)) {
			return len(c)
		}
	}
	return 0
}
