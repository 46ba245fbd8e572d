package summary

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/ownview"
	"macaron/internal/record"
	"macaron/internal/session"
)

// do writes one leased summary: by the model, or after enough failures by extract.
func (w *Worker) do(t record.Task) {
	ctx, stop := context.WithTimeout(w.work, lease)
	defer stop()
	served, sum, err := w.compose(ctx, t)
	if err != nil {
		// The queue keeps what was not written, whether we stop or try later.
		after := time.Duration(t.Attempt) * pause
		if errors.Is(err, errParts) {
			after = partsPause
		}
		if w.work.Err() != nil {
			after = 0
		}
		if !errors.Is(err, errParts) {
			w.Meter.SummaryRetry()
			w.Logger.Warn("a summary was not written", "turn", t.Turn, "attempt", t.Attempt, "err", err)
		}
		w.giveBack(ctx, t, after)
		return
	}
	if _, err := w.Log.PutSummary(context.WithoutCancel(ctx), t.Owner, t.Turn, served, sum); err != nil {
		w.Logger.Error("a summary could not be stored", "turn", t.Turn, "err", err)
		w.giveBack(ctx, t, pause)
		return
	}
	w.done.add(t.Turn)
	w.Meter.Summary(sum.Source)
	if served.Hop.Hop != "" && served.Hop.Error == "" {
		w.Meter.Hop(string(record.HopSummary), served.Hop.Usage)
	}
}

// giveBack lets a task be taken again after a while, and looks for it then.
func (w *Worker) giveBack(ctx context.Context, t record.Task, after time.Duration) {
	if err := w.Log.ReleaseSummary(context.WithoutCancel(ctx), t, after); err != nil {
		w.Logger.Error("a summary could not be given back", "turn", t.Turn, "err", err)
	}
	time.AfterFunc(after+10*time.Millisecond, w.Wake)
}

// compose gives the summary to store, or an error when it should be tried again.
func (w *Worker) compose(ctx context.Context, t record.Task) (session.Served, record.Summary, error) {
	history, err := w.Log.History(ctx, t.Owner, t.Turn)
	if err != nil {
		return session.Served{}, record.Summary{}, err
	}
	if len(history) == 0 {
		return session.Served{}, record.Summary{}, errs.Newf(errs.Internal, "turn %s has no history", t.Turn)
	}
	turn := history[len(history)-1]
	c, err := w.Contracts.Contract(turn.Contract)
	if err != nil {
		return session.Served{}, record.Summary{}, err
	}
	if len(turn.Joined) > 0 {
		sum, err := w.joined(ctx, c, t, turn)
		return session.Served{}, sum, err
	}
	served, text, err := w.ask(ctx, c, history)
	switch {
	case err == nil:
		return served, record.Summary{Text: text, Source: record.SummaryModel}, nil
	case w.work.Err() != nil || t.Attempt < attempts && transient(err):
		return served, record.Summary{}, err
	}
	served.Hop.Error, served.Hop.Detail = string(errs.CodeOf(err)), err.Error()
	return served, record.Summary{Text: c.Extract(turn.Answer()), Source: record.SummaryExtract, Error: string(errs.CodeOf(err))}, nil
}

// transient reports whether the same call may succeed later.
func transient(err error) bool {
	switch errs.CodeOf(err) {
	case errs.Overloaded, errs.UpstreamUnavailable, errs.UpstreamFailed, errs.StorageFailed, errs.Canceled:
		return true
	}
	return false
}

// ask lets the turn's own specialist go on after its answer: the same view, tools
// and template, so that the answer's KV is reused.
func (w *Worker) ask(ctx context.Context, c *contract.Contract, history []session.Turn) (served session.Served, text string, err error) {
	turn := history[len(history)-1]
	defer func() {
		if p := recover(); p != nil { // in the background there is no request to fail
			err = errs.New(errs.Internal, fmt.Sprintf("the summary of %s panicked: %v", turn.ID, p), "")
		}
	}()
	served = session.Served{Hop: record.Hop{ID: w.IDs.New(ids.Hop), Hop: record.HopSummary, Adapter: turn.Revision}}
	view, err := ownview.SummaryPrompt(c, session.Views(history[:len(history)-1]), turn.View())
	if err != nil {
		return served, "", err
	}
	zero := 0.0
	// With the answer's tools the prompt begins as the answer's did. A call in place of
	// a summary has no text and becomes an extract.
	r := backend.Request{
		Messages: view, Tools: turn.Choice.Offered(turn.Tools), ToolPrompt: c.ToolPrompt(),
		Revision: turn.Revision, Sampling: chat.Sampling{Temperature: &zero}.Over(c.Sampling.Chat()),
		MaxTokens: c.Budgets.SummaryTokens, Salt: turn.Owner, Session: turn.Session, Wanted: backend.Wanted{TokenIDs: true, Whole: true}, Quiet: c.Quiet(),
		Hop: backend.Hop{Kind: string(record.HopSummary), Turn: turn.ID},
	}
	served.Hop.Sampling = r.Sampling
	var all backend.Collected
	for e, err := range w.Generator.Generate(ctx, r) {
		if err != nil {
			served.Blob = all.Record(&served.Hop)
			return served, "", err
		}
		all.Add(e)
	}
	served.Blob = all.Record(&served.Hop)
	message := all.Message()
	served.Hop.Message = &message
	if text = strings.TrimSpace(all.Text()); text == "" {
		return served, "", errs.New(errs.Internal, fmt.Sprintf("the summary of %s is empty", turn.ID), "")
	}
	return served, text, nil
}
