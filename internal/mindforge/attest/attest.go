// Package attest tells what a ledger says in the words of in-toto, so that tools which know
// nothing of this program can check it: test results of the gate, provenance of what was
// made, and a verification summary of each promotion, in DSSE envelopes. Pure.
package attest

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"

	provenance "github.com/in-toto/attestation/go/predicates/provenance/v1"
	results "github.com/in-toto/attestation/go/predicates/test_result/v0"
	vsa "github.com/in-toto/attestation/go/predicates/vsa/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"macaron/internal/canonical"
	"macaron/internal/contract/sign"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
)

// PayloadType is that of every envelope.
const PayloadType = "application/vnd.in-toto+json"

// The types of the predicates.
const (
	TestResult   = "https://in-toto.io/attestation/test-result/v0.1"
	Provenance   = "https://slsa.dev/provenance/v1"
	Verification = "https://slsa.dev/verification_summary/v1"
)

// names of this program in statements.
const (
	buildType = "https://macaron.invalid/forge/made/v1"
	self      = "https://macaron.invalid/forge"
)

// Statement is one statement as canonical JSON, with the entry that it tells.
type Statement struct {
	Name  string // of a file
	Entry int64
	Text  []byte
}

// Statements tells decisions, what was made, and promotions among a ledger's entries, in their
// order. What else a ledger has is no statement about anything that has a name.
func Statements(entries []ledger.Entry) ([]Statement, error) {
	var all []Statement
	for _, e := range entries {
		b, err := e.Decode()
		if err != nil {
			return nil, err
		}
		kind, subject, predicate := tell(e, b)
		if predicate == nil {
			continue
		}
		text, err := statement(kind, subject, predicate)
		if err != nil {
			return nil, err
		}
		all = append(all, Statement{Name: fmt.Sprintf("%06d-%s.intoto.json", e.Seq, e.Kind), Entry: e.Seq, Text: text})
	}
	return all, nil
}

// Seal signs a statement: the file of it.
func Seal(s Statement, key ed25519.PrivateKey) ([]byte, error) {
	return sign.Seal(PayloadType, s.Text, key, nil)
}

func tell(e ledger.Entry, b ledger.Body) (string, *intoto.ResourceDescriptor, proto.Message) {
	switch b := b.(type) {
	case ledger.Decision:
		return TestResult, thing("candidate", b.Decision.Candidate), decided(b.Decision)
	case ledger.Made:
		return Provenance, thing(named(b.What, b.Name), b.Hash), made(e, b)
	case ledger.Moved:
		if b.Alias == ledger.Champion && b.To != "" {
			return Verification, thing("release", b.To), promoted(e, b)
		}
	}
	return "", nil, nil
}

// decided is the gate's result at one stage: the stage is the test.
func decided(d mindforge.Decision) *results.TestResult {
	out := &results.TestResult{Configuration: things("evaluation", d.Evaluation, "against", d.Against, "evidence", d.Evidence)}
	if d.Pass {
		out.Result, out.PassedTests = "PASSED", []string{string(d.Stage)}
	} else {
		out.Result, out.FailedTests = "FAILED", []string{string(d.Stage)}
	}
	return out
}

// made says what something was made of.
func made(e ledger.Entry, m ledger.Made) *provenance.Provenance {
	parameters := map[string]*structpb.Value{"what": structpb.NewStringValue(m.What), "name": structpb.NewStringValue(m.Name)}
	told := map[string]*structpb.Value{}
	for k, v := range m.Tell {
		told[k] = structpb.NewStringValue(v)
	}
	p := &provenance.Provenance{
		BuildDefinition: &provenance.BuildDefinition{BuildType: buildType, ExternalParameters: &structpb.Struct{Fields: parameters}},
		RunDetails: &provenance.RunDetails{Builder: &provenance.Builder{Id: self},
			Metadata: &provenance.BuildMetadata{InvocationId: named(e.Run, e.Key), FinishedOn: timestamppb.New(e.At)}},
	}
	if len(told) > 0 {
		p.BuildDefinition.InternalParameters = &structpb.Struct{Fields: told}
	}
	for _, s := range m.From {
		p.BuildDefinition.ResolvedDependencies = append(p.BuildDefinition.ResolvedDependencies, thing(named(s.What, s.Name), s.Hash))
	}
	return p
}

// promoted says that a release was made what is served, and which entry of the ledger
// decided it.
func promoted(e ledger.Entry, m ledger.Moved) *vsa.VerificationSummary {
	out := &vsa.VerificationSummary{
		Verifier: &vsa.VerificationSummary_Verifier{Id: self}, TimeVerified: timestamppb.New(e.At), ResourceUri: "release:" + string(m.To),
		Policy: &vsa.VerificationSummary_Policy{Uri: "ledger:" + string(e.Hash)}, VerificationResult: "PASSED", VerifiedLevels: []string{"MACARON_CHAMPION"},
	}
	if m.Because != "" {
		out.InputAttestations = []*vsa.VerificationSummary_InputAttestation{{Uri: "ledger:" + string(m.Because), Digest: digest(m.Because)}}
	}
	return out
}

func statement(kind string, subject *intoto.ResourceDescriptor, predicate proto.Message) ([]byte, error) {
	text, err := protojson.Marshal(predicate)
	if err != nil {
		return nil, unsaid(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, unsaid(err)
	}
	p, err := structpb.NewStruct(fields)
	if err != nil {
		return nil, unsaid(err)
	}
	s := &intoto.Statement{Type: intoto.StatementTypeUri, Subject: []*intoto.ResourceDescriptor{subject}, PredicateType: kind, Predicate: p}
	if err := s.Validate(); err != nil {
		return nil, unsaid(err)
	}
	if text, err = protojson.Marshal(s); err != nil {
		return nil, unsaid(err)
	}
	return canonical.JSON(text) // protojson varies its spaces on purpose
}

func unsaid(err error) error {
	return errs.Wrap(errs.Internal, err, "an entry of the ledger cannot be told as a statement", "")
}

func named(what, name string) string {
	if name == "" || what == "" {
		return what + name
	}
	return what + "/" + name
}

func thing(name string, h ids.Digest) *intoto.ResourceDescriptor {
	return &intoto.ResourceDescriptor{Name: name, Digest: digest(h)}
}

// things are those of pairs of name and hash that have a hash.
func things(pairs ...any) (all []*intoto.ResourceDescriptor) {
	for i := 0; i < len(pairs); i += 2 {
		if h := pairs[i+1].(ids.Digest); h != "" {
			all = append(all, thing(pairs[i].(string), h))
		}
	}
	return all
}

func digest(h ids.Digest) map[string]string { return map[string]string{"sha256": h.Hex()} }
