package mint

import "macaron/internal/train"

// Promise names the future of an operation. It is journaled before it is given.
type Promise struct {
	Request   string
	Model     string   // of a training operation
	Sequences []string // one for each sample
}

// Outcome is what a future has come to.
type Outcome struct {
	Request string
	Op      Op
	Model   string
	State   State
	Result  *Result  // when Done
	Failure *Failure // when Failed
	Bytes   int64    // about the size of the result
	Queue   Queue    // while Pending
	Reason  string   // why it waits, where there is more to say
}

// State of a future.
type State string

// The states.
const (
	Pending State = "pending"
	Done    State = "done"
	Failed  State = "failed"
)

// Queue is why a future is pending, in the protocol's words.
type Queue string

// The reasons.
const (
	Active          Queue = "active"
	PausedCapacity  Queue = "paused_capacity"
	PausedRateLimit Queue = "paused_rate_limit"
)

// Op is a kind of operation.
type Op string

// The operations.
const (
	OpCreate  Op = "create_model"
	OpForward Op = "forward"
	OpBack    Op = "forward_backward"
	OpStep    Op = "optim_step"
	OpSave    Op = "save_weights"
	OpSampler Op = "save_weights_for_sampler"
	OpLoad    Op = "load_weights"
	OpUnload  Op = "unload_model"
	OpSample  Op = "sample"
)

// Failure says why an operation was not carried out. It is final.
type Failure struct {
	Message  string
	Category Category
}

// Category says who can do something about a failure.
type Category string

// The categories.
const (
	ByUser   Category = "user"
	ByServer Category = "server"
)

// Result is what an operation gave; the fields of its kind are set.
type Result struct {
	Output  *train.Output      // of a forward pass
	Metrics map[string]float64 // of an optimizer step; name:reduction
	Model   string             // that was created, loaded or unloaded
	Path    string             // that was saved or loaded
	Sampler string             // that was made
	Sample  *Samples
}

// Samples are the answers to a prompt.
type Samples struct {
	Sequences      []Sequence
	PromptLogprobs []float32     // [len(prompt)]; the first is NaN
	PromptTop      [][]Scored    // [len(prompt)]; the first is nil
	Targets        *train.Tensor // Floats, of the shape that was asked; NaN where skipped
	Cached         int           // tokens of the prompt that were not computed again
}

// Sequence is one answer, with the token that stopped it.
type Sequence struct {
	Stop     StopReason
	Tokens   []int32
	Logprobs []float32 // natural, of the model at temperature 1 over the whole vocabulary
	Top      [][]Scored
}

// StopReason says why an answer ended.
type StopReason string

// The reasons.
const (
	Stopped StopReason = "stop"
	Length  StopReason = "length"
)

// Scored is a token and its natural-log probability.
type Scored struct {
	Token   int32
	Logprob float32
}
