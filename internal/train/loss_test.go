package train

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"macaron/internal/errs"
)

// torchCase is one line of testdata/losses.json, which make_losses.py wrote.
type torchCase struct {
	Name, Loss string
	Config     map[string]float64
	Shape      []int64
	Inputs     map[string][]float32
	Logprobs   []float32
	Value      float64
	Slopes     []float64
}

func torchCases(t testing.TB) []torchCase {
	t.Helper()
	raw, err := os.ReadFile("testdata/losses.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []torchCase
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// datum is the case's, with targets that do not matter.
func (c *torchCase) datum() Datum {
	d := Datum{Tokens: make([]int32, c.Shape[0]), Inputs: map[string]Tensor{"target_tokens": {Ints: make([]int64, len(c.Logprobs)), Shape: c.Shape}}}
	for name, v := range c.Inputs {
		d.Inputs[name] = Tensor{Floats: v, Shape: c.Shape}
	}
	return d
}

func TestLossesAreThoseOfPyTorch(t *testing.T) {
	for _, c := range torchCases(t) {
		e, err := newEvaluation([]Datum{c.datum()}, Loss{Name: c.Loss, Config: c.Config}, 8, 64)
		if err != nil {
			t.Fatalf("%s, %s: %v", c.Loss, c.Name, err)
		}
		slopes := e.see(0, c.Logprobs)
		for i, want := range c.Slopes {
			if !near(float64(slopes[i]), want, 1e-6) {
				t.Errorf("%s, %s: derivative %d is %v, want %v", c.Loss, c.Name, i, slopes[i], want)
			}
		}
		if got := e.output().Metrics["loss:sum"]; !near(got, c.Value, 1e-9) {
			t.Errorf("%s, %s: loss %v, want %v", c.Loss, c.Name, got, c.Value)
		}
	}
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*math.Max(1, math.Abs(b)) }

func TestExpIsThatOfTheLibrary(t *testing.T) {
	for x := -699.0; x < 699; x += 0.37 {
		if got, want := exp(x), math.Exp(x); math.Abs(got-want) > 4e-16*want*2 {
			t.Fatalf("exp(%v) is %v, want %v", x, got, want)
		}
	}
	if exp(0) != 1 || exp(-1e9) != 0 || math.IsInf(exp(1e9), 0) || !math.IsNaN(exp(math.NaN())) {
		t.Error(exp(0), exp(-1e9), exp(1e9))
	}
}

// TestMismatchMetrics: they are 0 where the sampler is the trainer, and the cookbook's
// numbers where it is not.
func TestMismatchMetrics(t *testing.T) {
	eval := func(q []float32, config map[string]float64) map[string]float64 {
		d := Datum{Tokens: make([]int32, 4), Inputs: map[string]Tensor{"target_tokens": {Ints: make([]int64, 4)},
			"logprobs": {Floats: q}, "advantages": {Floats: []float32{0, 1, -1, 2}}}}
		e, err := newEvaluation([]Datum{d}, Loss{Name: "ppo", Config: config}, 8, 64)
		if err != nil {
			t.Fatal(err)
		}
		e.see(0, []float32{-9, -1, -2, -0.5})
		return e.output().Metrics
	}
	for name, v := range eval([]float32{0, -1, -2, -0.5}, nil) {
		want := map[string]float64{"loss:sum": -2, "tokens:sum": 3, "mismatch_ratio:max": 1}[name]
		if v != want {
			t.Errorf("without a mismatch %s is %v, want %v", name, v, want)
		}
	}
	got := eval([]float32{0, -1.5, -2, -1.5}, map[string]float64{"icepop_high": 2})
	for name, want := range map[string]float64{"kl_sample_train_v1:mean": -0.5, "kl_sample_train_v2:mean": (0.125 + 0.5) / 3,
		"mismatch_ratio:max": math.E, "tokens_masked:mean": 1. / 3, "ratio_clipped:mean": 2. / 3} {
		if !near(got[name], want, 1e-9) {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	for name := range got {
		if strings.Count(name, ":") != 1 {
			t.Errorf("the metric %q has not one colon", name)
		}
	}
}

func TestRefusedData(t *testing.T) {
	good := func() Datum {
		return Datum{Tokens: []int32{1, 2}, Inputs: map[string]Tensor{"target_tokens": {Ints: []int64{2, 3}}, "weights": {Floats: []float32{1, 0}}}}
	}
	with := func(name string, v Tensor) Datum {
		d := good()
		d.Inputs[name] = v
		return d
	}
	without := good()
	delete(without.Inputs, "weights")
	long := good()
	long.Tokens = make([]int32, 65)
	foreign := good()
	foreign.Tokens[1] = 8
	ce := Loss{Name: "cross_entropy"}
	for name, c := range map[string]struct {
		data []Datum
		loss Loss
		code errs.Code
		says string
	}{
		"no data":         {nil, ce, errs.InvalidRequest, "no datum"},
		"no tokens":       {[]Datum{{}}, ce, errs.InvalidRequest, "no token"},
		"too long":        {[]Datum{long}, ce, errs.ContextExceeded, "65 tokens"},
		"foreign token":   {[]Datum{foreign}, ce, errs.InvalidRequest, "token 8"},
		"unknown loss":    {[]Datum{good()}, Loss{Name: "hinge"}, errs.InvalidRequest, "hinge"},
		"custom":          {[]Datum{good()}, Loss{Name: "custom"}, errs.Unsupported, "custom"},
		"no formula":      {[]Datum{good()}, Loss{Name: "stable_reinforce"}, errs.Unsupported, "stable_reinforce"},
		"unknown input":   {[]Datum{good(), with("mask", Tensor{Floats: []float32{1, 1}})}, ce, errs.InvalidRequest, `datum 1: loss_fn_inputs has "mask"`},
		"input of others": {[]Datum{with("advantages", Tensor{Floats: []float32{1, 1}})}, ce, errs.InvalidRequest, "advantages"},
		"missing input":   {[]Datum{without}, ce, errs.InvalidRequest, "no weights"},
		"target too high": {[]Datum{with("target_tokens", Tensor{Ints: []int64{1, 8}})}, ce, errs.InvalidRequest, "8 at position 1"},
		"target too low":  {[]Datum{with("target_tokens", Tensor{Ints: []int64{-100, 1}})}, ce, errs.InvalidRequest, "-100"},
		"float targets":   {[]Datum{with("target_tokens", Tensor{Floats: []float32{1, 1}})}, ce, errs.InvalidRequest, "whole"},
		"short targets":   {[]Datum{with("target_tokens", Tensor{Ints: []int64{1}})}, ce, errs.InvalidRequest, "[1]"},
		"shape lies":      {[]Datum{with("target_tokens", Tensor{Ints: []int64{1, 1}, Shape: []int64{2, 3}})}, ce, errs.InvalidRequest, "2 values"},
		"wide weights":    {[]Datum{with("weights", Tensor{Floats: []float32{1, 1}, Shape: []int64{2, 1}})}, ce, errs.InvalidRequest, "weights"},
		"no number":       {[]Datum{with("weights", Tensor{Floats: []float32{1, float32(math.NaN())}})}, ce, errs.InvalidRequest, "NaN"},
		"too many":        {[]Datum{with("target_tokens", Tensor{Ints: []int64{1}, Shape: []int64{2, 1 << 40}})}, ce, errs.InvalidRequest, "targets at a position"},
		"no setting":      {[]Datum{good()}, Loss{Name: "cross_entropy", Config: map[string]float64{"beta": 1}}, errs.InvalidRequest, "beta"},
		"crossed bounds":  {[]Datum{good()}, Loss{Name: "ppo", Config: map[string]float64{"clip_low_threshold": 2}}, errs.InvalidRequest, "above"},
		"wild setting":    {[]Datum{good()}, Loss{Name: "dro", Config: map[string]float64{"beta": math.Inf(1)}}, errs.InvalidRequest, "beta"},
	} {
		_, err := newEvaluation(c.data, c.loss, 8, 64)
		if errs.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTargetsThatAreNotAsked: -1 has no term and no derivative.
func TestTargetsThatAreNotAsked(t *testing.T) {
	d := Datum{Tokens: []int32{1, 2}, Inputs: map[string]Tensor{"target_tokens": {Ints: []int64{-1, 3}}, "weights": {Ints: []int64{5, 1}}}}
	e, err := newEvaluation([]Datum{d}, Loss{Name: "cross_entropy"}, 8, 64)
	if err != nil {
		t.Fatal(err)
	}
	if s := e.see(0, []float32{0, -2}); s[0] != 0 || s[1] != -1 || e.output().Metrics["loss:sum"] != 2 {
		t.Error(s, e.output().Metrics)
	}
}
