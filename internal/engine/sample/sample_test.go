package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"macaron/internal/errs"
)

// plain is the same rule without windows: everything is sorted.
func plain(logits []float32, p Params, h *History, pos int) []int32 {
	row := slices.Clone(logits)
	if h != nil {
		h.penalise(row, p, nil)
	}
	ids := make([]int32, len(row))
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortStableFunc(ids, func(a, b int32) int {
		if row[a] > row[b] {
			return -1
		} else if row[a] < row[b] {
			return 1
		}
		return 0
	})
	if p.TopK > 0 {
		ids = ids[:min(p.TopK, len(ids))]
	}
	for float64(row[ids[len(ids)-1]]-row[ids[0]])/p.Temperature < -80 {
		ids = ids[:len(ids)-1] // has no weight in float32
	}
	weight := func(id int32) float64 { return math.Exp(float64(row[id]-row[ids[0]]) / p.Temperature) }
	if p.TopP > 0 && p.TopP < 1 {
		total, sum := 0.0, 0.0
		for _, id := range ids {
			total += weight(id)
		}
		for i, id := range ids {
			if sum += weight(id); sum >= p.TopP*total {
				ids = ids[:i+1]
				break
			}
		}
	}
	for len(ids) > 1 && weight(ids[len(ids)-1]) < p.MinP {
		ids = ids[:len(ids)-1]
	}
	return ids
}

func row(seed uint64, n int, spread float64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64() * spread)
	}
	return out
}

func TestLimitsKeepWhatFullSortingKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Params{
			Temperature:       rapid.Float64Range(0.2, 3).Draw(t, "temperature"),
			TopK:              rapid.SampledFrom([]int{0, 0, 1, 5, 300}).Draw(t, "k"),
			TopP:              rapid.SampledFrom([]float64{0, 0.05, 0.5, 0.93, 0.999}).Draw(t, "p"),
			MinP:              rapid.SampledFrom([]float64{0, 0.02, 0.5, 1e-9}).Draw(t, "min"),
			RepetitionPenalty: rapid.SampledFrom([]float64{0, 1, 1.3}).Draw(t, "rep"),
			FrequencyPenalty:  rapid.SampledFrom([]float64{0, 0.4}).Draw(t, "freq"),
		}
		if p.TopK == 0 && p.TopP == 0 && p.MinP == 0 {
			p.MinP = 0.1
		}
		logits := row(rapid.Uint64().Draw(t, "row"), 600, rapid.SampledFrom([]float64{0.1, 3, 30}).Draw(t, "spread"))
		h := NewHistory([]int32{1, 2, 3}, []int32{3})
		h.Add(5)
		before := slices.Clone(logits)
		var s Sampler
		undo := h.penalise(logits, p, nil)
		s.soften(logits, slices.Max(logits), float32(1/p.Temperature))
		kept := s.truncate(logits, p)
		var got []int32
		for _, c := range kept {
			got = append(got, c.id)
		}
		s.undo = undo
		s.restore(logits)
		want := plain(logits, p, h, 0)
		if n := min(len(got), len(want)); !slices.Equal(got[:n], want[:n]) || len(got)-len(want) > 1 || len(want)-len(got) > 1 {
			t.Fatalf("kept %v\nwant %v", got, want)
		}
		if tok := s.Pick(logits, p, h, 3); !slices.Contains(got, tok) {
			t.Fatalf("picked %d, not one of %v", tok, got)
		}
		if !slices.Equal(before, logits) {
			t.Fatal("the row was changed")
		}
	})
}

// TestDrawFollowsTheDistribution: chi-square with 5 degrees of freedom stays below the
// 1-in-a-million quantile for both ways of drawing.
func TestDrawFollowsTheDistribution(t *testing.T) {
	logits := []float32{0, 1, -1, 2, 0.5, -0.5}
	var s Sampler
	for _, p := range []Params{{Temperature: 0.7, Seed: 9}, {Temperature: 0.7, TopK: 6, Seed: 10}} {
		const n = 60000
		var counts [6]float64
		for i := range n {
			counts[s.Pick(logits, p, nil, i)]++
		}
		total, chi := 0.0, 0.0
		for _, l := range logits {
			total += math.Exp(float64(l) / p.Temperature)
		}
		for i, l := range logits {
			want := n * math.Exp(float64(l)/p.Temperature) / total
			chi += (counts[i] - want) * (counts[i] - want) / want
		}
		if chi > 36 {
			t.Errorf("%+v: chi-square %.1f, counts %v", p, chi, counts)
		}
	}
}

func TestUniformIsKeyedBySeedAndPosition(t *testing.T) {
	seen := map[float64]bool{}
	sum := 0.0
	for seed := range uint64(50) {
		for pos := range uint64(100) {
			u := Uniform(seed, pos)
			if u != Uniform(seed, pos) || u < 0 || u >= 1 || seen[u] {
				t.Fatalf("Uniform(%d, %d) = %v", seed, pos, u)
			}
			seen[u] = true
			sum += u
		}
	}
	if mean := sum / 5000; math.Abs(mean-0.5) > 0.02 {
		t.Errorf("mean %v", mean)
	}
}

func TestNormAndTop(t *testing.T) {
	logits := row(4, 1000, 4)
	sum := 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l))
	}
	if got := Norm(logits); math.Abs(got-math.Log(sum)) > 1e-6 {
		t.Errorf("Norm = %v, want %v", got, math.Log(sum))
	}
	logits[7], logits[3] = 50, 50
	top := Top(logits, Norm(logits), 4)
	if top[0].ID != 3 || top[1].ID != 7 || !slices.IsSortedFunc(top, func(a, b Logprob) int { return int(math.Copysign(1, b.Logprob-a.Logprob)) }) {
		t.Errorf("Top = %v", top)
	}
	if math.Abs(top[0].Logprob-math.Log(0.5)) > 1e-4 {
		t.Errorf("half the mass has log probability %v", top[0].Logprob)
	}
	if got := Top(logits, 0, 5000); len(got) != 1000 {
		t.Errorf("Top gave %d of 1000", len(got))
	}
}

func TestPenalties(t *testing.T) {
	h := NewHistory([]int32{0, 1}, []int32{1})
	h.Add(2)
	h.Add(2)
	logits := []float32{4, 4, 4, -4}
	undo := h.penalise(logits, Params{RepetitionPenalty: 2, PresencePenalty: 0.5, FrequencyPenalty: 0.25}, nil)
	if diff := cmp.Diff([]float32{2, 4, 1, -4}, logits); diff != "" || len(undo) != 2 {
		t.Error(diff)
	}
}

func TestGreedyTakesTheFirstOfEquals(t *testing.T) {
	var s Sampler
	if got := s.Pick([]float32{1, 3, 3, float32(math.NaN())}, Params{}, nil, 0); got != 1 {
		t.Errorf("picked %d", got)
	}
}

func TestNumbersBeyondFloat32(t *testing.T) {
	var s Sampler
	inf := float32(math.Inf(1))
	for _, p := range []Params{{Temperature: 1e-320}, {Temperature: 1, TopP: 0.5}, {Temperature: 1e-9, TopK: 3}} {
		if got := s.Pick([]float32{1, inf, 3, float32(math.NaN())}, p, nil, 0); got != 1 {
			t.Errorf("%+v: picked %d", p, got)
		}
	}
}

func TestCheckNamesTheField(t *testing.T) {
	if err := (Params{Temperature: 1, TopP: 0.9}).Check(); err != nil {
		t.Error(err)
	}
	for field, p := range map[string]Params{
		"temperature": {Temperature: math.NaN()}, "top_k": {TopK: -1}, "top_p": {TopP: 1.1},
		"min_p": {MinP: -0.1}, "repetition_penalty": {RepetitionPenalty: math.Inf(1)}, "presence_penalty": {PresencePenalty: 3},
	} {
		if e := errs.As(p.Check()); e == nil || e.Field != field || e.Code != errs.InvalidRequest {
			t.Errorf("%s: %v", field, e)
		}
	}
}

// A bias is added to the logit, minus infinity forbids, and the row is whole again.
func TestBias(t *testing.T) {
	logits := []float32{1, 4, 2, 3}
	before := slices.Clone(logits)
	var s Sampler
	for _, c := range []struct {
		p    Params
		want int32
	}{
		{Params{}, 1},
		{Params{Bias: []Bias{{2, 2.5}}}, 2},
		{Params{Bias: []Bias{{1, -100}}}, 3},
		{Params{Bias: []Bias{{9, 5}}}, 1}, // beyond the row
		{Params{Bias: []Bias{{1, 5}}}.Without([]int32{1, 3}), 2},
		{Params{Temperature: 1, TopK: 1}.Without([]int32{1}), 3},
		{Params{RepetitionPenalty: 2, Bias: []Bias{{1, -3}}}, 3},
	} {
		h := NewHistory([]int32{1}, nil)
		if got := s.Pick(logits, c.p, h, 1); got != c.want {
			t.Errorf("%+v picks %d, not %d", c.p, got, c.want)
		}
		if !slices.Equal(logits, before) {
			t.Fatalf("%+v left %v", c.p, logits)
		}
	}
	p := Params{Temperature: 2, Seed: 5}.Without([]int32{1})
	for i := range 2000 {
		if s.Pick(logits, p, nil, i) == 1 {
			t.Fatal("a forbidden token was drawn")
		}
	}
	for _, bad := range []Bias{{-1, 1}, {1, 101}, {1, float32(math.NaN())}} {
		if err := (Params{Bias: []Bias{bad}}).Check(); errs.As(err).Field != "logit_bias" {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func TestRank(t *testing.T) {
	for id, want := range []int{3, 1, 1, 4} {
		if got := Rank([]float32{1, 2, 2, -1}, int32(id)); got != want {
			t.Errorf("token %d has rank %d, not %d", id, got, want)
		}
	}
}
