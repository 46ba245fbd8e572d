// Package evaluator is the process that judges candidates. It has a directory, a key and a
// seed of its own, draws tasks from families that only it knows, makes the attempts of both
// arms, and answers with decisions that it signs. Of the sealed set nothing leaves it but
// whether a candidate passed. docs/formats/evaluation.md tells the protocol.
package evaluator

import (
	"context"
	"crypto/ed25519"
	"sync"

	"macaron/internal/contract"
	"macaron/internal/contract/sign"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/gate"
)

// Options are what an evaluator is made of.
type Options struct {
	Dir       string   // its own, as Init made it; the loop has no way to write there
	Contract  string   // the evaluation contract's path; its signature stands beside it
	Outside   []string // directories that the loop may write; Dir and Contract lie in none of them
	Actor     mindforge.Actor
	AtOnce    int // items whose attempts are made at once; 0: one
	Worlds    []mindforge.World
	Safety    mindforge.World // the cases of safety; each family has one
	Catalogue *edit.Catalogue
	// Acting gives the pair with another adapter acting, for suites of a specialist; nil: there are none.
	Acting func(p mindforge.Pair, label string) (mindforge.Pair, error)
	// Traffic counts live turns under the champion and the candidate; nil: there are none.
	Traffic func(ctx context.Context, champion, candidate Side) ([2]gate.Traffic, error)
	Point   func(name string) // called at named points, for faults; may be nil
}

// Side is an arm of live traffic: the name of its candidate, and what is served.
type Side struct {
	Name ids.Digest
	Pair mindforge.Pair
}

// Evaluator answers one question after the other.
type Evaluator struct {
	Options
	mu      sync.Mutex
	key     ed25519.PrivateKey
	seed    [32]byte
	trusted []ed25519.PublicKey // who signs the evaluation contract
	people  []ed25519.PublicKey // who approve
	account *account

	guard     *discovery.Guard // of the tasks of guards, a sealed test's purpose
	guards    string
	questions int
}

// Open takes up an evaluator's directory. One process at a time may.
func Open(o Options) (*Evaluator, error) {
	if err := apart(append([]string{o.Dir}, o.Contract), o.Outside); err != nil {
		return nil, err
	}
	if o.Point == nil {
		o.Point = func(string) {}
	}
	e := &Evaluator{Options: o}
	if err := e.keys(); err != nil {
		return nil, err
	}
	a, err := openAccount(e.path("account.jsonl"))
	if err != nil {
		return nil, err
	}
	e.account = a
	if _, err := e.contract(); err != nil {
		return nil, closing(err, a)
	}
	return e, nil
}

// Close gives the directory free.
func (e *Evaluator) Close() error { return e.account.close() }

func closing(err error, c interface{ close() error }) error {
	_ = c.close() // the first error is told
	return err
}

// Key is the public half of what signs decisions.
func (e *Evaluator) Key() ed25519.PublicKey { return e.key.Public().(ed25519.PublicKey) }

// contract opens the evaluation contract anew, so that a changed byte stops the next question
// and not the next start. The account knows which one it was; another one has to be a later
// version, signed.
func (e *Evaluator) contract() (evaluation.Signed, error) {
	s, err := evaluation.Open(e.Contract, e.trusted)
	if err == nil {
		err = s.Covers(e.Worlds)
	}
	if err != nil {
		return s, err
	}
	last := e.account.opened
	switch {
	case last == nil || s.Name != last.Name || s.Version > last.Version:
		if last != nil && s.Name != last.Name {
			return s, errs.New(errs.ChecksumMismatch, "the evaluation contract has another name than the one that this evaluator began with", "restore it, or make an evaluator of its own for the new one")
		}
		return s, e.account.append(entry{Kind: opened, Evaluation: s.Digest, Name: s.Name, Version: s.Version})
	case s.Digest != last.Evaluation:
		return s, errs.New(errs.ChecksumMismatch, "the evaluation contract is another one and has no higher version", "restore it, or raise its version and have it signed")
	}
	return s, nil
}

// arm is one side of a comparison, read.
type arm struct {
	mindforge.Pair
	name ids.Digest // of the candidate record
}

// read binds a candidate's record to the bytes that are to be run: what is signed is said of
// these bytes.
func (a Arm) read() (arm, error) {
	c, err := contract.Parse(a.Contract)
	if err != nil {
		return arm{}, err
	}
	if c.Hash() != a.Candidate.Contract {
		return arm{}, errs.New(errs.ChecksumMismatch, "the contract is not the one that the candidate names", "ask with the bytes of "+a.Candidate.Contract.Short())
	}
	name, err := a.Candidate.Hash()
	return arm{mindforge.Pair{Contract: c, Revisions: a.Candidate.Revisions}, name}, err
}

// Decide answers one question.
func (e *Evaluator) Decide(ctx context.Context, q Ask) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.contract()
	if err != nil {
		return nil, e.account.refuse(err, q)
	}
	j, err := e.open(s, q)
	if err != nil {
		return nil, e.account.refuse(err, q)
	}
	d, err := e.settle(ctx, j)
	if err != nil {
		return nil, err
	}
	return e.sign(q.Nonce, d)
}

// sign seals a decision with the number of the answer, so that none can be shown twice.
func (e *Evaluator) sign(nonce string, d mindforge.Decision) ([]byte, error) {
	if err := e.account.append(entry{Kind: answered, Nonce: nonce}); err != nil {
		return nil, err
	}
	payload, err := statement(Statement{Decision: d, Nonce: nonce, Sequence: e.account.seq})
	if err != nil {
		return nil, err
	}
	return sign.Seal(PayloadType, payload, e.key, nil)
}
