package train

import (
	"testing"

	"macaron/internal/errs"
)

// TestPromptOfADatum: it ends where the first slope can be.
func TestPromptOfADatum(t *testing.T) {
	datum := func(inputs map[string][]float32, targets ...int64) Datum {
		d := Datum{Tokens: make([]int32, 5), Inputs: map[string]Tensor{"target_tokens": {Ints: targets}}}
		for name, v := range inputs {
			d.Inputs[name] = Tensor{Floats: v}
		}
		return d
	}
	q := make([]float32, 5)
	for _, c := range []struct {
		loss string
		d    Datum
		want int
	}{
		{"cross_entropy", datum(map[string][]float32{"weights": {0, 0, 0, 1, 1}}, 1, 1, 1, 1, 1), 3},
		{"cross_entropy", datum(map[string][]float32{"weights": {1, 1, -1, 1, 1}}, -1, -1, 1, 1, 1), 2},
		{"cross_entropy", datum(map[string][]float32{"weights": {0, 0, 0, 0, 0}}, 1, 1, 1, 1, 1), 5},
		{"importance_sampling", datum(map[string][]float32{"logprobs": q, "advantages": {0, 0, 0, 0, 2}}, 1, 1, 1, 1, 1), 4},
		{"dro", datum(map[string][]float32{"logprobs": q, "advantages": {0, 0, 0, 0, 2}}, -1, 1, 1, 1, 1), 1},
	} {
		e, err := newEvaluation([]Datum{c.d}, Loss{Name: c.loss}, 10, 10)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.seqs[0].Prompt; got != c.want {
			t.Errorf("%s %v: a prompt of %d, want %d", c.loss, c.d.Inputs, got, c.want)
		}
	}
}

// TestPrefixSettings: every loss has them, and refuses others than the ways.
func TestPrefixSettings(t *testing.T) {
	for _, name := range LossNames() {
		for mode, ok := range map[float64]bool{0: true, 1: true, 2: true, 3: true, 4: false, 1.5: false, -1: false} {
			s, err := lossKinds[name].read(Loss{Name: name, Config: map[string]float64{"prefix_mode": mode}})
			if (err == nil) != ok || !ok && errs.CodeOf(err) != errs.InvalidRequest {
				t.Errorf("%s, %v: %v", name, mode, err)
			}
			if ok && (&evaluation{set: s}).way() != Way(mode) {
				t.Errorf("%s: another way than %v", name, mode)
			}
		}
	}
}
