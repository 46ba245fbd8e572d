package update

import (
	"math"
	"slices"

	"macaron/internal/errs"
	"macaron/internal/train"
)

// Settings are the table [update] of forge.toml.
type Settings struct {
	Method       string    `toml:"method" json:"method"`   // sft or grpo
	Adapter      string    `toml:"adapter" json:"adapter"` // that is trained
	Base         string    `toml:"base" json:"base"`       // as the training service calls it
	Rank         int       `toml:"rank" json:"rank"`       // of an adapter that begins anew
	Fresh        bool      `toml:"fresh" json:"fresh"`     // begin anew, not from the pair's revision
	Batch        int       `toml:"batch" json:"batch"`     // rows of a step; of grpo whole groups, at least one
	Epochs       int       `toml:"epochs" json:"epochs"`
	Steps        int       `toml:"steps" json:"steps"`   // at most; 0: as the epochs have
	Tokens       int64     `toml:"tokens" json:"tokens"` // at most, of all passes; 0: no bound
	LearningRate float64   `toml:"learning_rate" json:"learning_rate"`
	GradClip     float64   `toml:"grad_clip_norm" json:"grad_clip_norm"`
	MaxTokens    int       `toml:"max_tokens" json:"max_tokens"` // of a row; longer ones are left out
	Loss         string    `toml:"loss" json:"loss"`             // of grpo
	Selection    Selection `toml:"selection" json:"selection"`
}

// Selection says what of the trajectories is trained on.
type Selection struct {
	Rows      int     `toml:"rows" json:"rows"`           // at most; 0: all that are left
	PerForm   int     `toml:"per_form" json:"per_form"`   // of one family and form, at most; 0: no bound
	Effective float64 `toml:"effective" json:"effective"` // effective number of families and forms below which nothing is trained
	Alike     float64 `toml:"alike" json:"alike"`         // share of runs of words that makes two trajectories one; 0: equal ones only
	Feedback  float64 `toml:"feedback" json:"feedback"`   // what a person's +1 or -1 adds to the reward, which is 1 for a success
}

// The methods.
const (
	SFT  = "sft"
	GRPO = "grpo"
)

// Defaults are what forge.toml leaves out. They are sized so that one update of the default
// model takes less than five minutes of two cores.
func Defaults() Settings {
	return Settings{Method: SFT, Rank: 16, Batch: 16, Epochs: 2, Tokens: 80_000, LearningRate: 5e-4, GradClip: 1, MaxTokens: 1024, Loss: "importance_sampling",
		Selection: Selection{Rows: 128, PerForm: 16, Effective: 4, Alike: 0.95, Feedback: 0}}
}

// Check refuses what cannot be trained.
func (s *Settings) Check() error {
	c := s.Selection
	for _, x := range []struct {
		bad       bool
		key, want string
	}{
		{s.Method != SFT && s.Method != GRPO, "method", "sft or grpo"},
		{s.Adapter == "", "adapter", "the name of the adapter that is trained"},
		{s.Base == "", "base", "the base's name, as the training service has it"},
		{s.Rank < 1 || s.Rank > 1024, "rank", "1 to 1024"},
		{s.Batch < 1 || s.Epochs < 1 || s.Steps < 0 || s.Tokens < 0 || s.MaxTokens < 2, "batch, epochs, steps, tokens and max_tokens", "positive numbers"},
		{!(s.LearningRate > 0 && s.LearningRate <= 1) || !(s.GradClip >= 0) || math.IsInf(s.GradClip, 0), "learning_rate and grad_clip_norm", "0 to 1, and no negative number"},
		{!slices.Contains(train.LossNames(), s.Loss) || s.Loss == "cross_entropy" || s.Loss == "gspo", "loss", "importance_sampling, ppo, cispo or dro"},
		{c.Rows < 0 || c.PerForm < 0 || !(c.Effective >= 0) || math.IsInf(c.Effective, 0), "selection", "no negative numbers"},
		{!(c.Alike >= 0 && c.Alike <= 1), "selection.alike", "0 to 1"},
		{!(c.Feedback >= 0 && c.Feedback < 0.5), "selection.feedback", "0 to below 0.5: what verified must count for more than what was liked"},
	} {
		if x.bad {
			return errs.New(errs.FormatInvalid, "update."+x.key+" is not usable", "use "+x.want)
		}
	}
	return nil
}
