package filter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// Settings are what a person may choose.
type Settings struct {
	Rows     string   `toml:"rows" json:"rows"` // messages, tokens
	Seed     uint64   `toml:"seed" json:"seed"`
	HeldOut  float64  `toml:"held_out" json:"held_out"` // share of families
	PII      PII      `toml:"pii" json:"pii"`
	Length   Length   `toml:"length" json:"length"`
	Language []string `toml:"languages" json:"languages"` // ISO 639-1, "und" for unknown; none: any
	Quality  Quality  `toml:"quality" json:"quality"`
	Cards    Cards    `toml:"cards" json:"cards"`
	Double   Double   `toml:"duplicates" json:"duplicates"`
	Evals    Evals    `toml:"contamination" json:"contamination"`
}

// PII says what happens to personal data and secrets.
type PII struct {
	Action string   `toml:"action" json:"action"` // replace, drop
	Types  []string `toml:"types" json:"types"`   // that are looked for
	Drop   []string `toml:"drop" json:"drop"`     // types that drop the row, whatever the action
}

// Length bounds a row, in characters of all its messages and of what is learned, and in tokens.
type Length struct {
	MaxChars  int `toml:"max_chars" json:"max_chars"`
	MinAnswer int `toml:"min_answer_chars" json:"min_answer_chars"`
	MaxTokens int `toml:"max_tokens" json:"max_tokens"` // of rows of tokens
}

// Quality says which answers are not learned from.
type Quality struct {
	Truncated  bool    `toml:"truncated" json:"truncated"`     // cut by a limit
	Refusals   bool    `toml:"refusals" json:"refusals"`       // that refuse
	Negative   bool    `toml:"negative" json:"negative"`       // judged bad, without a correction
	ToolErrors bool    `toml:"tool_errors" json:"tool_errors"` // with a tool that failed
	Repetition float64 `toml:"repetition" json:"repetition"`   // share of repeated 4-grams; 0: off
	Failed     bool    `toml:"failed_runs" json:"failed_runs"` // of runs that did not end well
}

// Cards says which answers with cards are learned from, by what became of the cards.
type Cards struct {
	Outcomes []string `toml:"outcomes" json:"outcomes"` // of CardOutcomes; all cards of an answer have one of them; none: any
	Only     bool     `toml:"only" json:"only"`         // answers without a card are no rows
}

// CardOutcomes are the outcomes of a card; "none" while there is none on record.
var CardOutcomes = []string{string(record.CardCompleted), string(record.CardAbandoned), string(record.CardEdited), string(record.CardErrored), "none"}

// Double says when two rows are one.
type Double struct {
	Jaccard float64 `toml:"jaccard" json:"jaccard"` // of shingles; 0: only equal rows
	Shingle int     `toml:"shingle" json:"shingle"` // words
	Window  int     `toml:"window" json:"window"`   // rows that are remembered
}

// Evals says when a row is part of an evaluation.
type Evals struct {
	NGram  int     `toml:"ngram" json:"ngram"`   // words in a row that are enough
	Cosine float64 `toml:"cosine" json:"cosine"` // of embeddings; 0: off
}

// Defaults are the settings without a file.
func Defaults() Settings {
	return Settings{
		Rows: "messages", HeldOut: 0.05,
		PII:    PII{Action: "replace", Types: slices.Clone(Types), Drop: []string{}},
		Length: Length{MaxChars: 32000, MinAnswer: 1, MaxTokens: 8192}, Language: []string{},
		Quality: Quality{Truncated: true, Refusals: true, Negative: true, ToolErrors: true, Repetition: 0.5, Failed: true},
		Cards:   Cards{Outcomes: []string{}},
		Double:  Double{Jaccard: 0.8, Shingle: 3, Window: 200000},
		Evals:   Evals{NGram: 13, Cosine: 0.85},
	}
}

// maxSettings bounds a file of settings.
const maxSettings = 1 << 16

// ParseSettings reads a file of settings over the defaults. Unknown keys are refused.
func ParseSettings(raw []byte) (Settings, error) {
	s := Defaults()
	if len(raw) > maxSettings {
		return s, errs.Newf(errs.TooLarge, "the settings have %d bytes", len(raw))
	}
	err := toml.NewDecoder(bytes.NewReader(raw)).DisallowUnknownFields().Decode(&s)
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		line, _ := unknown.Errors[0].Position()
		return s, errs.New(errs.FormatInvalid, fmt.Sprintf("line %d of the settings: there is no key %q", line, strings.Join(unknown.Errors[0].Key(), ".")), "docs/DATA.md lists them")
	}
	if err != nil {
		return s, errs.Wrap(errs.FormatInvalid, err, "the settings cannot be read", "docs/DATA.md lists them")
	}
	return s, s.check()
}

func (s *Settings) check() error {
	for _, c := range []struct {
		bad       bool
		key, want string
	}{
		{s.Rows != "messages" && s.Rows != "tokens", "rows", "messages or tokens"},
		{!(s.HeldOut >= 0 && s.HeldOut < 1), "held_out", "0 to below 1"},
		{s.PII.Action != "replace" && s.PII.Action != "drop", "pii.action", "replace or drop"},
		{!within(s.PII.Types, Types), "pii.types", strings.Join(Types, ", ")},
		{!within(s.PII.Drop, Types), "pii.drop", strings.Join(Types, ", ")},
		{s.Length.MaxChars < 1 || s.Length.MinAnswer < 1 || s.Length.MaxTokens < 1, "length", "numbers above 0"},
		{!(s.Quality.Repetition >= 0 && s.Quality.Repetition <= 1), "quality.repetition", "0 to 1"},
		{!within(s.Cards.Outcomes, CardOutcomes), "cards.outcomes", strings.Join(CardOutcomes, ", ")},
		{!(s.Double.Jaccard >= 0 && s.Double.Jaccard <= 1), "duplicates.jaccard", "0 to 1"},
		{s.Double.Shingle < 1 || s.Double.Shingle > 32 || s.Double.Window < 1 || s.Double.Window > 1<<24, "duplicates", "shingle 1 to 32, window 1 to 16777216"},
		{s.Evals.NGram < 4 || s.Evals.NGram > 64, "contamination.ngram", "4 to 64"},
		{!(s.Evals.Cosine >= 0 && s.Evals.Cosine <= 1), "contamination.cosine", "0 to 1"},
	} {
		if c.bad {
			return errs.New(errs.FormatInvalid, "the setting "+c.key+" is not usable", "use "+c.want)
		}
	}
	return nil
}

func within(all, of []string) bool {
	for _, x := range all {
		if !slices.Contains(of, x) {
			return false
		}
	}
	return true
}
