package mint

import (
	"encoding/json"
	"maps"
	"time"

	"macaron/internal/errs"
	"macaron/internal/train"
)

// Numbers of operations. A client numbers the operations of a model 1, 2, 3, ...; they are
// carried out in that order, however they arrive. The same number is the same operation:
// it is answered with the same promise and never runs twice. NoSeq asks for the next free.
const NoSeq int64 = -1

// CreateModel begins a training run with new values.
type CreateModel struct {
	Session   string
	Seq       int64 // of the models of the session: 0, 1, ...
	Base      string
	Spec      train.Spec
	Unseeded  bool   // Spec.Seed is drawn, and kept with the model
	Optimizer string // empty or adamw
	Metadata  json.RawMessage
}

// Forward computes log probabilities and, unless Only, adds to the gradients.
type Forward struct {
	Model    string
	Seq      int64
	Data     []train.Datum
	Loss     train.Loss
	Only     bool
	Rewarded bool    // the client tells the mean reward of the data, for the curves
	Reward   float64 // which is that
}

// RewardSetting is the setting of a loss by which clients tell the mean reward of the data:
// the one place in the protocol that takes a number of theirs with a pass. No loss reads it.
const RewardSetting = "reward"

// told takes the reward out of the settings of the loss.
func (f *Forward) told() {
	reward, there := f.Loss.Config[RewardSetting]
	if !there {
		return
	}
	f.Rewarded, f.Reward, f.Loss.Config = true, reward, maps.Clone(f.Loss.Config)
	delete(f.Loss.Config, RewardSetting)
}

// OptimStep applies the gradients and clears them.
type OptimStep struct {
	Model string
	Seq   int64
	Adam  train.Adam
}

// Save keeps a state of a model as a checkpoint.
type Save struct {
	Model     string
	Seq       int64
	Kind      Kind
	Name      string        // empty: one is chosen
	TTL       time.Duration // 0: kept until it is deleted
	Overwrite bool
	Metadata  json.RawMessage
}

// SaveSampler makes a sampler of the state of a model, without a checkpoint. An Inflight one
// is the same sampler each time, which moves to the newest state.
type SaveSampler struct {
	Model      string
	Seq        int64
	SamplerSeq int64 // of the samplers of the session
	Inflight   bool
}

// Load sets a model to a checkpoint. Without a Model, it begins a training run from it.
type Load struct {
	Model     string
	Seq       int64
	Session   string // with ModelSeq, instead of Model and Seq
	ModelSeq  int64
	Path      string
	Optimizer bool   // its moments and step count too
	Base      string // optional: must agree
	Metadata  json.RawMessage
}

// Refused is an operation that cannot be read or carried out. Its number is taken, and its
// future fails: an operation that was only refused would leave a gap, behind which all
// later ones wait.
type Refused struct {
	Model string
	Seq   int64
	Op    Op
	Code  errs.Code
	Why   string
}

// NewSampler asks for a sampler of a base or of a checkpoint.
type NewSampler struct {
	Session string
	Seq     int64 // of the samplers of the session
	Base    string
	Path    string // instead of Base, or with the Base that it must have
}

// Sample asks for N answers to a prompt.
type Sample struct {
	Sampler        string
	Base, Path     string // instead of Sampler
	Seq            int64
	N              int
	Prompt         []int32
	MaxTokens      int     // 0: until the context is full
	Seed           *uint64 // nil: one is drawn, and kept with the request
	Stop           Stop
	Temperature    float64
	TopK           int // -1 or 0: all
	TopP           float64
	PromptLogprobs bool
	PromptTop      int           // alternatives at each position of the prompt
	SampleTop      int           // alternatives with each sampled token
	Targets        *train.Tensor // Ints [len(Prompt)-1, K]: tokens whose log probabilities are asked for; -1 skips
	PromptLast     int           // only the last so many positions of the prompt; 0: all
}

// Stop ends an answer. The zero value ends it at the model's own end tokens; with None
// and no Tokens or Texts, nothing but its length ends it.
type Stop struct {
	None   bool // the model's end tokens do not end it
	Tokens []int32
	Texts  []string
}
