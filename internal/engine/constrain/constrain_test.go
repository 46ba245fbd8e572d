package constrain

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"macaron/internal/errs"
)

const end = 99

// table is a made-up model: the distribution of the next token depends on the tokens
// before it only through a hash of them.
func table(context []int32) []float64 {
	h := uint64(14695981039346656037)
	for _, t := range context {
		h = (h ^ uint64(t)) * 1099511628211
	}
	logits, sum := make([]float64, 100), 0.0
	for i := range logits {
		h = h*6364136223846793005 + 1442695040888963407
		logits[i] = float64(h>>40)/float64(1<<24)*8 - 4
		sum += math.Exp(logits[i])
	}
	for i := range logits {
		logits[i] -= math.Log(sum)
	}
	return logits
}

// logprob multiplies the unmasked probabilities of tokens after context.
func logprob(context, tokens []int32) float64 {
	sum := 0.0
	for i, t := range tokens {
		sum += table(append(append([]int32(nil), context...), tokens[:i]...))[t]
	}
	return sum
}

func TestProbabilitiesAreThoseOfWholeLabels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOfNDistinct(rapid.SliceOfN(rapid.Int32Range(1, 3), 1, 5), 1, 12,
			func(l []int32) string { return string([]rune{rune(len(l))}) + key(l) }).Draw(t, "labels")
		prompt := rapid.SliceOfN(rapid.Int32Range(0, 98), 1, 4).Draw(t, "prompt")
		p, err := New(labels, end)
		if err != nil {
			t.Fatal(err)
		}
		at := append(prompt, p.Prefix...)
		var first []float32
		for _, tok := range p.First {
			first = append(first, float32(table(at)[tok]+17)) // logits are free up to a constant
		}
		rest := make([]float64, len(labels))
		for i, tail := range p.Tails {
			rest[i] = logprob(append(append([]int32(nil), at...), tail[0]), tail[1:])
		}
		got, best := p.Probabilities(first, rest)
		want, total, wantBest := make([]float64, len(labels)), 0.0, 0
		for i, l := range labels {
			want[i] = math.Exp(logprob(prompt, append(append([]int32(nil), l...), end)))
			total += want[i]
			if want[i] > want[wantBest] {
				wantBest = i
			}
		}
		sum := 0.0
		for i := range want {
			if d := math.Abs(got[i] - want[i]/total); d > 1e-5 {
				t.Fatalf("label %v has probability %v, want %v", labels[i], got[i], want[i]/total)
			}
			sum += got[i]
		}
		if math.Abs(sum-1) > 1e-12 || got[best] < got[wantBest] {
			t.Fatalf("sum %v, best %d of %v", sum, best, got)
		}
	})
}

func key(l []int32) string {
	out := ""
	for _, t := range l {
		out += string(rune('a' + t))
	}
	return out
}

func TestPlanOfLabelsThatBeginWithEachOther(t *testing.T) {
	p, err := New([][]int32{{5, 1}, {5, 1, 0}, {5, 2}}, end)
	if err != nil {
		t.Fatal(err)
	}
	want := &Plan{Prefix: []int32{5}, First: []int32{1, 2}, Tails: [][]int32{{1, end}, {1, 0, end}, {2, end}}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if p.Steps(1) != 2 {
		t.Errorf("Steps = %d", p.Steps(1))
	}
}

func TestPlanOfOneLabel(t *testing.T) {
	p, err := New([][]int32{{5, 1}}, end)
	if err != nil {
		t.Fatal(err)
	}
	probs, best := p.Probabilities([]float32{-3}, []float64{0})
	if best != 0 || probs[0] != 1 || len(p.First) != 1 {
		t.Errorf("%v %d %+v", probs, best, p)
	}
}

func TestRefusals(t *testing.T) {
	for _, labels := range [][][]int32{nil, {{}}, {{1}, {1}}, make([][]int32, MaxLabels+1)} {
		if _, err := New(labels, end); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("New(%d labels) = %v", len(labels), err)
		}
	}
}
