package loop

import (
	"encoding/json"
	"strings"

	"macaron/internal/ids"
)

// Wanted is what a run waits for: a person's yes to a candidate in place of the champion.
type Wanted struct {
	Candidate  ids.Digest `json:"candidate"`
	Against    ids.Digest `json:"against"`
	Evaluation ids.Digest `json:"evaluation"`
	Why        string     `json:"why"`
}

// waits marks a note of a job's progress that tells what it waits for.
const waits = "waits for approval: "

// Waits is a note of what a job waits for.
func Waits(w Wanted) string {
	raw, _ := json.Marshal(w) //nolint:errchkjson // strings alone
	return waits + string(raw)
}

// WaitsFor reads such a note; false: the job waits for nobody.
func WaitsFor(note string) (w Wanted, ok bool) {
	text, ok := strings.CutPrefix(note, waits)
	return w, ok && json.Unmarshal([]byte(text), &w) == nil
}
