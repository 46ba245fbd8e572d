package token

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Parts of the known expressions.
const (
	foldedEnds = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	spelledOut = `(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])`
	blankEnds  = `|\s*[\r\n]+|\s+(?!\S)|\s+`
	upperRunes = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
	lowerRunes = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
	leadRune   = `[^\r\n\p{L}\p{N}]?`
	marksEnd   = `| ?[^\s\p{L}\p{N}]+[\r\n]*`
	slashEnd   = `| ?[^\s\p{L}\p{N}]+[\r\n/]*`
)

// expression is a regular expression that the files of known models have; where total,
// every text is a row of its matches.
type expression struct {
	stage
	total bool
}

// expressions are known by their text: a general engine would need look-ahead and could
// not be shown to take linear time.
var expressions = map[string]expression{
	`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`: {stage{"gpt-2", gpt2Word}, true},

	foldedEnds + `|` + leadRune + `\p{L}+|\p{N}{1,3}` + marksEnd + blankEnds:                                                      {stage{"llama-bpe", words{digits: 3}.next}, true},
	foldedEnds + `|` + leadRune + `\p{L}+|\p{N}` + marksEnd + blankEnds:                                                           {stage{"qwen2", words{digits: 1}.next}, true},
	foldedEnds + `|` + leadRune + `[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*` + blankEnds:                                {stage{"qwen35", words{digits: 1, marks: true}.next}, true},
	leadRune + upperRunes + `*` + lowerRunes + `+|` + leadRune + upperRunes + `+` + lowerRunes + `*|\p{N}` + slashEnd + blankEnds: {stage{"tekken", casedWords{digits: 1}.next}, true},
	leadRune + upperRunes + `*` + lowerRunes + `+` + foldedEnds + `?|` + leadRune + upperRunes + `+` + lowerRunes + `*` + foldedEnds + `?|\p{N}{1,3}` + slashEnd + blankEnds: {
		stage{"gpt-4o", casedWords{digits: 3, contractions: true}.next}, true},

	`\p{N}{1,3}`:   {stage{"numbers 3", upTo(3, unicode.IsNumber)}, false},
	`\p{N}`:        {stage{"digits one", oneOf(unicode.IsNumber)}, false},
	`[一-龥぀-ゟ゠-ヿ]+`: {stage{"ideograms", runOf(ideogram)}, false},
	"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+": {
		stage{"deepseek-v3", between(deepWord)}, false},
	"[^\n]+|[\n]+":             {stage{"lines", runOf(newline)}, true},
	"[\r\n]":                   {stage{"line ends", oneOf(lineEnd)}, false},
	`\s?\p{L}+`:                {stage{"spaced letters", spacedRun(unicode.IsLetter)}, false},
	`\s?\p{P}+`:                {stage{"spaced punctuation", spacedRun(unicode.IsPunct)}, false},
	`[一-龥ࠀ-一가-퟿]+`:             {stage{"east asian", runOf(eastAsian)}, false},
	`\s?[` + casedRunes + `]+`: {stage{"deepseek letters", spacedRun(cased)}, false},
	`\s?[!-/:-~！-／：-～‘-‟　-。]+`: {stage{"deepseek marks", spacedRun(deepMarks)}, false},
	`\s+$`:            {stage{"end blanks", endBlanks}, false},
	`[0-9][0-9][0-9]`: {stage{"three digits", threeDigits}, false},
}

// splitOf reads a Split.
func splitOf(x preTokenizerJSON) (stage, error) {
	var p pattern
	if err := strict(x.Pattern, &p, "pre-tokenizer Split"); err != nil {
		return stage{}, err
	}
	if p.String != nil {
		return splitText(*p.String, x)
	}
	if p.Regex == nil {
		return stage{}, bad("a Split of the pre-tokenizer has no pattern")
	}
	e, ok := expressions[strings.ReplaceAll(*p.Regex, spelledOut, foldedEnds)]
	if !ok {
		return stage{}, unsupported(fmt.Sprintf("pre-tokenizer splits by the expression %.300q", *p.Regex), "those of "+knownExpressions())
	}
	// Keeping the matches and dropping the rest is the same where there is no rest.
	if x.Behavior == "Isolated" && !x.Invert || e.total && x.Behavior == "Removed" && x.Invert {
		return e.stage, nil
	}
	return stage{}, unsupported(fmt.Sprintf("pre-tokenizer Split has the behavior %.40q, inverted: %v", x.Behavior, x.Invert), "Isolated")
}

func splitText(text string, x preTokenizerJSON) (stage, error) {
	name := fmt.Sprintf("%s %q", x.Behavior, text)
	switch {
	case text == "" || x.Invert:
	case x.Behavior == "MergedWithPrevious":
		return stage{name, afterEach(text)}, nil
	case x.Behavior == "MergedWithNext":
		return stage{name, beforeEach(text)}, nil
	case x.Behavior == "Isolated":
		return stage{name, each(text)}, nil
	}
	return stage{}, unsupported(fmt.Sprintf("pre-tokenizer Split by %.40q has the behavior %.40q, inverted: %v", text, x.Behavior, x.Invert),
		"Isolated, MergedWithNext, MergedWithPrevious")
}

// knownExpressions names the models whose expressions are known.
func knownExpressions() string {
	names := map[string]bool{}
	for _, e := range expressions {
		names[e.name] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}
