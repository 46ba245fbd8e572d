package record

import (
	"encoding/json"
	"time"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// The kinds of saved tools. A saved tool is a session of its own, whose records carry the
// tool's digest in Head.Run.
const (
	KindToolSaved   Kind = "tool.saved"
	KindToolJudged  Kind = "tool.judged"
	KindToolUsed    Kind = "tool.used"
	KindToolDemoted Kind = "tool.demoted"
)

// ToolSaved keeps a tool that somebody wrote, for its owner alone. Its digest names all of
// it but Trajectory.
type ToolSaved struct {
	Name       string          `json:"name"` // of the function in Source
	Doc        string          `json:"doc,omitempty"`
	Source     string          `json:"source"`     // Python
	Parameters json.RawMessage `json:"parameters"` // JSON Schema
	Result     json.RawMessage `json:"result,omitempty"`
	Effect     string          `json:"effect"`
	Uses       []string        `json:"uses,omitempty"` // tools that it calls
	Examples   []ToolExample   `json:"examples,omitempty"`
	Trajectory string          `json:"trajectory,omitempty"` // the run in which it was written, "" if none
}

// WrittenTool reads a tool as its author gives it. Where it was written is what this program
// knows, and never what the author says.
func WrittenTool(raw []byte, trajectory string) (ToolSaved, error) {
	body, err := decodeAs[ToolSaved](raw)
	if err != nil {
		return ToolSaved{}, errs.Wrap(errs.InvalidRequest, err, errs.Clip(err.Error()), "give name and source, and perhaps effect, uses, examples, doc, parameters and result")
	}
	t := body.(ToolSaved)
	if t.Trajectory != "" {
		return ToolSaved{}, errs.New(errs.InvalidRequest, "trajectory is set by this program alone", "leave it out").In("trajectory")
	}
	t.Trajectory = trajectory
	return t, nil
}

// ToolExample is a call that the author knows, and what it gives.
type ToolExample struct {
	Args  json.RawMessage `json:"args"`
	Value json.RawMessage `json:"value"`
}

// ToolJudged says how a tool fared against cases that its author has not seen. It holds
// no case.
type ToolJudged struct {
	Judgement  string     `json:"judgement"` // its identifier
	Passed     bool       `json:"passed"`
	Reason     string     `json:"reason,omitempty"` // why it did not
	Cases      ids.Digest `json:"cases"`            // of the set, which stays with the operator
	Tried      int        `json:"tried"`
	Failed     int        `json:"failed"`
	Mutants    int        `json:"mutants"`
	Killed     int        `json:"killed"`              // mutants that the cases tell from the tool
	Regression int        `json:"regression"`          // cases of tools promoted before
	Regressed  int        `json:"regressed,omitempty"` // of those, how many fail beside it
	Effects    []string   `json:"effects,omitempty"`   // that it had and does not declare
	Judge      ids.Digest `json:"judge"`               // of the programs that judged
}

// ToolUsed counts a call of a promoted tool.
type ToolUsed struct {
	OK  bool   `json:"ok"`
	Run string `json:"run,omitempty"` // that called it
}

// ToolDemoted takes a promotion back.
type ToolDemoted struct {
	Reason string  `json:"reason"`
	Self   bool    `json:"self"`             // by its failures, not by a person
	Wealth float64 `json:"wealth,omitempty"` // of the test that it failed
}

// Kind implements Body.
func (ToolSaved) Kind() Kind { return KindToolSaved }

// Kind implements Body.
func (ToolJudged) Kind() Kind { return KindToolJudged }

// Kind implements Body.
func (ToolUsed) Kind() Kind { return KindToolUsed }

// Kind implements Body.
func (ToolDemoted) Kind() Kind { return KindToolDemoted }

// Shelf is where a saved tool stands in the log.
type Shelf struct {
	Owner   string
	Tool    ids.Digest
	Session string
	Name    string
	Opened  time.Time
	Updated time.Time
}
