package model

import (
	"fmt"
	"math"
	"path/filepath"

	"macaron/internal/engine/weights/hf"
	"macaron/internal/errs"
)

// inConfig are the names in config.json, by those of GGUF.
var inConfig = map[string]string{
	"block_count": "num_hidden_layers", "embedding_length": "hidden_size", "feed_forward_length": "intermediate_size",
	"attention.head_count": "num_attention_heads", "attention.head_count_kv": "num_key_value_heads", "attention.key_length": "head_dim",
	"context_length": "max_position_embeddings", "attention.layer_norm_rms_epsilon": "rms_norm_eps",
	"attention.sliding_window": "sliding_window",
}

// readHF takes the architecture from a directory's config.json and refuses what would be
// computed wrongly. Fields that the reference implementation of the architecture does
// not read are not looked at.
func readHF(d *hf.Dir) (Config, error) {
	h := d.Config
	arch, err := h.String("model_type")
	if err != nil {
		return Config{}, err
	}
	c := Config{Arch: arch, Name: filepath.Base(d.Path())}
	if c.family, err = inHF(arch); err != nil {
		return c, err
	}
	r := &reader{facts: h, spell: func(key string) string { return inConfig[key] }}
	c.readSizes(r)
	if r.err != nil {
		return c, r.err
	}
	if c.family.postNorms {
		scalar := must(r, h.Float, "query_pre_attn_scalar")
		c.Scale = float32(1 / math.Sqrt(scalar))
	}
	if c.Tied, err = h.BoolOr("tie_word_embeddings", c.family.tied); err != nil {
		return c, err
	}
	r.fail(c.refuseHF(h))
	c.rotaryHF(r, h)
	c.windowHF(r, h)
	if r.err != nil {
		return c, r.err
	}
	return c, c.check()
}

// must reads a field and keeps the error.
func must[T any](r *reader, get func(string) (T, error), field string) T {
	v, err := get(field)
	r.fail(err)
	return v
}

// refuseHF refuses what the reference would compute and this package does not.
func (c *Config) refuseHF(h hf.Config) error {
	for _, field := range []string{"quantization_config", "mlp_bias", "final_logit_softcapping", "attn_logit_softcapping", "use_bidirectional_attention", "rope_interleaved"} {
		if !h.Neutral(field, 0) {
			return refused(fmt.Sprintf("the model's config.json has %s = %s", field, errs.Clip(string(h.Raw(field)))))
		}
	}
	if !h.Neutral("partial_rotary_factor", 1) {
		return refused("the model rotates a part of each head only (partial_rotary_factor)")
	}
	want, field := "silu", "hidden_act"
	if c.family.gelu {
		want, field = "gelu_pytorch_tanh", "hidden_activation"
	}
	act, err := h.StringOr(field, want)
	if err == nil && act != want {
		err = refused(fmt.Sprintf("the model's activation is %q where models of the kind %s have %q", errs.Clip(act), c.family.hf, want))
	}
	return err
}

// rotaryHF reads rope_parameters, or rope_theta and rope_scaling of older files.
func (c *Config) rotaryHF(r *reader, h hf.Config) {
	all := hf.Config{}
	if h.Has("rope_parameters") {
		all = must(r, h.Object, "rope_parameters")
	}
	base, local := 10000.0, 10000.0
	if c.family.postNorms {
		base = 1e6
	}
	scaling := all
	if all.Has("full_attention") {
		scaling = must(r, all.Object, "full_attention")
	} else if h.Has("rope_scaling") {
		scaling = must(r, h.Object, "rope_scaling")
	}
	c.rope = r.rotary(scaling, c, r.number(h, "rope_theta", base))
	if c.local = c.rope; !c.family.postNorms {
		return
	}
	c.local = rotary{base: r.number(h, "rope_local_base_freq", local), factor: 1}
	if all.Has("sliding_attention") {
		c.local = r.rotary(must(r, all.Object, "sliding_attention"), c, c.local.base)
	}
}

func (r *reader) number(h hf.Config, field string, def float64) float64 {
	f, err := h.FloatOr(field, def)
	r.fail(err)
	return f
}

// rotary reads one set of rotary parameters.
func (r *reader) rotary(h hf.Config, c *Config, base float64) rotary {
	out := rotary{base: r.number(h, "rope_theta", base), factor: 1}
	old, err := h.StringOr("type", "default")
	r.fail(err)
	kind, err := h.StringOr("rope_type", old)
	r.fail(err)
	switch kind {
	case "default":
	case "linear":
		out.factor = must(r, h.Float, "factor")
	case "llama3":
		out.bands = &bands{must(r, h.Float, "factor"), must(r, h.Float, "low_freq_factor"), must(r, h.Float, "high_freq_factor"),
			r.number(h, "original_max_position_embeddings", float64(c.Context))}
	default:
		r.fail(unknownScaling(kind, "default, linear, llama3"))
	}
	if !h.Neutral("partial_rotary_factor", 1) {
		r.fail(refused("the model rotates a part of each head only (partial_rotary_factor)"))
	}
	return out
}

// windowHF finds the local layers.
func (c *Config) windowHF(r *reader, h hf.Config) {
	const field = "sliding_window"
	switch c.family.hf {
	case "llama":
		return
	case "mistral":
		if !h.Given(field) {
			c.Window = 4096 // the reference's default
		}
	case "qwen2", "qwen3":
		if use, err := h.BoolOr("use_sliding_window", false); err != nil || !use {
			r.fail(err)
			return
		}
	}
	if h.Has(field) || c.family.postNorms {
		c.Window = r.count("attention.sliding_window", maxContext)
	}
	if c.Window > 0 {
		c.Local = c.localLayers(r, h)
	}
}

// localLayers are those that layer_types names, or that older files describe.
func (c *Config) localLayers(r *reader, h hf.Config) []bool {
	local := make([]bool, c.Layers)
	switch {
	case h.Has("layer_types") && c.family.pattern != noGlobal:
		types := must(r, h.Strings, "layer_types")
		if len(types) != c.Layers {
			r.fail(errs.Newf(errs.FormatInvalid, "layer_types has %d entries for %d layers", len(types), c.Layers).In("layer_types"))
			return local
		}
		for i, t := range types {
			if local[i] = t == "sliding_attention"; !local[i] && t != "full_attention" {
				r.fail(refused(fmt.Sprintf("layer %d is of the type %q (known are full_attention and sliding_attention)", i, errs.Clip(t))))
			}
		}
		return local
	case c.family.pattern == 0: // Qwen: the upper layers
		first := must(r, h.Uint, "max_window_layers")
		for i := range local {
			local[i] = uint64(i) >= first
		}
		return local
	}
	every, err := h.UintOr("sliding_window_pattern", c.family.pattern)
	r.fail(err)
	return everyLayer(c.Layers, max(every, 1))
}
