package harness

import (
	"macaron/internal/contract"
	"macaron/internal/record"
)

// Task is what is to be done.
type Task struct {
	ID          string            `json:"id,omitempty"`
	Instruction string            `json:"instruction"`
	Files       map[string][]byte `json:"files,omitempty"` // put into the workspace first
	Purpose     record.Purpose    `json:"purpose,omitempty"`
	Consent     record.Consent    `json:"consent,omitempty"`
	Seed        uint64            `json:"seed,omitempty"`
	Suite       string            `json:"suite,omitempty"`
	Meta        map[string]string `json:"meta,omitempty"`
}

// Options are how a task is run, where the contract does not say.
type Options struct {
	Mode   contract.Mode       // "": the contract's
	Limits record.RunLimits    // lower the contract's; 0 leaves it
	Watch  func(record.Record) // called with every record, once it is durable
}

// Report is how a run stands when it has stopped.
type Report struct {
	RunID     string           `json:"run"`
	Status    record.RunStatus `json:"status"`
	Reason    string           `json:"reason,omitempty"`
	Call      string           `json:"call,omitempty"` // that waits for a person, or is in doubt
	Answer    string           `json:"answer,omitempty"`
	Outputs   []record.RunFile `json:"outputs,omitempty"`
	Totals    record.RunTotals `json:"totals"`
	Workspace string           `json:"-"` // its directory, on this machine
}

// Decision is what a person says about a call that is in doubt.
type Decision struct {
	Retry      string // it did nothing: make it again
	AssumeDone string // it was carried out: go on
}
