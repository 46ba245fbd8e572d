package model

import (
	"fmt"
	"slices"
	"strings"

	"macaron/internal/errs"
)

// family is what the name of an architecture says about the computation. Numbers are in
// the file's own metadata; this is what they leave open.
type family struct {
	gguf, hf  string // general.architecture, model_type; empty where there is none
	paired    bool   // GGUF files hold the rows of q and k in kernel.PairOrder
	tied      bool   // config.json means a tied head when it does not say
	biases    bool   // of q, k and v
	headNorms bool   // queries and keys are normalised head by head
	postNorms bool   // the outputs of attention and feed-forward are normalised
	plusOne   bool   // checkpoints store what is added to 1; GGUF files the sum
	gelu      bool   // gate by tanh-approximated GELU, else SiLU
	scaled    bool   // embeddings are multiplied by sqrt(d)
	pattern   uint64 // every pattern-th layer is global, the others have a window; 0: the metadata must say
}

// families are the architectures that this package computes. One that files of both
// kinds call alike stands once.
var families = []family{
	{gguf: "llama", hf: "llama", paired: true}, // Llama 2 and 3, SmolLM
	{gguf: "llama", hf: "mistral", paired: true, pattern: noGlobal},
	{gguf: "qwen2", hf: "qwen2", biases: true}, // Qwen 2 and 2.5
	{gguf: "qwen3", hf: "qwen3", headNorms: true},
	{gguf: "gemma3", hf: "gemma3_text", tied: true, headNorms: true, postNorms: true, plusOne: true, gelu: true, scaled: true, pattern: 6},
}

// noGlobal is the pattern of a model whose every layer has the window.
const noGlobal = 1 << 32

// inGGUF finds a family by general.architecture. Mistral's files say llama.
func inGGUF(name string) (*family, error) {
	return find(name, func(f family) string { return f.gguf })
}

// inHF finds a family by model_type.
func inHF(name string) (*family, error) {
	return find(name, func(f family) string { return f.hf })
}

func find(name string, of func(family) string) (*family, error) {
	var known []string
	for i := range families {
		if of(families[i]) == name {
			return &families[i], nil
		}
		known = append(known, of(families[i]))
	}
	slices.Sort(known)
	return nil, errs.New(errs.Unsupported, fmt.Sprintf("the model's architecture is %q; the built-in engine knows: %s", errs.Clip(name), strings.Join(slices.Compact(known), ", ")),
		"use a model of a known architecture, or serve this one with another engine and --upstream")
}

// tensors of a layer by the names that GGUF files and checkpoints give them, and how
// many values wide they are. A name ending in .bias or _norm.weight is a vector.
func (f *family) checkpointName(name string) string {
	layer, rest, ok := strings.Cut(strings.TrimPrefix(name, "blk."), ".")
	if !ok || !strings.HasPrefix(name, "blk.") {
		return map[string]string{"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight", "output.weight": "lm_head.weight"}[name]
	}
	part, kind, _ := strings.Cut(rest, ".")
	if f.postNorms && part == "ffn_norm" {
		part = "pre_ffw_norm"
	}
	return "model.layers." + layer + "." + checkpointParts[part] + "." + kind
}

// checkpointParts are the names within a layer, by those of GGUF.
var checkpointParts = map[string]string{
	"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
	"attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
	"ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
	"post_attention_norm": "post_attention_layernorm", "pre_ffw_norm": "pre_feedforward_layernorm", "post_ffw_norm": "post_feedforward_layernorm",
}
