package evaluator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"macaron/internal/canonical"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
)

// The kinds of entries.
const (
	opened   = "opened"   // an evaluation contract came into force
	asked    = "asked"    // a sealed test is about to be made: its number and alpha are spent
	decided  = "decided"  // a stage has an outcome
	answered = "answered" // an answer was signed
	refused  = "refused"  // something was asked that may not be
)

const (
	maxAccount = 1 << 28
	maxRefused = 200 // that are written down: who asks without end fills no disk
)

// entry is a line of the account. Each names the hash of the one before.
type entry struct {
	Seq        int64               `json:"seq"`
	Prev       ids.Digest          `json:"prev,omitempty"`
	Kind       string              `json:"kind"`
	Evaluation ids.Digest          `json:"evaluation,omitempty"`
	Name       string              `json:"name,omitempty"`
	Version    int                 `json:"version,omitempty"`
	Pair       ids.Digest          `json:"pair,omitempty"` // of both arms by what they are, not by who proposed them
	Stage      mindforge.Stage     `json:"stage,omitempty"`
	Test       int                 `json:"test,omitempty"`
	Alpha      float64             `json:"alpha,omitempty"`
	Nonce      string              `json:"nonce,omitempty"`
	Decision   *mindforge.Decision `json:"decision,omitempty"`
	Why        string              `json:"why,omitempty"` // of a sealed test, for the evaluator's owner alone
	Cost       *mindforge.Cost     `json:"cost,omitempty"`
}

// look is one stage of one pair under one evaluation contract.
type look struct {
	evaluation, pair ids.Digest
	stage            mindforge.Stage
}

// account is what the evaluator knows of its own past, on disk before it matters.
type account struct {
	f       *os.File
	seq     int64
	head    ids.Digest
	opened  *entry
	tests   map[look]int       // numbers of sealed tests that were begun
	count   map[ids.Digest]int // of sealed tests, by evaluation contract
	past    map[look]mindforge.Decision
	nonces  map[string]bool
	refused int
}

// openAccount reads an account to its end and takes the place of its writer.
func openAccount(path string) (*account, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, disk.OpenError(err, "the evaluator's account "+path+" cannot be opened", "restore it: without it nobody knows which sealed tests were spent, and the seed is worth nothing")
	}
	a := &account{f: f, tests: map[look]int{}, count: map[ids.Digest]int{}, past: map[look]mindforge.Decision{}, nonces: map[string]bool{}}
	if ok, err := disk.TryLock(f); err != nil || !ok {
		return nil, closing(errs.New(errs.HomeLocked, "another evaluator uses "+path, "stop it first"), a)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxAccount+1))
	if err != nil || len(text) > maxAccount {
		return nil, closing(errs.Newf(errs.TooLarge, "the evaluator's account cannot be read whole: %d bytes", len(text)), a)
	}
	if err := a.replay(text); err != nil {
		return nil, closing(err, a)
	}
	return a, nil
}

func (a *account) close() error { return a.f.Close() }

// replay reads the lines. The last one may have been cut by a kill: nothing was done on it yet.
func (a *account) replay(text []byte) error {
	for n := int64(1); len(text) > 0; n++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			info, err := a.f.Stat()
			if err == nil {
				err = a.f.Truncate(info.Size() - int64(len(line)))
			}
			return disk.Error(err, "the evaluator's account cannot be mended")
		}
		var e entry
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&e); err != nil || e.Seq != n || e.Prev != a.head {
			return errs.New(errs.ChecksumMismatch, fmt.Sprintf("line %d of the evaluator's account is not what was written there", n), "restore it from a backup; no decision can be made without it")
		}
		a.take(e, line)
		text = rest
	}
	return nil
}

// take makes an entry part of what is known.
func (a *account) take(e entry, line []byte) {
	a.seq, a.head = e.Seq, ids.DigestOf(line)
	at := look{e.Evaluation, e.Pair, e.Stage}
	switch e.Kind {
	case opened:
		a.opened = &e
	case asked:
		a.tests[at] = e.Test
		a.count[e.Evaluation] = max(a.count[e.Evaluation], e.Test)
	case decided:
		if e.Decision != nil {
			a.past[at] = *e.Decision
		}
	case answered:
		a.nonces[e.Nonce] = true
	case refused:
		a.refused++
	}
}

// append writes an entry. It is durable when append returns.
func (a *account) append(e entry) error {
	e.Seq, e.Prev = a.seq+1, a.head
	line, err := canonical.Bytes(e)
	if err != nil {
		return err
	}
	if _, err := a.f.Write(append(bytes.Clone(line), '\n')); err != nil {
		return disk.Error(errors.Join(err, a.f.Close()), "the evaluator's account cannot be written")
	}
	if err := a.f.Sync(); err != nil {
		return disk.Error(err, "the evaluator's account cannot be written")
	}
	a.take(e, line)
	return nil
}

// refuse writes down what was refused, as long as there is room for it.
func (a *account) refuse(cause error, q Ask) error {
	switch errs.CodeOf(cause) {
	case errs.ChecksumMismatch, errs.Forbidden, errs.InvalidRequest, errs.FormatInvalid, errs.TooLarge, errs.BudgetSpent:
	default:
		return cause
	}
	if a.refused >= maxRefused {
		return cause
	}
	if err := a.append(entry{Kind: refused, Stage: mindforge.Stage(errs.Clip(string(q.Stage))), Why: errs.Clip(cause.Error())}); err != nil {
		return err
	}
	return cause
}
