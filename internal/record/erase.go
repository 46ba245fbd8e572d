package record

import "time"

// Erase asks for the deletion of sessions.
type Erase struct {
	Why    string    // kept in the log
	Time   time.Time // when
	Before time.Time // only if nothing of it has changed since; zero: whenever
	DryRun bool      // count only
}

// Erased is what stays of a session that was deleted: that it was there, why it is
// gone, and how much it was.
type Erased struct {
	Owner   string    `json:"owner"`
	Session string    `json:"session"`
	Why     string    `json:"why"`
	Time    time.Time `json:"time"`
	Records int64     `json:"records"`
	Turns   int64     `json:"turns"`
	Bytes   int64     `json:"bytes"` // of bodies and blobs
}
