package web

import (
	"encoding/json"
	"fmt"
	"net/http"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/limits"
	"macaron/internal/record"
)

// The longest texts that a judgement may carry, in bytes.
const (
	reasonBytes     = 2 << 10
	correctionBytes = 64 << 10
)

// judgement is the body of POST /v1/feedback, and of its answer. Each one is a record
// of its own; the last one of a turn is what stands.
type judgement struct {
	Turn       string `json:"turn"`
	Score      int    `json:"score"` // +1, -1, or 0 to take it back
	Reason     string `json:"reason,omitempty"`
	Correction string `json:"correction,omitempty"`
}

func (s *server) feedback(r *http.Request) (any, error) {
	if err := limits.ContentType(r.Header.Get("Content-Type")); err != nil {
		return nil, err
	}
	body, err := limits.Body(r.Body, r.ContentLength)
	if err != nil {
		return nil, err
	}
	j, err := parseJudgement(body)
	if err != nil {
		return nil, err
	}
	f := record.Feedback{Score: j.Score, Reason: j.Reason, Correction: j.Correction}
	if err := s.Log.Feedback(r.Context(), s.Owner(r), j.Turn, f); err != nil {
		return nil, err
	}
	return j, nil
}

// parseJudgement reads the body strictly: an unknown or missing field is an error.
func parseJudgement(body []byte) (j judgement, err error) {
	members, err := limits.Object("", body)
	if err != nil {
		return j, err
	}
	for _, name := range []string{"turn", "score"} {
		if limits.Absent(members[name]) {
			return j, errs.New(errs.InvalidRequest, "the field "+name+" is missing", "send turn and score").In(name)
		}
	}
	for name, raw := range members {
		if limits.Absent(raw) {
			continue
		}
		if err := j.set(name, raw); err != nil {
			return judgement{}, err
		}
	}
	return j, ids.Check(ids.Turn, j.Turn)
}

func (j *judgement) set(name string, raw json.RawMessage) (err error) {
	switch name {
	case "turn":
		j.Turn, err = limits.Text(name, raw, limits.NameBytes)
	case "score":
		var n int64
		n, err = limits.Whole(name, raw, -1, 1)
		j.Score = int(n)
	case "reason":
		j.Reason, err = limits.Text(name, raw, reasonBytes)
	case "correction":
		j.Correction, err = limits.Text(name, raw, correctionBytes)
	default:
		err = errs.New(errs.InvalidRequest, fmt.Sprintf("the field %.40q is not known", name), "send turn, score, reason, correction").In(name)
	}
	return err
}
