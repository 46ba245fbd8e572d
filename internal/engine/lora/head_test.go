package lora

import (
	"testing"

	"macaron/internal/engine/weights/safetensors"
)

var headTargets = map[string]any{"target_modules": []string{"k_proj", "down_proj", "lm_head"}}

// headParts are the tensors of the head.
func headParts() []safetensors.Tensor {
	return []safetensors.Tensor{tensor("base_model.model.lm_head.lora_A.weight", rank, 32), tensor("base_model.model.lm_head.lora_B.weight", vocab, rank)}
}

// TestHeadIsOfTheModel: the head is a pair of its own, counted once, and the base's own
// head, which PEFT saves beside it, changes nothing.
func TestHeadIsOfTheModel(t *testing.T) {
	load := func(config map[string]any, more ...safetensors.Tensor) *Adapter {
		a, err := Load(write(t, config, append(parts(K, Down), more...), nil), base())
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	plain, with := load(nil), load(headTargets, headParts()...)
	if plain.At(0, Head) != nil || with.At(0, Head) == nil || with.At(0, Head) != with.At(1, Head) {
		t.Error("the head is not the model's")
	}
	if got, want := with.Revision.Params-plain.Revision.Params, int64(rank*(32+vocab)); got != want {
		t.Errorf("the head has %d values, want %d", got, want)
	}
	if with.Bytes() <= plain.Bytes() || with.Revision.Bytes <= plain.Revision.Bytes {
		t.Error("the head takes no memory")
	}
	saved := load(headTargets, append(headParts(), tensor(frozenHead, vocab, 32))...)
	if saved.Revision.Hash != with.Revision.Hash || saved.Key != with.Key || saved.Bytes() != with.Bytes() || saved.Revision.Bytes != with.Revision.Bytes {
		t.Error("the copy of the base's head makes another revision")
	}
}
