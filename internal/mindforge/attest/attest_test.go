package attest

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"

	"macaron/internal/canonical"
	"macaron/internal/contract/sign"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
)

func entry(t *testing.T, seq int64, b ledger.Body) ledger.Entry {
	t.Helper()
	body, err := canonical.Bytes(b)
	if err != nil {
		t.Fatal(err)
	}
	e, err := ledger.Seal(ledger.Head{Seq: seq - 1}, 1, ledger.Entry{Owner: "o", Run: "run_1", Key: "k", Kind: b.Kind(), At: time.Unix(1e9, 5).UTC(), Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func entries(t *testing.T) []ledger.Entry {
	c, x := ids.DigestOf([]byte("candidate")), ids.DigestOf([]byte("x"))
	return []ledger.Entry{
		entry(t, 1, ledger.Step{Name: "discovery", State: "begun"}),
		entry(t, 2, ledger.Decision{Decision: mindforge.Decision{Candidate: c, Against: x, Evaluation: x, Stage: mindforge.Validation, Pass: true, Why: "<b>", Evidence: x}}),
		entry(t, 3, ledger.Decision{Decision: mindforge.Decision{Candidate: c, Stage: mindforge.Sealed}}),
		entry(t, 4, ledger.Made{What: "revision", Name: "L1", Hash: x, From: []ledger.Source{{What: "base", Hash: x}, {What: "dataset", Name: "d", Hash: c}}, Tell: map[string]string{"steps": "3"}}),
		entry(t, 5, ledger.Moved{Alias: ledger.Champion, Version: 1, To: x, Because: c}),
		entry(t, 6, ledger.Moved{Alias: ledger.Canary, Version: 1, To: x}),
		entry(t, 7, ledger.Moved{Alias: ledger.Champion, Version: 2, From: x}),
	}
}

// verifier is somebody else's reader of an ed25519 key.
type verifier struct{ key ed25519.PublicKey }

func (v verifier) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(v.key, data, sig) {
		return errors.New("not signed")
	}
	return nil
}

func (v verifier) KeyID() (string, error)   { return sign.KeyID(v.key), nil }
func (v verifier) Public() crypto.PublicKey { return v.key }

// The envelopes and statements are taken by the libraries of those who defined them.
func TestStatementsAreTaken(t *testing.T) {
	public, key, err := ed25519.GenerateKey(strings.NewReader(strings.Repeat("k", 64)))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Statements(entries(t))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, s := range all {
		file, err := Seal(s, key)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, taken(t, file, public))
		if again, err := Seal(s, key); err != nil || string(again) != string(file) {
			t.Error("the same entry is told in other bytes")
		}
		broken := strings.Replace(string(file), `"payload": "ey`, `"payload": "eyI`, 1)
		if err := opened([]byte(broken), public, &intoto.Statement{}); err == nil {
			t.Error("an altered statement was taken")
		}
	}
	if got := strings.Join(kinds, " "); got != strings.Join([]string{TestResult, TestResult, Provenance, Verification}, " ") {
		t.Error(got)
	}
}

func taken(t *testing.T, file []byte, key ed25519.PublicKey) string {
	t.Helper()
	var s intoto.Statement
	if err := opened(file, key, &s); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	if d := s.Predicate.Fields["buildDefinition"]; d != nil {
		if n := len(d.GetStructValue().Fields["resolvedDependencies"].GetListValue().Values); n != 2 {
			t.Errorf("%d dependencies", n)
		}
	}
	return s.PredicateType
}

// opened checks an envelope with the library of the DSSE specification.
func opened(file []byte, key ed25519.PublicKey, s *intoto.Statement) error {
	var e dsse.Envelope
	if err := json.Unmarshal(file, &e); err != nil {
		return err
	}
	v, err := dsse.NewEnvelopeVerifier(verifier{key})
	if err != nil {
		return err
	}
	if _, err := v.Verify(context.Background(), &e); err != nil {
		return err
	}
	payload, err := e.DecodeB64Payload()
	if err == nil {
		err = protojson.Unmarshal(payload, s)
	}
	return err
}
