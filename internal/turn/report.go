package turn

import (
	"time"

	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/money"
	"macaron/internal/record"
	"macaron/internal/route"
	"macaron/internal/session"
)

// Report is what every answer tells of its turn, in each API's `macaron` object.
type Report struct {
	Turn          string             `json:"turn,omitempty"` // absent in a dry run
	Session       string             `json:"session,omitempty"`
	Adapter       string             `json:"adapter"`
	Revision      ids.Digest         `json:"revision"`
	Reason        string             `json:"reason"` // model, follow_up, forced, sticky, fallback, single, split
	Cause         string             `json:"cause,omitempty"`
	Preferred     string             `json:"preferred,omitempty"` // what the router named, where another was taken
	Offered       []string           `json:"offered,omitempty"`   // the shortlist, where there was one
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	Contract      ids.Digest         `json:"contract"`
	Release       ids.Digest         `json:"release,omitempty"` // that was in force, or on trial
	Arm           string             `json:"arm,omitempty"`     // of the trial of a canary: champion or canary
	Hops          []HopReport        `json:"hops,omitempty"`
	Parts         []PartReport       `json:"parts,omitempty"`     // who answered what, where several did
	Compacted     *record.Compacted  `json:"compacted,omitempty"` // what this turn's view began to shorten
	Ignored       []string           `json:"ignored,omitempty"`   // request fields that nobody honours

	Step  int       `json:"-"` // which request of the turn: each later one brings tool results
	Begun time.Time `json:"-"` // when it was taken
	Stop  string    `json:"-"` // the stop string that ended the answer, in Done only
}

// HopReport is one model call of the request; times in milliseconds.
type HopReport struct {
	Hop          string    `json:"hop"`
	Adapter      string    `json:"adapter"`
	PromptTokens int       `json:"prompt_tokens"`
	CachedTokens int       `json:"cached_tokens"`
	OutputTokens int       `json:"output_tokens"`
	Overlay      int       `json:"overlay_tokens,omitempty"` // of the prompt, those that the router computed: the answer is approximate
	FirstMS      float64   `json:"first_ms"`
	TotalMS      float64   `json:"total_ms"`
	CostUSD      money.USD `json:"cost_usd,omitempty"` // where prices are known
}

// PartReport is one specialist's part of a turn.
type PartReport struct {
	Turn     string     `json:"turn"`
	Adapter  string     `json:"adapter"`
	Revision ids.Digest `json:"revision"`
	Request  string     `json:"request"`
	After    int        `json:"after,omitempty"` // the part whose answer it builds on, from 1
}

func partReports(parts []record.JoinedPart) (out []PartReport) {
	for _, p := range parts {
		out = append(out, PartReport{p.Turn, p.Adapter.Name, p.Adapter.Hash, p.Request, p.After})
	}
	return out
}

func (l *life) report() Report {
	revision := l.revision()
	r := Report{
		Turn: l.turn.ID, Session: l.turn.Session, Adapter: l.decision.Label, Revision: revision.Hash,
		Reason: l.decision.Reason, Cause: l.decision.Error, Preferred: l.decision.Preferred, Offered: l.decision.Offered, Probabilities: l.decision.Probabilities, Contract: l.contract.Hash(), Ignored: l.ignored(),
	}
	r.pair(l.turn.Pair)
	r.Step, r.Begun = l.turn.Step()
	for _, h := range l.hops {
		r.Hops = append(r.Hops, hopReport(h))
	}
	r.Parts = partReports(l.parts)
	if n := len(l.turn.Compacted); n > 0 {
		r.Compacted = &l.turn.Compacted[n-1]
	}
	return r
}

// pair tells which pair the turn began with.
func (r *Report) pair(p *record.Pair) {
	if p != nil {
		r.Release, r.Arm = p.Release, p.Arm
	}
}

// Reported is the report of a step that the log has, without what is known only while it
// is served.
func Reported(t session.Turn, n int, s session.Step) Report {
	r := Report{
		Turn: t.ID, Session: t.Session, Adapter: t.Revision.Name, Revision: t.Revision.Hash,
		Contract: t.Contract, Step: n, Begun: s.Opened,
	}
	r.pair(t.Pair)
	if n > 0 { // tool results stay where the call was; a first step that ended before its route has no reason
		r.Reason = route.Sticky
	}
	for _, h := range s.Hops {
		if h.Route != nil && h.Hop == record.HopRoute {
			r.Adapter, r.Reason, r.Cause, r.Probabilities = h.Route.Label, h.Route.Reason, h.Route.Error, h.Route.Probabilities
		}
		if h.Hop == record.HopAnswer {
			r.Revision = h.Adapter.Hash
		}
		if h.Usage != (chat.Usage{}) && h.Error == "" {
			r.Hops = append(r.Hops, hopReport(h))
		}
	}
	if j := s.Joined; j != nil {
		r.Parts = partReports(j.Parts)
		for _, p := range j.Parts {
			r.Hops = append(r.Hops, hopReport(record.Hop{Hop: record.HopAnswer, Adapter: p.Adapter, Usage: p.Usage}))
		}
	}
	return r
}

func hopReport(h record.Hop) HopReport {
	return HopReport{
		Hop: string(h.Hop), Adapter: h.Adapter.Name,
		PromptTokens: h.Usage.PromptTokens, CachedTokens: h.Usage.CachedTokens, OutputTokens: h.Usage.OutputTokens, Overlay: h.Usage.Overlay,
		FirstMS: milliseconds(h.Usage.First), TotalMS: milliseconds(h.Usage.Total), CostUSD: h.CostUSD,
	}
}

// usage sums the hops of the request, so that what was spent is what is told.
func (l *life) usage() chat.Usage {
	var sum chat.Usage
	for i, h := range l.hops {
		if i == 0 {
			sum = h.Usage
			continue
		}
		sum = sum.Add(h.Usage)
	}
	return sum
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
