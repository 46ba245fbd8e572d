package catalogue

import (
	"bytes"
	"crypto/ed25519"

	"macaron/internal/adapter"
	"macaron/internal/canonical"
	"macaron/internal/contract/sign"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// StatementType names what a revision's signature signs.
const StatementType = "application/vnd.macaron.revision.statement.v1+json"

// statement is what is signed: the revision, and what it is said to come from.
type statement struct {
	Revision ids.Digest `json:"revision"`
	Base     ids.Digest `json:"base,omitempty"`
	Parent   ids.Digest `json:"parent,omitempty"`
	Contract ids.Digest `json:"contract,omitempty"`
	Data     ids.Digest `json:"data,omitempty"`
	Recipe   ids.Digest `json:"recipe,omitempty"`
}

func stated(p adapter.Published) ([]byte, error) {
	return canonical.Bytes(statement{p.Hash, p.Base, p.Parent, p.Contract, p.Data, p.Recipe})
}

// Sign gives the envelope of a revision with a key's signature added to those that it has.
func Sign(p adapter.Published, key ed25519.PrivateKey) (string, error) {
	payload, err := stated(p)
	if err != nil {
		return "", err
	}
	b, err := sign.Seal(StatementType, payload, key, []byte(p.Signature))
	return string(b), err
}

// Verify gives the identifiers of the trusted keys that have signed a revision and where it
// comes from. None is an error, as is a signature over something else.
func Verify(p adapter.Published, trusted []ed25519.PublicKey) ([]string, error) {
	if p.Signature == "" {
		return nil, errs.New(errs.ChecksumMismatch, "nobody has signed the revision "+p.Hash.Short(), "publish it with --key, or leave --trusted out")
	}
	e, good, err := sign.Unseal(StatementType, []byte(p.Signature), trusted)
	if err != nil {
		return nil, err
	}
	want, err := stated(p)
	if err != nil {
		return nil, err
	}
	switch {
	case !bytes.Equal(e.Payload, want):
		return nil, errs.New(errs.ChecksumMismatch, "the signature of "+p.Hash.Short()+" speaks of another revision, or of another origin", "get the revision from its publisher again")
	case len(good) == 0:
		return nil, errs.New(errs.ChecksumMismatch, "no trusted key has signed the revision "+p.Hash.Short(), "name the publisher's key with --trusted")
	}
	return good, nil
}
