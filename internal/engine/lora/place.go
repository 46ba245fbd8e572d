package lora

import (
	"fmt"
	"strconv"
	"strings"
)

// place is where a tensor of the file belongs.
type place struct {
	layer  int // headLayer for the head
	target Target
	b      bool // B, else A
}

// String names the module as PEFT does.
func (p place) String() string {
	if p.target == Head {
		return headModule
	}
	return fmt.Sprintf("layers.%d.%s", p.layer, modules[p.target])
}

const maxLayer = 1 << 16

// headLayer is the layer of the head's tensors, which belong to none.
const headLayer = -1

// ggufHead is the head's name in GGUF files.
const ggufHead = "output"

// ggufNames are the targets' names in GGUF files, after "blk.N.".
var ggufNames = [Targets]string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}

// parsePlace understands base_model.model.model.layers.N.MODULE.lora_A.weight and
// base_model.model.lm_head.lora_A.weight, also with PEFT's adapter name "default" before
// "weight".
func parsePlace(name string) (place, bool) {
	if b, ok := parseHalf(strings.TrimPrefix(name, "base_model.model."+headModule)); ok {
		return place{headLayer, Head, b}, true
	}
	layer, rest, ok := cutLayer(name, "base_model.model.model.layers.")
	if !ok {
		return place{}, false
	}
	for t, m := range modules {
		if b, ok := parseHalf(strings.TrimPrefix(rest, m)); ok {
			return place{layer, Target(t), b}, true
		}
	}
	return place{}, false
}

// parseHalf tells A and B apart by what follows the module's name.
func parseHalf(rest string) (b, ok bool) {
	switch rest {
	case ".lora_A.weight", ".lora_A.default.weight":
		return false, true
	case ".lora_B.weight", ".lora_B.default.weight":
		return true, true
	}
	return false, false
}

// cutLayer parts a name that begins with the prefix and the decimal number of a layer.
func cutLayer(name, prefix string) (layer int, rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, prefix)
	number, rest, _ := strings.Cut(rest, ".")
	layer, err := strconv.Atoi(number)
	return layer, rest, ok && err == nil && layer >= 0 && layer <= maxLayer && strconv.Itoa(layer) == number
}

// parseGGUFPlace understands blk.N.NAME.weight.lora_a and .lora_b, and the same of output.
func parseGGUFPlace(name string) (place, bool) {
	switch name {
	case ggufHead + ".weight.lora_a":
		return place{headLayer, Head, false}, true
	case ggufHead + ".weight.lora_b":
		return place{headLayer, Head, true}, true
	}
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
