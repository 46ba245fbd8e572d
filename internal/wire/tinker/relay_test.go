package tinker

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/mint"
)

// A request that an SDK's own code wrote says the same in every dialect.
func TestRequestsBetweenDialects(t *testing.T) {
	for _, name := range []string{"forward_0.38.0.pb", "sparse.pb"} {
		b := golden(t, name)
		want, err := protoForward(b)
		if err != nil {
			t.Fatal(err)
		}
		text, only, err := Relay{}.ForwardToJSON(b)
		if err != nil || only != want.Only {
			t.Fatalf("%s: %v, only %v", name, err, only)
		}
		back, err := Relay{}.ForwardToProto(text, only)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		got, err := protoForward(back)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
}

// A result that an SDK's own code wrote comes back from JSON as it was, but for how its data
// are grouped.
func TestResultsBetweenDialects(t *testing.T) {
	b := golden(t, "output.pb")
	want, err := outputsOfProto(b)
	if err != nil || len(want.Data) == 0 || len(want.Metrics) == 0 {
		t.Fatalf("%v %+v", err, want)
	}
	text, err := Relay{}.ResultToJSON(mint.OpBack, b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Relay{}.ResultToProto(mint.OpBack, text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got, err := outputsOfProto(again)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	b = golden(t, "samples.pb")
	text, err = Relay{}.ResultToJSON(mint.OpSample, b)
	if err != nil {
		t.Fatal(err)
	}
	again, err = Relay{}.ResultToProto(mint.OpSample, text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	once, err := Relay{}.ResultToJSON(mint.OpSample, again)
	if err != nil || !bytes.Equal(once, text) || len(text) < 100 {
		t.Errorf("%v\n%s\n%s", err, text, once)
	}
}

// Results of a backend are as hostile as everything else.
func FuzzResultsOfBackends(f *testing.F) {
	for _, name := range []string{"output.pb", "samples.pb"} {
		f.Add(golden(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, op := range []mint.Op{mint.OpBack, mint.OpSample} {
			if text, err := (Relay{}).ResultToJSON(op, b); err == nil {
				if _, err := (Relay{}).ResultToProto(op, text); err != nil {
					t.Errorf("%s: %v", text, err)
				}
			}
			_, _ = Relay{}.ResultToProto(op, b)
		}
	})
}
