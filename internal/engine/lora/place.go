package lora

import (
	"strconv"
	"strings"
)

// place is where a tensor of the file belongs.
type place struct {
	layer  int
	target Target
	b      bool // B, else A
}

const maxLayer = 1 << 16

// ggufNames are the targets' names in GGUF files, after "blk.N.".
var ggufNames = [Targets]string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}

// parsePlace understands base_model.model.model.layers.N.MODULE.lora_A.weight, also
// with PEFT's adapter name "default" before "weight".
func parsePlace(name string) (place, bool) {
	layer, rest, ok := cutLayer(name, "base_model.model.model.layers.")
	if !ok {
		return place{}, false
	}
	for t, m := range modules {
		switch strings.TrimPrefix(rest, m) {
		case ".lora_A.weight", ".lora_A.default.weight":
			return place{layer, Target(t), false}, true
		case ".lora_B.weight", ".lora_B.default.weight":
			return place{layer, Target(t), true}, true
		}
	}
	return place{}, false
}

// cutLayer parts a name that begins with the prefix and the decimal number of a layer.
func cutLayer(name, prefix string) (layer int, rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, prefix)
	number, rest, _ := strings.Cut(rest, ".")
	layer, err := strconv.Atoi(number)
	return layer, rest, ok && err == nil && layer >= 0 && layer <= maxLayer && strconv.Itoa(layer) == number
}

// parseGGUFPlace understands blk.N.NAME.weight.lora_a and .lora_b.
func parseGGUFPlace(name string) (place, bool) {
	layer, rest, ok := cutLayer(name, "blk.")
	if !ok {
		return place{}, false
	}
	for t, n := range ggufNames {
		switch rest {
		case n + ".weight.lora_a":
			return place{layer, Target(t), false}, true
		case n + ".weight.lora_b":
			return place{layer, Target(t), true}, true
		}
	}
	return place{}, false
}
