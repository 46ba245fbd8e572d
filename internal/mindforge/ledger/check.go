package ledger

import (
	"math"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
)

// Bounds of what an entry says.
const (
	maxWords   = 256  // bytes of a name or a state
	maxTold    = 8192 // bytes of a sentence
	maxMembers = 4096 // of a list or a table
)

func digests(all ...ids.Digest) error {
	for _, d := range all {
		if d == "" {
			continue
		}
		if _, err := ids.ParseDigest(string(d)); err != nil {
			return err
		}
	}
	return nil
}

func needed(name string, d ids.Digest) error {
	if d == "" {
		return errs.New(errs.InvalidRequest, "an entry of the ledger lacks the hash of "+name, "")
	}
	return digests(d)
}

func words(most int, all ...string) error {
	for _, w := range all {
		if len(w) > most {
			return errs.Newf(errs.TooLarge, "a text of %d bytes in the ledger; %d are possible", len(w), most)
		}
	}
	return nil
}

func members(n int) error {
	if n > maxMembers {
		return errs.Newf(errs.TooLarge, "a list of %d in an entry of the ledger; %d are possible", n, maxMembers)
	}
	return nil
}

func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r Run) check() error {
	return first(digests(r.Settings, r.Evaluation, r.Start), words(maxTold, r.Actor, r.Command))
}

func (s Step) check() error {
	switch s.State {
	case "begun", "ended", "failed", "paused", "resumed":
	default:
		return errs.New(errs.InvalidRequest, "a step is "+errs.Clip(s.State), "use begun, ended, failed, paused or resumed")
	}
	return first(digests(s.Result), words(maxWords, s.Name), words(maxTold, s.Note))
}

// check also computes the identity: nobody can enter one candidate under another's name.
func (c Candidate) check() error {
	h, err := Identity(c.Candidate)
	if err == nil && h != c.Hash {
		err = errs.New(errs.ChecksumMismatch, "the candidate "+c.Hash.Short()+" is "+h.Short(), "")
	}
	x := c.Candidate
	return first(err, digests(append([]ids.Digest{x.Contract, c.Diff}, x.Parents...)...), words(maxWords, string(x.Operator), x.Proposer),
		members(len(x.Edits)), members(len(x.Parents)), members(len(x.Revisions)), members(len(x.Prediction.Fixes)+len(x.Prediction.Regress)))
}

func (o Outcomes) check() error {
	if o.Passes < 0 || o.Items < 0 || math.IsNaN(o.Points) || o.Points < 0 || o.Points > 1 {
		return errs.Newf(errs.InvalidRequest, "outcomes of %d items with %d passes and %g points", o.Items, o.Passes, o.Points)
	}
	return first(needed("a candidate", o.Candidate), digests(o.Evidence), words(maxWords, string(o.Stage), o.Suite), members(len(o.Failures)+len(o.Families)))
}

func (d Decision) check() error {
	x := d.Decision
	return first(needed("a candidate", x.Candidate), digests(x.Against, x.Evaluation, x.Evidence), words(maxWords, string(x.Stage)), words(maxTold, x.Why), words(4*maxTold, d.Envelope))
}

func (m Made) check() error {
	err := first(needed("what was made", m.Hash), words(maxWords, m.What, m.Name), members(len(m.From)+len(m.Tell)))
	for _, s := range m.From {
		err = first(err, needed("a source", s.Hash), words(maxWords, s.What, s.Name))
	}
	for k, v := range m.Tell {
		err = first(err, words(maxWords, k), words(maxTold, v))
	}
	return err
}

func (b Budget) check() error { return words(maxWords, b.What) }

func (r Refused) check() error {
	return first(digests(r.Candidate), words(maxWords, r.What, r.By), words(maxTold, r.Why))
}

// unmeasured is a cost without what a machine's day decides.
func unmeasured(c mindforge.Cost) mindforge.Cost {
	c.CPUMS, c.WallMS = 0, 0
	return c
}

func (r Run) lasting() Body  { return r }
func (s Step) lasting() Body { s.Cost = unmeasured(s.Cost); return s }
func (c Candidate) lasting() Body {
	c.Cost = unmeasured(c.Cost)
	return c
}
func (o Outcomes) lasting() Body {
	o.Cost = unmeasured(o.Cost)
	return o
}

// lasting leaves out the envelope too: it covers the costs.
func (d Decision) lasting() Body {
	d.Decision.Cost, d.Envelope = unmeasured(d.Decision.Cost), ""
	return d
}
func (m Made) lasting() Body { m.Cost = unmeasured(m.Cost); return m }
func (b Budget) lasting() Body {
	if b.What == "seconds" || b.What == "cpu seconds" {
		b.Spent = 0
	}
	return b
}
func (r Refused) lasting() Body { return r }
