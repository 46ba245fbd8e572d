package tinker

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/mint"
	"macaron/internal/train"
)

// The files of testdata were written by the SDKs' own code; make.py has how.
func golden(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func floats(values ...float32) train.Tensor {
	return train.Tensor{Floats: values, Shape: []int64{int64(len(values))}}
}

func ints(values ...int64) train.Tensor {
	return train.Tensor{Ints: values, Shape: []int64{int64(len(values))}}
}

var asked = mint.Forward{
	Model: "m:train:0", Seq: 7, Loss: train.Loss{Name: "ppo", Config: map[string]float64{"clip_low_threshold": 0.8}},
	Data: []train.Datum{
		{Tokens: []int32{1, 2, 3, 40000}, Inputs: map[string]train.Tensor{"target_tokens": ints(2, 3, 4, 5), "weights": floats(0, 0.1, -2.5, 1)}},
		{Tokens: []int32{7}, Inputs: map[string]train.Tensor{"target_tokens": ints(8), "logprobs": floats(-0.5), "advantages": floats(1.5)}},
	},
}

// withOrigins is the request with where tokens came from, which the SDKs before 0.38 have no
// words for.
func withOrigins() mint.Forward {
	spans := []train.Origin{{Sequence: "q", Length: 3}, {Sequence: "q", Length: 1, Sampled: true}}
	f := asked
	f.Data = slices.Clone(asked.Data)
	f.Data[0].From = train.Origins{Input: spans, Targets: spans}
	return f
}

// One request in every dialect means the same, down to the rounding of 0.1.
func TestRequestsOfEveryDialect(t *testing.T) {
	for _, name := range []string{"forward_0.6.0.json", "forward_0.15.0.json", "forward_0.24.1.json"} {
		got, err := jsonForward(golden(t, name), "forward_backward_input")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(asked, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	got, err := protoForward(golden(t, "forward_0.38.0.pb"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(withOrigins(), got); d != "" {
		t.Error(d)
	}
}

func TestSparseTensorsBecomeDense(t *testing.T) {
	got, err := protoForward(golden(t, "sparse.pb"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]train.Tensor{
		"target_tokens": {Ints: []int64{5, 0, 6, 0, 7, 0}, Shape: []int64{2, 3}},
		"weights":       {Floats: []float32{0.5, 0, 0.25, 0, 1, 0}, Shape: []int64{2, 3}},
	}
	if d := cmp.Diff(want, got.Data[0].Inputs); d != "" {
		t.Error(d)
	}
}

// What the SDK does not send but the messages have: other types, none, the older settings.
func TestTheRestOfTheMessages(t *testing.T) {
	got, err := protoForward(golden(t, "odd.pb"))
	if err != nil {
		t.Fatal(err)
	}
	want := mint.Forward{Model: "m", Seq: mint.NoSeq, Only: true, Loss: train.Loss{Name: "cross_entropy", Config: map[string]float64{"old": 2}}, Data: []train.Datum{{
		Tokens: []int32{1, 2}, Inputs: map[string]train.Tensor{"target_tokens": ints(3, 4), "weights": floats(1, -0.5), "advantages": floats(0.25, 0.5)},
	}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

var found = train.Output{
	Logprobs: []train.Tensor{floats(-1, -2), floats(-3), {Floats: []float32{-0.5, -0.25}, Shape: []int64{1, 2}}},
	Metrics:  map[string]float64{"loss:sum": 6.75},
}

var said = mint.Samples{
	Sequences:      []mint.Sequence{{Stop: mint.Stopped, Tokens: []int32{5, 2}, Logprobs: []float32{-0.5, -0.25}}, {Stop: mint.Length, Tokens: []int32{6}, Logprobs: []float32{-1.5}}},
	PromptLogprobs: []float32{nan, -2, -3},
	PromptTop:      [][]mint.Scored{nil, {{Token: 9, Logprob: -0.5}, {Token: 8, Logprob: -1}}, {{Token: 7, Logprob: -0.125}}},
	Targets:        &train.Tensor{Floats: []float32{-4, nan}, Shape: []int64{2, 1}},
	Cached:         2,
}

var nan = float32(math.NaN())

// Results are byte for byte what the protobuf library writes.
func TestResultsAsProtobuf(t *testing.T) {
	if d := cmp.Diff(golden(t, "output.pb"), protoOutput(&found)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(golden(t, "samples.pb"), protoSamples(&said)); d != "" {
		t.Error(d)
	}
}

func TestResultsAsJSON(t *testing.T) {
	const output = `{"loss_fn_output_type":"ArrayRecord","loss_fn_outputs":[{"logprobs":{"data":[-1,-2],"dtype":"float32","shape":[2]}},` +
		`{"logprobs":{"data":[-3],"dtype":"float32","shape":[1]}},{"logprobs":{"data":[-0.5,-0.25],"dtype":"float32","shape":[1,2]}}],"metrics":{"loss:sum":6.75}}`
	if d := cmp.Diff(output, string(jsonOutput(&found))); d != "" {
		t.Error(d)
	}
	const samples = `{"type":"sample","sequences":[{"stop_reason":"stop","tokens":[5,2],"logprobs":[-0.5,-0.25]},{"stop_reason":"length","tokens":[6],"logprobs":[-1.5]}],` +
		`"prompt_logprobs":[null,-2,-3],"topk_prompt_logprobs":[null,[[9,-0.5],[8,-1]],[[7,-0.125]]],"prompt_cache_hit_tokens":2}`
	if d := cmp.Diff(samples, string(jsonSamples(&said))); d != "" {
		t.Error(d)
	}
}
