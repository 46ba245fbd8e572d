package enginetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/engine/weights/safetensors"
)

// Rank and Alpha of the adapters that Adapter writes.
const (
	Rank  = 4
	Alpha = 8
)

var shapes = map[string][2]uint64{ // out, in
	"self_attn.q_proj": {Heads * HeadDim, Width}, "self_attn.k_proj": {KVHeads * HeadDim, Width}, "self_attn.v_proj": {KVHeads * HeadDim, Width},
	"self_attn.o_proj": {Width, Heads * HeadDim}, "mlp.gate_proj": {FF, Width}, "mlp.up_proj": {FF, Width}, "mlp.down_proj": {Width, FF},
}

// Adapter writes a PEFT directory with random weights for the tiny model and gives its
// path. Equal seeds give equal content.
func Adapter(t testing.TB, seed uint64) string {
	t.Helper()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(seed, 3))
	var targets []string
	var tensors []safetensors.Tensor
	for _, module := range []string{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"} {
		targets = append(targets, module[strings.LastIndexByte(module, '.')+1:])
		for layer := range Layers {
			name := fmt.Sprintf("base_model.model.model.layers.%d.%s.lora_", layer, module)
			s := shapes[module]
			tensors = append(tensors, random(r, name+"A.weight", Rank, s[1]), random(r, name+"B.weight", s[0], Rank))
		}
	}
	config, err := json.Marshal(map[string]any{"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": Rank, "lora_alpha": Alpha, "target_modules": targets, "bias": "none"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "adapter_config.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := safetensors.Write(filepath.Join(dir, "adapter_model.safetensors"), tensors, nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

func random(r *rand.Rand, name string, rows, cols uint64) safetensors.Tensor {
	values := make([]float32, rows*cols)
	for i := range values {
		values[i] = float32(r.NormFloat64() * 0.15)
	}
	return safetensors.FromFloat32(name, []uint64{rows, cols}, values)
}
