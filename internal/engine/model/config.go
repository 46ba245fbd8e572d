package model

import (
	"math"

	"macaron/internal/errs"
)

// caps on what metadata may claim, far above every known model of this kind.
const (
	maxLayers  = 1 << 10
	maxWidth   = 1 << 17
	maxContext = 1 << 24
)

// Config is what the metadata says about the architecture.
type Config struct {
	Name    string  // as the file calls the model
	Arch    string  // as the file calls the architecture
	Layers  int     // blocks
	D       int     // width
	H, G, C int     // query heads, key and value heads, values of a head
	F       int     // feed-forward width
	V       int     // vocabulary
	Context int     // positions that the model was made for
	Eps     float32 // of RMS normalisation
	Scale   float32 // of attention scores
	Window  int     // positions that a local layer sees, a row's own included; 0: there are no local layers
	Local   []bool  // by layer, when there is a window
	Tied    bool    // the head is the embedding

	family      *family
	rope, local rotary // of global and of local layers
}

// WindowOf is the number of positions that a layer sees, 0 for all.
func (c *Config) WindowOf(layer int) int {
	if c.Window > 0 && c.Local[layer] {
		return c.Window
	}
	return 0
}

// readSizes takes what files of both kinds have.
func (c *Config) readSizes(r *reader) {
	c.Layers = r.count("block_count", maxLayers)
	c.D = r.count("embedding_length", maxWidth)
	c.H = r.count("attention.head_count", maxWidth)
	c.F = r.count("feed_forward_length", maxWidth*8)
	c.Context = r.count("context_length", maxContext)
	c.Eps = float32(r.float("attention.layer_norm_rms_epsilon", 0))
	c.rope.factor, c.local.factor = 1, 1
	if r.err != nil {
		return
	}
	c.G = r.countOr("attention.head_count_kv", c.H, maxWidth)
	if c.family.headNorms { // the families whose heads do not add up to the width
		c.C = r.count("attention.key_length", maxWidth)
	} else {
		c.C = r.countOr("attention.key_length", c.D/c.H, maxWidth)
	}
	c.Scale = float32(1 / math.Sqrt(float64(c.C)))
}

func (c *Config) check() error {
	switch {
	case c.H%c.G != 0:
		return errs.Newf(errs.FormatInvalid, "the model has %d query heads and %d key heads, which is no multiple", c.H, c.G)
	case c.C%16 != 0:
		return errs.Newf(errs.Unsupported, "heads of %d values are not supported; they must be a multiple of 16", c.C)
	case !positive(float64(c.Eps), float64(c.Scale)):
		return errs.Newf(errs.FormatInvalid, "the model's epsilon %g or attention scale %g makes no sense", c.Eps, c.Scale)
	}
	if err := c.local.check(); err != nil {
		return err
	}
	return c.rope.check()
}

// everyLayer marks all layers but every n-th as local.
func everyLayer(layers int, n uint64) []bool {
	local := make([]bool, layers)
	for i := range local {
		local[i] = uint64(i+1)%n != 0
	}
	return local
}

// facts is typed metadata: that of a GGUF file, or config.json.
type facts interface {
	Has(key string) bool
	Uint(key string) (uint64, error)
	UintOr(key string, def uint64) (uint64, error)
	FloatOr(key string, def float64) (float64, error)
	StringOr(key, def string) (string, error)
	BoolOr(key string, def bool) (bool, error)
}

// reader takes numbers by the names that GGUF gives them after the architecture's, and
// collects the first error.
type reader struct {
	facts
	spell func(key string) string // as the file spells it
	err   error
}

func (r *reader) count(key string, limit int) int {
	n, err := r.Uint(r.spell(key))
	return r.bounded(key, n, err, limit)
}

func (r *reader) countOr(key string, def, limit int) int {
	n, err := r.UintOr(r.spell(key), uint64(def))
	return r.bounded(key, n, err, limit)
}

func (r *reader) bounded(key string, n uint64, err error, limit int) int {
	if key = r.spell(key); err == nil && (n == 0 || n > uint64(limit)) {
		err = errs.Newf(errs.FormatInvalid, "the metadata key %s is %d, beyond 1 to %d", key, n, limit).In(key)
	}
	r.fail(err)
	return int(n)
}

func (r *reader) float(key string, def float64) float64 {
	f, err := r.FloatOr(r.spell(key), def)
	r.fail(err)
	return f
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}
