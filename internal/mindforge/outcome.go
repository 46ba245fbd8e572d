package mindforge

// Outcome is what came of one attempt.
type Outcome struct {
	Pass     bool     `json:"pass"`
	Points   float64  `json:"points"` // 0 to 1
	Failure  Failure  `json:"failure,omitempty"`
	Evidence []string `json:"evidence,omitempty"` // what of the record shows the failure, at most 8 lines
	Answer   string   `json:"answer,omitempty"`   // what was answered, at most MaxAnswer bytes: one answer to everything is no skill
	Cost     Cost     `json:"cost"`
	Run      string   `json:"run,omitempty"` // id of its record; "" for a scripted actor
}

// MaxAnswer bounds the answer of an outcome.
const MaxAnswer = 200

// Failure is the class of what went wrong.
type Failure string

// The classes.
const (
	MissingTool    Failure = "missing-tool"
	Contradiction  Failure = "contradictory-instruction"
	Budget         Failure = "budget"
	Format         Failure = "format"
	Capability     Failure = "capability"
	Infrastructure Failure = "infrastructure" // no outcome of the pair: both arms are run again
	FlawedTask     Failure = "flawed-task"    // the audit doubts the task, not the attempt
	Cheat          Failure = "cheat"          // passed, and the audit does not believe it
)

// Place says what has to change so that a failure goes away.
type Place string

// The places.
const (
	InModel   Place = "model"
	InTask    Place = "task"
	InHarness Place = "harness"
	Elsewhere Place = "infrastructure"
)

// Place of a class of failure.
func (f Failure) Place() Place {
	switch f {
	case MissingTool, Contradiction, Budget, Format:
		return InHarness
	case FlawedTask, Cheat:
		return InTask
	case Infrastructure:
		return Elsewhere
	default:
		return InModel
	}
}

// Cost is what was spent. Costs add up.
type Cost struct {
	Attempts int     `json:"attempts"`
	Turns    int     `json:"turns"`
	Prompt   int64   `json:"prompt_tokens"`
	Output   int64   `json:"output_tokens"`
	Trained  int64   `json:"trained_tokens,omitempty"`
	CPUMS    int64   `json:"cpu_ms"`  // of this process
	WallMS   int64   `json:"wall_ms"` // machines are shared: no gate rests on it alone
	USD      float64 `json:"usd"`
}

// Plus adds two costs.
func (c Cost) Plus(d Cost) Cost {
	return Cost{c.Attempts + d.Attempts, c.Turns + d.Turns, c.Prompt + d.Prompt, c.Output + d.Output,
		c.Trained + d.Trained, c.CPUMS + d.CPUMS, c.WallMS + d.WallMS, c.USD + d.USD}
}
