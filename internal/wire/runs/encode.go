package runs

import (
	"encoding/json"
	"net/http"
	"time"

	"macaron/internal/record"
	"macaron/internal/transcript"
	"macaron/internal/wire/chatapi"
)

// summary is a run in a list.
type summary struct {
	ID      string           `json:"id"`
	Object  string           `json:"object"` // run
	Status  record.RunStatus `json:"status"`
	Title   string           `json:"title"`
	Mode    string           `json:"mode"`
	Suite   string           `json:"suite,omitempty"`
	Purpose record.Purpose   `json:"purpose"`
	Session string           `json:"session"`
	Opened  time.Time        `json:"opened"`
	Updated time.Time        `json:"updated"`
}

// List is the answer that lists runs, of which at most limit were asked for.
func List(all []record.RunState, limit int) any {
	out := listed{Object: "list", Data: []summary{}, More: len(all) == limit}
	for _, s := range all {
		out.Data = append(out.Data, summaryOf(s))
	}
	return out
}

type listed struct {
	Object string    `json:"object"` // list
	Data   []summary `json:"data"`
	More   bool      `json:"has_more"`
}

func summaryOf(s record.RunState) summary {
	return summary{ID: s.Run, Object: "run", Status: s.Status, Title: s.Title, Mode: s.Mode, Suite: s.Suite, Purpose: s.Purpose, Session: s.Session, Opened: s.Opened, Updated: s.Updated}
}

// whole is a run.
type whole struct {
	ID       string           `json:"id"`
	Object   string           `json:"object"` // run
	Status   record.RunStatus `json:"status"`
	Reason   string           `json:"reason,omitempty"`
	Resume   bool             `json:"resumable"`
	Answer   string           `json:"answer,omitempty"`
	Task     record.RunTask   `json:"task"`
	Mode     string           `json:"mode"`
	Session  string           `json:"session"`
	Contract string           `json:"contract"`
	Purpose  record.Purpose   `json:"purpose"`
	Pins     record.RunPins   `json:"pins"`
	Limits   record.RunLimits `json:"limits"`
	Totals   record.RunTotals `json:"totals"`
	Outputs  []record.RunFile `json:"outputs,omitempty"`
	Feedback int              `json:"feedback,omitempty"` // the last score
	Waits    *waits           `json:"waits,omitempty"`    // for a person
	Opened   time.Time        `json:"opened"`
}

// waits is the call that a person is to say something about.
type waits struct {
	Call      string          `json:"call"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Effect    string          `json:"effect,omitempty"`
}

// judged is a judgement that was kept.
type judged struct {
	Run string `json:"run"`
	record.Feedback
}

// tell writes a run as it stands.
func (d Deps) tell(w http.ResponseWriter, r *http.Request, id string) error {
	t, err := d.Harness.Transcript(r.Context(), d.Owner(r), id)
	if err != nil {
		return err
	}
	return chatapi.WriteJSON(w, Whole(t))
}

// Whole is the JSON of a run as it stands.
func Whole(t *transcript.Run) any {
	out := whole{ID: t.Head.Run, Object: "run", Status: t.Status, Resume: t.Status.Resumable(), Task: t.Opened.Task, Mode: t.Opened.Mode, Session: t.Head.Session,
		Contract: string(t.Head.Contract), Purpose: t.Head.Purpose, Pins: t.Opened.Pins, Limits: t.Opened.Limits, Totals: t.Totals, Opened: t.Head.Time}
	if t.Judged != nil {
		out.Feedback = t.Judged.Score
	}
	if c := t.Closed; c != nil && t.Status != record.RunRunning {
		out.Reason, out.Answer, out.Outputs = c.Reason, c.Answer, c.Outputs
		if c.Call != "" {
			out.Waits = waiting(t, c.Call)
		}
	}
	return out
}

// waiting tells of a call what a person needs to decide: what it would do.
func waiting(t *transcript.Run, id string) *waits {
	out := &waits{Call: id}
	if c := t.Call(id); c != nil && c.Called != nil {
		out.Name, out.Arguments, out.Effect = c.Called.Name, c.Called.Arguments, c.Called.Effect
		return out
	}
	for _, n := range t.Notes {
		if n.Note == record.NoteApprovalAsked && n.Call == id && json.Unmarshal([]byte(n.Text), out) == nil {
			out.Call = id
		}
	}
	return out
}
