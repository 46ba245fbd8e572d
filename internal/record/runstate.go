package record

import "time"

// Length is a condition on a run: that the log has so many records of it. Whoever goes on
// with a run states it, so that two processes cannot both.
type Length struct {
	Owner, Run string
	Records    int
}

// RunState is how the log stands on a run.
type RunState struct {
	Owner, Run, Session string
	Status              RunStatus
	Title               string // the beginning of the task
	Mode                string
	Suite               string
	Purpose             Purpose
	Records             int // of the run, from run.opened on
	Opened, Updated     time.Time
}

// Memory is an item that runs of an owner have kept.
type Memory struct {
	Owner, Scope, ID string
	Text             string
	Session          string // of the run that added it
	Time             time.Time
}
