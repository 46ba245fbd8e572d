package model

import (
	"fmt"
	"math"

	"macaron/internal/engine/weights/gguf"
	"macaron/internal/errs"
)

// readGGUF takes the architecture from a GGUF file's metadata and refuses what would be
// computed wrongly.
func readGGUF(f *gguf.File) (Config, error) {
	meta := f.Meta
	arch, err := meta.String("general.architecture")
	if err != nil {
		return Config{}, err
	}
	c := Config{Arch: arch, Tied: !f.HasTensor("output.weight")}
	if c.family, err = inGGUF(arch); err != nil {
		return c, err
	}
	r := &reader{facts: meta, spell: func(key string) string { return arch + "." + key }}
	c.Name, err = meta.StringOr("general.name", "")
	r.fail(err)
	c.readSizes(r)
	if r.err != nil {
		return c, r.err
	}
	if c.family.postNorms && c.Layers == 62 { // Gemma 3 27B scales queries by its width, not by its heads'
		c.Scale = float32(1 / math.Sqrt(float64(c.D/c.H)))
	}
	c.refuseGGUF(r)
	c.rotaryGGUF(r)
	c.windowGGUF(r, meta)
	if r.err != nil {
		return c, r.err
	}
	return c, c.check()
}

// refuseGGUF refuses what other models of these architectures' names do besides.
func (c *Config) refuseGGUF(r *reader) {
	if value, rotated := r.countOr("attention.value_length", c.C, maxWidth), r.countOr("rope.dimension_count", c.C, maxWidth); r.err == nil && (value != c.C || rotated != c.C) {
		r.fail(errs.Newf(errs.Unsupported, "heads with %d key values, %d values and %d rotated values are not supported; they must be equal", c.C, value, rotated))
	}
	for _, key := range []string{"final_logit_softcapping", "attn_logit_softcapping", "logit_scale", "embedding_scale", "residual_scale", "attention.scale"} {
		if f := r.float(key, 0); f != 0 {
			r.fail(refused(fmt.Sprintf("the model scales or caps values (%s is %g)", r.spell(key), f)))
		}
	}
	experts, err := r.UintOr(r.spell("expert_count"), 0)
	if r.fail(err); experts > 0 {
		r.fail(refused("the model is a mixture of experts"))
	}
	causal, err := r.BoolOr(r.spell("attention.causal"), true)
	if r.fail(err); !causal {
		r.fail(refused("the model looks ahead (attention.causal is false)"))
	}
}

func refused(what string) error {
	return errs.New(errs.Unsupported, what+", which the built-in engine does not compute", "serve it with another engine and --upstream")
}

func (c *Config) rotaryGGUF(r *reader) {
	c.rope.base = r.float("rope.freq_base", 10000)
	kind, err := r.StringOr(r.spell("rope.scaling.type"), "linear")
	r.fail(err)
	factor := r.float("rope.scaling.factor", r.float("rope.scale_linear", 0))
	switch {
	case factor == 0 || factor == 1 || kind == "none":
	case kind == "linear":
		c.rope.factor = factor
	default:
		r.fail(unknownScaling(kind, "linear"))
	}
	if kind != "none" && kind != "linear" {
		r.fail(unknownScaling(kind, "linear"))
	}
	if c.local = c.rope; c.family.postNorms { // Gemma's local layers keep the base of its predecessor
		c.local = rotary{base: r.float("rope.freq_base_swa", 10000), factor: 1}
	}
}

func unknownScaling(kind, known string) error {
	return refused(fmt.Sprintf("the model's rotary scaling is %q (known are %s)", errs.Clip(kind), known))
}

// windowGGUF finds the local layers.
func (c *Config) windowGGUF(r *reader, meta gguf.Meta) {
	key, pattern := r.spell("attention.sliding_window"), r.spell("attention.sliding_window_pattern")
	n, err := r.UintOr(key, 0)
	if r.fail(err); err != nil || n == 0 {
		return
	}
	c.Window = r.bounded("attention.sliding_window", n, nil, maxContext)
	if local, err := meta.Bools(pattern); err == nil {
		if c.Local = local; len(local) != c.Layers {
			r.fail(errs.Newf(errs.FormatInvalid, "%s has %d entries for %d layers", pattern, len(local), c.Layers).In(pattern))
		}
		return
	}
	every := c.family.pattern
	if c.family.paired {
		every = noGlobal // Mistral's files say llama
	}
	every, err = r.UintOr(pattern, every)
	if r.fail(err); every == 0 {
		r.fail(refused(fmt.Sprintf("the model has a sliding window and does not say in which layers (%s)", pattern)))
		return
	}
	c.Local = everyLayer(c.Layers, every)
}
