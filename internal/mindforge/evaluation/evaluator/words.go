package evaluator

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"

	"macaron/internal/canonical"
	"macaron/internal/contract/sign"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
)

// PayloadType names what a decision's signature covers.
const PayloadType = "application/vnd.macaron.evaluation.decision.v1+json"

// Arm is one side of a comparison: the candidate's record, and the text of its contract.
type Arm struct {
	Candidate mindforge.Candidate `json:"candidate"`
	Contract  []byte              `json:"contract"`
}

// Ask is a question.
type Ask struct {
	Nonce     string          `json:"nonce"` // 32 hex digits that were never used before
	Stage     mindforge.Stage `json:"stage"`
	Champion  Arm             `json:"champion"`
	Candidate Arm             `json:"candidate"`
	Approvals [][]byte        `json:"approvals,omitempty"` // envelopes that people signed
}

// Statement is what the evaluator signs.
type Statement struct {
	Decision mindforge.Decision `json:"decision"`
	Nonce    string             `json:"nonce"`    // of the question
	Sequence int64              `json:"sequence"` // of the answer, rising for ever
}

func statement(s Statement) ([]byte, error) { return canonical.Bytes(s) }

// Verifier reads decisions as the loop may believe them.
type Verifier struct {
	Key        ed25519.PublicKey
	Evaluation ids.Digest // the contract that the loop began under
	Last       int64      // the highest sequence that was seen
}

// Read reads an envelope that was answered at any time, such as one of a ledger.
func (v Verifier) Read(envelope []byte) (Statement, error) {
	e, good, err := sign.Unseal(PayloadType, envelope, []ed25519.PublicKey{v.Key})
	if err != nil {
		return Statement{}, err
	}
	if len(good) == 0 {
		return Statement{}, forged("the evaluator's key has not signed it")
	}
	var s Statement
	dec := json.NewDecoder(bytes.NewReader(e.Payload))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, forged("it says nothing that this build knows")
	}
	if s.Decision.Evaluation != v.Evaluation {
		return s, forged("it was made under another evaluation contract")
	}
	return s, nil
}

// Fresh is Read of the answer to a question that was just asked: of its pair, its stage and
// its nonce, and later than every answer before. Last is its sequence then.
func (v *Verifier) Fresh(envelope []byte, q Ask) (Statement, error) {
	s, err := v.Read(envelope)
	if err != nil {
		return s, err
	}
	candidate, err := q.Candidate.Candidate.Hash()
	if err != nil {
		return s, err
	}
	champion, err := q.Champion.Candidate.Hash()
	if err != nil {
		return s, err
	}
	d := s.Decision
	switch {
	case d.Candidate != candidate || d.Against != champion || d.Stage != q.Stage:
		return s, forged("it speaks of another pair or stage")
	case s.Nonce != q.Nonce || s.Sequence <= v.Last:
		return s, forged(fmt.Sprintf("it is old: answer %d, and %d was seen", s.Sequence, v.Last))
	}
	v.Last = s.Sequence
	return s, nil
}

func forged(why string) error {
	return errs.New(errs.ChecksumMismatch, "a decision is not the evaluator's: "+why, "nothing is promoted by it; look at who wrote it")
}
