package model

import (
	"fmt"
	"math"
	"strings"

	"macaron/internal/engine/weights/gguf"
	"macaron/internal/errs"
)

// architectures that this package computes, by the name in general.architecture.
var architectures = []string{"llama"}

// caps on what metadata may claim, far above every known model of this kind.
const (
	maxLayers  = 1 << 10
	maxWidth   = 1 << 17
	maxContext = 1 << 24
)

// readConfig takes the architecture from metadata and refuses what would be computed
// wrongly.
func readConfig(meta gguf.Meta) (Config, error) {
	arch, err := meta.String("general.architecture")
	if err != nil {
		return Config{}, err
	}
	if arch != "llama" {
		return Config{}, errs.New(errs.Unsupported, fmt.Sprintf("the model's architecture is %q; the built-in engine knows: %s", arch, strings.Join(architectures, ", ")),
			"use a model of a known architecture, or serve this one with another engine and --upstream")
	}
	r := reader{meta: meta}
	c := Config{
		Layers:  r.count("llama.block_count", maxLayers),
		D:       r.count("llama.embedding_length", maxWidth),
		H:       r.count("llama.attention.head_count", maxWidth),
		F:       r.count("llama.feed_forward_length", maxWidth*8),
		Context: r.count("llama.context_length", maxContext),
		Eps:     float32(r.float("llama.attention.layer_norm_rms_epsilon", 0)),
		Theta:   float32(r.float("llama.rope.freq_base", 10000)),
	}
	if r.err != nil {
		return Config{}, r.err
	}
	c.G = r.countOr("llama.attention.head_count_kv", c.H, maxWidth)
	c.C = r.countOr("llama.attention.key_length", c.D/c.H, maxWidth)
	value := r.countOr("llama.attention.value_length", c.C, maxWidth)
	rotary := r.countOr("llama.rope.dimension_count", c.C, maxWidth)
	if r.err != nil {
		return Config{}, r.err
	}
	c.Name, r.err = meta.StringOr("general.name", "")
	if r.err != nil {
		return Config{}, r.err
	}
	return c, c.check(meta, value, rotary)
}

func (c Config) check(meta gguf.Meta, value, rotary int) error {
	switch {
	case c.H%c.G != 0:
		return errs.Newf(errs.FormatInvalid, "the model has %d query heads and %d key heads, which is no multiple", c.H, c.G)
	case c.C != value || c.C != rotary || c.C%16 != 0:
		return errs.Newf(errs.Unsupported, "heads with %d key values, %d values and %d rotated values are not supported; they must be equal, a multiple of 16", c.C, value, rotary)
	case !(c.Eps > 0) || !(c.Theta > 1) || math.IsInf(float64(c.Theta), 1):
		return errs.Newf(errs.FormatInvalid, "the model's epsilon %g or rotary base %g makes no sense", c.Eps, c.Theta)
	}
	scaling, err := meta.StringOr("llama.rope.scaling.type", "none")
	if err != nil {
		return err
	}
	if scaling != "none" {
		return errs.Newf(errs.Unsupported, "rotary scaling %q is not supported", scaling)
	}
	if experts, err := meta.UintOr("llama.expert_count", 0); err != nil || experts > 0 {
		return errs.New(errs.Unsupported, "the model is a mixture of experts, which the built-in engine does not compute", "serve it with another engine and --upstream")
	}
	return nil
}

// reader collects the first error.
type reader struct {
	meta gguf.Meta
	err  error
}

func (r *reader) count(key string, limit int) int {
	n, err := r.meta.Uint(key)
	return r.bounded(key, n, err, limit)
}

func (r *reader) countOr(key string, def, limit int) int {
	n, err := r.meta.UintOr(key, uint64(def))
	return r.bounded(key, n, err, limit)
}

func (r *reader) bounded(key string, n uint64, err error, limit int) int {
	if err == nil && (n == 0 || n > uint64(limit)) {
		err = errs.Newf(errs.FormatInvalid, "the metadata key %s is %d, beyond 1 to %d", key, n, limit).In(key)
	}
	if r.err == nil {
		r.err = err
	}
	return int(n)
}

func (r *reader) float(key string, def float64) float64 {
	f, err := r.meta.FloatOr(key, def)
	if r.err == nil {
		r.err = err
	}
	return f
}
