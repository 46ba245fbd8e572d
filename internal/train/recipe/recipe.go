package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/train"
)

// Recipe is a recipe file. Paths in it are relative to its directory.
type Recipe struct {
	Method    string    `toml:"method"` // sft, dpo, grpo, ppo, distill
	Seed      uint64    `toml:"seed"`
	Out       string    `toml:"out"`  // PEFT directory to make
	Work      string    `toml:"work"` // checkpoints and metrics; default: out with .work
	Adapter   Adapter   `toml:"adapter"`
	Data      Data      `toml:"data"`
	Optimizer Optimizer `toml:"optimizer"`
	Run       Run       `toml:"run"`
	DPO       DPO       `toml:"dpo"`
	RL        RL        `toml:"rl"`
	Distill   Distill   `toml:"distill"`

	Dir  string     `toml:"-"` // that paths are relative to
	Hash ids.Digest `toml:"-"` // of the file
}

// Adapter is what is trained.
type Adapter struct {
	Rank    int      `toml:"rank"`
	Alpha   float64  `toml:"alpha"`
	RsLoRA  bool     `toml:"rslora"`
	Targets []string `toml:"targets"`
	Init    string   `toml:"init"` // adapter to begin from, instead of the others
}

// Data is what it is trained on: files of JSON lines.
type Data struct {
	Train     string  `toml:"train"`
	HeldOut   string  `toml:"held_out"`
	Fraction  float64 `toml:"held_out_fraction"` // of the training rows, where there is no file
	MaxTokens int     `toml:"max_tokens"`        // longer rows are left out; 0: the model's context
}

// Optimizer is AdamW and the course of its learning rate.
type Optimizer struct {
	LearningRate float64 `toml:"learning_rate"`
	Schedule     string  `toml:"schedule"` // constant, linear, cosine
	WarmupSteps  int     `toml:"warmup_steps"`
	FinalRatio   float64 `toml:"final_ratio"`
	Beta1        float64 `toml:"beta1"`
	Beta2        float64 `toml:"beta2"`
	Eps          float64 `toml:"eps"`
	WeightDecay  float64 `toml:"weight_decay"`
	GradClipNorm float64 `toml:"grad_clip_norm"`
}

// Run says how long, in which portions, and what is kept on the way.
type Run struct {
	Epochs          int `toml:"epochs"`
	Steps           int `toml:"steps"` // instead of epochs
	Batch           int `toml:"batch"` // rows of a step
	BatchTokens     int `toml:"batch_tokens"`
	ChunkRows       int `toml:"chunk_rows"` // rows of one pass; the gradients of a step's passes add up
	CheckpointEvery int `toml:"checkpoint_every"`
	EvaluateEvery   int `toml:"evaluate_every"`

	Gradient      string  `toml:"gradient"`       // exact, plain, response-only, resident-prefix
	PrefixRefresh int     `toml:"prefix_refresh"` // of resident-prefix: steps that a captured prompt stays at most
	PrefixDrift   float64 `toml:"prefix_drift"`   // and nats of a log probability that shorten its stay
}

// DPO is direct preference optimization (arXiv 2305.18290).
type DPO struct {
	Beta float64 `toml:"beta"`
}

// RL is sampling, reward and policy gradient: GRPO (arXiv 2402.03300), or with the loss ppo
// and several updates of one rollout PPO's clipped objective.
type RL struct {
	Group       int                `toml:"group"` // answers to a prompt
	MaxTokens   int                `toml:"max_tokens"`
	Temperature float64            `toml:"temperature"`
	Loss        string             `toml:"loss"`
	Config      map[string]float64 `toml:"config"`  // settings of the loss
	Updates     int                `toml:"updates"` // optimizer steps of one rollout
	Normalise   bool               `toml:"normalise"`
	Reward      Reward             `toml:"reward"`
}

// Reward scores an answer.
type Reward struct {
	Kind    string   `toml:"kind"` // exact, regex, arithmetic, command
	Pattern string   `toml:"pattern"`
	Command []string `toml:"command"`
}

// Distill learns from another revision or the base.
type Distill struct {
	Teacher string `toml:"teacher"` // an adapter's directory; "base"
	System  string `toml:"system"`  // what the teacher is told, instead of the row's own system text
	Top     int    `toml:"top"`     // above 0: the row's answers, with so many of the teacher's tokens at each place; 0: the student's own answers
}

// defaults are what a recipe leaves out.
func defaults() Recipe {
	return Recipe{
		Adapter:   Adapter{Rank: 16, Alpha: train.DefaultAlpha},
		Optimizer: Optimizer{LearningRate: train.DefaultAdam.LearningRate, Schedule: "constant", Beta1: train.DefaultAdam.Beta1, Beta2: train.DefaultAdam.Beta2, Eps: train.DefaultAdam.Eps},
		Run:       Run{Epochs: 1, Batch: 16, CheckpointEvery: 50, PrefixRefresh: train.DefaultRefresh, PrefixDrift: train.DefaultDrift},
		DPO:       DPO{Beta: 0.1},
		RL:        RL{Group: 8, MaxTokens: 64, Temperature: 1, Updates: 1},
		Distill:   Distill{Teacher: "base"},
	}
}

var methods = []string{"sft", "dpo", "grpo", "ppo", "distill"}

// Parse reads a recipe strictly; dir is the directory of its file.
func Parse(raw []byte, dir string) (*Recipe, error) {
	if len(raw) > 1<<20 {
		return nil, errs.Newf(errs.TooLarge, "the recipe has %d bytes", len(raw))
	}
	r := defaults()
	if err := toml.NewDecoder(bytes.NewReader(raw)).DisallowUnknownFields().Decode(&r); err != nil {
		return nil, explain(err)
	}
	r.Dir, r.Hash = dir, ids.DigestOf(raw)
	if r.Method == "ppo" {
		r.RL.preferPPO()
	}
	if r.RL.Loss == "" {
		r.RL.Loss = "importance_sampling"
	}
	if r.Work == "" {
		r.Work = r.Out + ".work"
	}
	return &r, r.check()
}

// preferPPO sets what the method ppo has where a recipe says nothing.
func (r *RL) preferPPO() {
	if r.Loss == "" {
		r.Loss = "ppo"
	}
}

// explain names the line of what is wrong.
func explain(err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		e := unknown.Errors[0]
		line, _ := e.Position()
		return errs.New(errs.FormatInvalid, fmt.Sprintf("line %d of the recipe: there is no key %q", line, strings.Join(e.Key(), ".")), "docs/formats/recipe.md lists them")
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return errs.New(errs.FormatInvalid, fmt.Sprintf("line %d of the recipe: %v", line, wrong), "docs/formats/recipe.md has examples")
	}
	return errs.Wrap(errs.FormatInvalid, err, "the recipe cannot be read", "docs/formats/recipe.md has examples")
}

// check refuses what cannot be trained.
func (r *Recipe) check() error {
	o, run := &r.Optimizer, &r.Run
	for _, c := range []struct {
		bad       bool
		key, want string
	}{
		{!slices.Contains(methods, r.Method), "method", strings.Join(methods, ", ")},
		{r.Out == "", "out", "a directory to make"},
		{!(r.Adapter.Alpha > 0 && r.Adapter.Alpha <= 1e6), "adapter.alpha", "a positive number up to 1e6"},
		{r.Data.Train == "", "data.train", "a file of JSON lines"},
		{!(r.Data.Fraction >= 0 && r.Data.Fraction < 1), "data.held_out_fraction", "0 to below 1"},
		{r.Data.MaxTokens < 0, "data.max_tokens", "a number of tokens, or 0 for the model's context"},
		{!slices.Contains([]string{"constant", "linear", "cosine"}, o.Schedule), "optimizer.schedule", "constant, linear or cosine"},
		{o.WarmupSteps < 0 || !(o.FinalRatio >= 0 && o.FinalRatio <= 1), "optimizer.warmup_steps and final_ratio", "no negative number, and 0 to 1"},
		{run.Epochs < 1, "run.epochs", "1 or more"},
		{run.Batch < 1, "run.batch", "1 or more"},
		{min(run.Steps, run.BatchTokens, run.ChunkRows, run.CheckpointEvery, run.EvaluateEvery) < 0, "run.steps, batch_tokens, chunk_rows, checkpoint_every or evaluate_every", "0 or more"},
		{run.PrefixRefresh < 1 || run.PrefixRefresh > 1<<20 || !(run.PrefixDrift >= 1e-9 && run.PrefixDrift <= 1e6), "run.prefix_refresh and prefix_drift", "at least 1, and a positive number"},
		{!(r.DPO.Beta > 0) || math.IsInf(r.DPO.Beta, 0), "dpo.beta", "a positive number"},
		{r.RL.Group < 1 || r.RL.Group > 1024 || r.RL.MaxTokens < 1 || r.RL.MaxTokens > 1<<24 || r.RL.Updates < 1 || r.RL.Updates > 1024 || !(r.RL.Temperature > 0 && r.RL.Temperature <= 100), "rl", "group and updates 1 to 1024, max_tokens 1 to 16777216, temperature above 0, to 100"},
		{r.Distill.Top < 0 || r.Distill.Top > 64, "distill.top", "0 to 64"},
	} {
		if c.bad {
			return errs.New(errs.FormatInvalid, "the recipe's "+c.key+" is not usable", "use "+c.want)
		}
	}
	for _, apart := range []func() error{r.apart, r.apartData} {
		if err := apart(); err != nil {
			return err
		}
	}
	if _, err := train.ParseWay(run.Gradient); err != nil {
		return err
	}
	if r.Method == "grpo" || r.Method == "ppo" {
		if err := r.RL.check(r); err != nil {
			return err
		}
	}
	return r.adam(0, 1).Check()
}

// check refuses a loss that would fail at the first step at which an answer has an advantage.
func (w *RL) check(r *Recipe) error {
	l := r.loss(train.Loss{Name: w.Loss, Config: w.Config})
	if err := l.Check(); err != nil {
		return err
	}
	if !l.Policy() {
		return errs.New(errs.FormatInvalid, "the recipe's rl.loss is "+w.Loss+", which reads no advantages", "use a policy loss, such as importance_sampling")
	}
	return w.Reward.check()
}

// path makes a path of the recipe one of this process.
func (r *Recipe) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(r.Dir, p)
}

// adam is the optimizer at a step, from 0, of so many.
func (r *Recipe) adam(step, steps int) train.Adam {
	o := &r.Optimizer
	return train.Adam{LearningRate: o.LearningRate * o.ratio(step, steps), Beta1: o.Beta1, Beta2: o.Beta2, Eps: o.Eps, WeightDecay: o.WeightDecay, GradClipNorm: o.GradClipNorm}
}

// ratio is the part of the learning rate at a step: it rises over the warmup, then falls
// to the final ratio at the end.
func (o *Optimizer) ratio(step, steps int) float64 {
	if step < o.WarmupSteps {
		return float64(step+1) / float64(o.WarmupSteps)
	}
	x := float64(step-o.WarmupSteps) / math.Max(1, float64(steps-o.WarmupSteps))
	switch o.Schedule {
	case "linear":
		return o.FinalRatio + (1-o.FinalRatio)*(1-x)
	case "cosine":
		return o.FinalRatio + (1-o.FinalRatio)*0.5*(1+math.Cos(math.Pi*x))
	}
	return 1
}
