// Package sign signs contracts with ed25519 keys and checks signatures. A signature stands
// in a file of its own, in the DSSE form (https://github.com/secure-systems-lab/dsse): it
// covers the bytes of every file of the contract, and the contract that they make.
package sign

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"slices"

	"macaron/internal/canonical"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Suffix is what a signature's file has behind the name of the contract's.
const Suffix = ".sig"

// PayloadType names what is signed.
const PayloadType = "application/vnd.macaron.hcp.statement.v1+json"

// The bounds of a signature file.
const (
	MaxBytes      = 256 << 10
	maxSignatures = 32
)

// Statement is what is signed: the contract's name by content, and the bytes that made it.
type Statement struct {
	Contract ids.Digest      `json:"contract"` // of the contract without overlays
	Root     ids.Digest      `json:"root"`     // of the contract's own file
	Files    []contract.Part `json:"files"`    // of the others, by path
}

// Envelope is the file.
type Envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     []byte      `json:"payload"` // canonical JSON of a Statement
	Signatures  []Signature `json:"signatures"`
}

// Signature is one key's.
type Signature struct {
	KeyID string `json:"keyid"`
	Sig   []byte `json:"sig"`
}

// Sign adds a key's signature to an envelope's bytes, nil for none so far. An envelope that
// speaks of other bytes is replaced.
func Sign(s *contract.Source, key ed25519.PrivateKey, before []byte) ([]byte, error) {
	payload, err := statement(s)
	if err != nil {
		return nil, err
	}
	return Seal(PayloadType, payload, key, before)
}

// Seal is Sign of any payload of a kind.
func Seal(kind string, payload []byte, key ed25519.PrivateKey, before []byte) ([]byte, error) {
	e := Envelope{PayloadType: kind, Payload: payload}
	if old, err := parse(kind, before); err == nil && bytes.Equal(old.Payload, payload) {
		e.Signatures = old.Signatures
	}
	id := KeyID(key.Public().(ed25519.PublicKey))
	e.Signatures = slices.DeleteFunc(e.Signatures, func(s Signature) bool { return s.KeyID == id })
	e.Signatures = append(e.Signatures, Signature{id, ed25519.Sign(key, message(kind, payload))})
	b, err := json.MarshalIndent(e, "", "  ")
	return append(b, '\n'), errs.Wrap(errs.Internal, err, "the signature cannot be written", "")
}

// Verify checks that an envelope speaks of exactly these bytes and that one of the trusted
// keys has signed it. It gives the identifiers of the trusted keys that have.
func Verify(s *contract.Source, envelope []byte, trusted []ed25519.PublicKey) ([]string, error) {
	e, good, err := Unseal(PayloadType, envelope, trusted)
	if err != nil {
		return nil, err
	}
	want, err := statement(s)
	if err != nil {
		return nil, err
	}
	switch {
	case len(good) == 0:
		return nil, refused("no trusted key has signed the contract")
	case !bytes.Equal(e.Payload, want):
		return nil, refused("the contract is not the one that was signed: " + difference(e.Payload, want))
	}
	return good, nil
}

// Unseal reads an envelope of a kind and gives the identifiers of the trusted keys that have
// signed it, none perhaps. What the payload says is the caller's to compare.
func Unseal(kind string, envelope []byte, trusted []ed25519.PublicKey) (e Envelope, good []string, err error) {
	if e, err = parse(kind, envelope); err != nil {
		return e, nil, err
	}
	for _, sig := range e.Signatures {
		for _, key := range trusted {
			if KeyID(key) == sig.KeyID && ed25519.Verify(key, message(e.PayloadType, e.Payload), sig.Sig) {
				good = append(good, sig.KeyID)
			}
		}
	}
	return e, good, nil
}

// Current refuses an envelope that speaks of other bytes than the contract's. It does not
// say that anybody's signature is good.
func Current(s *contract.Source, envelope []byte) error {
	e, err := parse(PayloadType, envelope)
	if err != nil {
		return err
	}
	want, err := statement(s)
	if err != nil {
		return err
	}
	if !bytes.Equal(e.Payload, want) {
		return refused("the contract is not the one that was signed: " + difference(e.Payload, want))
	}
	return nil
}

func refused(why string) error {
	return errs.New(errs.ChecksumMismatch, why, "have it signed again with macaron hcp sign, or restore the signed files")
}

// statement is the payload for a contract's files.
func statement(s *contract.Source) ([]byte, error) {
	parts := s.Parts()
	st := Statement{Contract: s.Plain(), Root: parts[0].Digest, Files: append([]contract.Part{}, parts[1:]...)}
	slices.SortFunc(st.Files, func(a, b contract.Part) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) })
	return canonical.Bytes(st)
}

// difference names the first file that differs.
func difference(signed, now []byte) string {
	var a, b Statement
	if json.Unmarshal(signed, &a) != nil || json.Unmarshal(now, &b) != nil {
		return "the statement is malformed"
	}
	if a.Root != b.Root {
		return "its own file has changed"
	}
	for _, f := range b.Files {
		if !slices.Contains(a.Files, f) {
			return f.Path + " has changed or is new"
		}
	}
	return "a file is gone, or this version of the program reads it otherwise"
}

// message is what a DSSE signature signs: the pre-authentication encoding.
func message(kind string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
}

func parse(kind string, text []byte) (Envelope, error) {
	var e Envelope
	if len(text) == 0 || len(text) > MaxBytes {
		return e, malformed(fmt.Errorf("%d bytes", len(text)))
	}
	want, err := canonical.JSON(text) // refuses keys that stand there twice
	if err != nil {
		return e, malformed(err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return e, malformed(err)
	}
	if got, err := canonical.Bytes(e); err != nil || !bytes.Equal(got, want) { // Base64 with bits that say nothing
		return e, malformed(err)
	}
	if e.PayloadType != kind || len(e.Signatures) == 0 || len(e.Signatures) > maxSignatures {
		return e, malformed(fmt.Errorf("type %.80q, %d signatures", e.PayloadType, len(e.Signatures)))
	}
	return e, nil
}

func malformed(err error) error {
	return &errs.Error{Code: errs.FormatInvalid, Message: "the signature is malformed", Next: "sign the contract again with macaron hcp sign", Err: err}
}

// KeyID names a public key: the SHA-256 of its 32 bytes.
func KeyID(key ed25519.PublicKey) string { return string(ids.DigestOf(key)) }
