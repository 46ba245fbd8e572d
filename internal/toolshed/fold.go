package toolshed

import (
	"macaron/internal/ids"
	"macaron/internal/record"
)

// The test that demotes. A promoted tool claims that at most one call in twenty fails.
// Each call multiplies a wealth by how much likelier its outcome is under a failure rate
// of three in ten; the wealth never starts below 1. A tool that keeps its claim reaches the
// bound after 200 calls or more, on average (the wealth is an e-detector: Shin, Ramdas and
// Rinaldo, 2023); three failures in a row reach it at once.
const (
	claimed = 0.05
	broken  = 0.3
	ruin    = 200
)

// wealth after one more call.
func wealth(before float64, ok bool) float64 {
	ratio := (1 - broken) / (1 - claimed)
	if !ok {
		ratio = broken / claimed
	}
	return max(before, 1) * ratio
}

// fold makes a tool's state of its records. Pure.
func fold(shelf record.Shelf, all []record.Record) Entry {
	e := Entry{Tool: shelf.Tool, Status: Saved, session: shelf.Session}
	for _, r := range all {
		if r.Run != string(shelf.Tool) {
			continue
		}
		switch b := r.Body.(type) {
		case record.ToolSaved:
			e.Saved = b
		case record.ToolJudged:
			e.Judgements = append(e.Judgements, b)
			if b.Passed {
				e.Status, e.Wealth, e.cases = Promoted, 1, b.Cases
			}
		case record.ToolUsed:
			e.Uses++
			if b.OK {
				e.Successes++
			}
			e.Wealth = wealth(e.Wealth, b.OK)
		case record.ToolDemoted:
			e.Status = Demoted
			e.Demotions = append(e.Demotions, b.Reason)
		}
	}
	return e
}

// promotedWith reports the set of cases that promoted a tool; "" if it is not promoted.
func (e Entry) promotedWith() ids.Digest {
	if e.Status != Promoted {
		return ""
	}
	return e.cases
}
