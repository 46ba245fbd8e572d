package recipe_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"macaron/internal/chat"
	"macaron/internal/engine/lora"
	"macaron/internal/train"
	"macaron/internal/train/curve"
	"macaron/internal/train/recipe"
)

// Every policy loss that a recipe may name learns from answers that differ.
func TestEveryPolicyLossLearns(t *testing.T) {
	m := machine(t)
	m.Encode = func([]chat.Message, bool) ([]int32, error) { return []int32{3, 4, 5}, nil }
	m.Decode = func(tokens []int32) string {
		if tokens[0] == 10 {
			return "yes"
		}
		return "no"
	}
	m.Sample = func(_ context.Context, _ *lora.Adapter, prompts []recipe.Prompt) ([]recipe.Answer, error) {
		out := make([]recipe.Answer, len(prompts))
		for i := range out {
			out[i] = recipe.Answer{Tokens: []int32{int32(10 + i%2), 20}, Logprobs: []float32{-5, -6}}
		}
		return out, nil
	}
	for _, name := range train.LossNames() {
		if name == "cross_entropy" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte(`{"messages":[{"role":"user","content":"?"}],"answer":"yes"}`), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := recipe.Parse([]byte("method = \"grpo\"\nout = \"out\"\n[adapter]\nrank = 2\n[data]\ntrain = \"rows.jsonl\"\n[rl]\nloss = \""+name+"\"\ngroup = 4\nmax_tokens = 2\n[rl.reward]\nkind = \"exact\"\n"), dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Train(t.Context(), m, recipe.Options{}); err != nil {
				t.Fatal(err)
			}
			lines, _, err := curve.Read(filepath.Join(dir, "out.work", curve.File), 0, 10)
			var kl float64
			var measured bool
			if len(lines) > 0 {
				kl, measured = lines[0]["kl"]
			}
			if err != nil || len(lines) == 0 || lines[0]["reward"] != 0.5 || !measured || kl != lines[0]["kl_sample_train_v1"] || math.IsNaN(lines[0]["loss"]) || lines[0]["grad_norm"] == 0 {
				t.Errorf("%v %v", lines, err)
			}
		})
	}
}
