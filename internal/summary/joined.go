package summary

import (
	"context"
	"errors"
	"strings"
	"time"

	"macaron/internal/contract"
	"macaron/internal/record"
	"macaron/internal/session"
)

// A turn that several specialists answered is summarised by the summaries of its parts,
// which their own specialists write. Until they are there the turn is looked at again.
const (
	partsPause    = 300 * time.Millisecond
	partsAttempts = 400
)

// errParts says that a part still lacks its summary.
var errParts = errors.New("a part of the turn has no summary yet")

// joined gives the summary of a turn that several specialists answered.
func (w *Worker) joined(ctx context.Context, c *contract.Contract, t record.Task, turn session.Turn) (record.Summary, error) {
	var texts []string
	for _, p := range turn.Joined {
		part, err := w.Log.Turn(ctx, t.Owner, p.Turn)
		if err != nil {
			return record.Summary{}, err
		}
		switch {
		case part.SummarySource == "" && t.Attempt < partsAttempts:
			return record.Summary{}, errParts
		case part.SummarySource == "":
			texts = append(texts, c.Extract(p.Text))
		case part.Summary != "":
			texts = append(texts, part.Summary)
		}
	}
	return record.Summary{Text: strings.Join(texts, " "), Source: record.SummaryParts}, nil
}
