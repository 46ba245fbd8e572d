package discovery

import (
	"fmt"

	"macaron/internal/errs"
)

// Settings bound what is kept.
type Settings struct {
	Attempts int     `toml:"attempts" json:"attempts"` // of the pair at a task, at least 4: 0 of fewer says nothing
	Low      float64 `toml:"low" json:"low"`           // solved at least so often, or never
	High     float64 `toml:"high" json:"high"`
	// MostFailing tasks that were never solved are kept at most; 0: any number.
	MostFailing int `toml:"most_failing" json:"most_failing"`
	// PerStructure tasks of one structure are kept at most: others are the same problem again.
	PerStructure int      `toml:"per_structure" json:"per_structure"`
	Likeness     float64  `toml:"likeness" json:"likeness"` // Jaccard similarity of texts from which two are alike
	MaxChars     int      `toml:"max_chars" json:"max_chars"`
	Splits       []string `toml:"splits" json:"splits"` // that may be fed
	Floor        Floor    `toml:"floor" json:"floor"`
	Plays        int      `toml:"plays" json:"plays"` // of each solution, on fresh copies
}

// Floor of diversity: from After tasks on, where the families are fewer than Families in
// effect, or one has more than Share of all, that one is fed no more.
type Floor struct {
	After    int     `toml:"after" json:"after"`
	Families float64 `toml:"families" json:"families"`
	Share    float64 `toml:"share" json:"share"`
}

// Defaults are the settings without a file.
func Defaults() Settings {
	return Settings{Attempts: 5, Low: 0.2, High: 0.8, PerStructure: 1, Likeness: 0.8, MaxChars: 1200, Splits: []string{"train", "validation"},
		Floor: Floor{After: 12, Families: 6, Share: 0.25}, Plays: 2}
}

// Check refuses settings that mean nothing.
func (s Settings) Check() error {
	for _, c := range []struct {
		bad       bool
		key, want string
	}{
		{s.Attempts < 4 || s.Attempts > 1000, "attempts", "4 to 1000"},
		{!(s.Low > 0 && s.Low <= s.High && s.High <= 1), "low and high", "above 0, low at most high, at most 1"},
		{s.MostFailing < 0 || s.MostFailing > 1_000_000, "most_failing", "0 (any number) and more"},
		{s.PerStructure < 1 || s.PerStructure > 1_000_000, "per_structure", "1 and more"},
		{!(s.Likeness > 0 && s.Likeness <= 1), "likeness", "above 0 to 1"},
		{s.MaxChars < 50 || s.MaxChars > 100_000, "max_chars", "50 to 100000"},
		{len(s.Splits) == 0, "splits", "a list of those that may be fed"},
		{s.Floor.After < 1 || !(s.Floor.Families >= 1) || !(s.Floor.Share > 0 && s.Floor.Share <= 1), "floor", "after and families from 1, share above 0 to 1"},
		{s.Plays < 2 || s.Plays > 100, "plays", "2 to 100"},
	} {
		if c.bad {
			return errs.New(errs.FormatInvalid, fmt.Sprintf("the setting %s of discovery is not usable", c.key), "use "+c.want)
		}
	}
	return nil
}
