package lora

import (
	"fmt"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/weights/hf"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Load reads an adapter for a base: a PEFT directory or a GGUF file.
func Load(path string, base Shape) (*Adapter, error) {
	c, err := Open(path)
	if err != nil {
		return nil, err
	}
	a, err := c.Adapter(base)
	return a, closing(c.Close, err)
}

// Adapter packs the matrices for a base, which the adapter must fit.
func (c *Content) Adapter(base Shape) (*Adapter, error) {
	if err := c.sameBase(base); err != nil {
		return nil, err
	}
	for _, t := range c.invocation {
		if base.Vocab > 0 && int(t) >= base.Vocab {
			return nil, mismatch(fmt.Sprintf("the invocation token %d is not in the base's vocabulary of %d", t, base.Vocab))
		}
	}
	a := &Adapter{Revision: c.rev, Scale: c.scale(), Key: c.key(), Invocation: c.invocation, layers: make([][Targets]Pair, base.Layers)}
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	all.Go(func() error { return c.pair(&a.head, base, place{layer: headLayer, target: Head}) })
	for layer := range base.Layers {
		all.Go(func() error {
			for t := range Targets {
				if err := c.pair(&a.layers[layer][t], base, place{layer: layer, target: t}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	if err := c.sameHead(base); err != nil {
		return nil, err
	}
	for p, t := range c.tensors {
		if p.layer >= base.Layers {
			return nil, mismatch(fmt.Sprintf("the tensor %s is for a layer that the base with its %d layers does not have", t.Name, base.Layers))
		}
	}
	return a, nil
}

// pair makes the two matrices of a place, if the adapter has them.
func (c *Content) pair(to *Pair, base Shape, p place) error {
	a := c.tensors[p]
	if a == nil {
		if c.targets[p.target] && !c.gguf && (c.layers == nil || c.layers[p.layer]) {
			return bad("the adapter targets %s but has no tensors for it", p)
		}
		return nil
	}
	p.b = true
	return c.pack(to, a, c.tensors[p], base, p.target)
}

// sameHead refuses the copy of a head that the base cannot have.
func (c *Content) sameHead(base Shape) error {
	if t := c.frozen; t != nil && !slices.Equal(t.Shape, []uint64{uint64(base.Vocab), uint64(base.In[Q])}) {
		return mismatch(fmt.Sprintf("the adapter was trained with a head of the shape %v, the base's is [%d, %d]", t.Shape, base.Vocab, base.In[Q]))
	}
	return nil
}

// key names what the adapter computes: the revision, and the type of each tensor, since
// the same bytes mean other values as another type.
func (c *Content) key() ids.Digest {
	var lines []string
	for _, t := range c.tensors {
		lines = append(lines, t.Name+" "+string(t.DType))
	}
	slices.Sort(lines)
	return ids.DigestOf([]byte(string(c.rev.Hash) + "\n" + strings.Join(lines, "\n")))
}

func mismatch(message string) error {
	return errs.New(errs.FormatInvalid, message, "use an adapter that was trained on this base")
}

// sameBase refuses an adapter that says it was made for another base, by digest or,
// when it has none, by name.
func (c *Content) sameBase(base Shape) error {
	if c.arch != "" && base.Arch != "" && c.arch != base.Arch {
		return mismatch(fmt.Sprintf("the adapter was made for the architecture %q, the base's is %q", errs.Clip(c.arch), base.Arch))
	}
	if c.rev.Base != "" {
		if base.Base != "" && c.rev.Base != base.Base {
			return mismatch(fmt.Sprintf("the adapter was made for the base %s, this one is %s", c.rev.Base.Short(), base.Base.Short()))
		}
		return nil
	}
	if base.Name != "" && c.Base != "" && plainName(c.Base) != plainName(base.Name) {
		return mismatch(fmt.Sprintf("the adapter was made for %q, the base is %q", errs.Clip(c.Base), base.Name))
	}
	return nil
}

// plainName is the last part of a model's name or path, in lower case, without what only
// says how a file stores it.
func plainName(s string) string {
	s = strings.ToLower(path.Base(strings.TrimRight(strings.ReplaceAll(s, `\`, "/"), "/")))
	for {
		cut := storage.ReplaceAllString(s, "")
		if cut == s || cut == "" {
			return s
		}
		s = cut
	}
}

var storage = regexp.MustCompile(`[._-](i?q[0-9][0-9a-z_]*|bf16|f16|f32|gguf|safetensors)$`)

// pack makes the two matrices of a layer.
func (c *Content) pack(to *Pair, ta, tb *safetensors.Tensor, base Shape, t Target) error {
	in, out := base.Dims(t)
	if ta.Shape[1] != uint64(in) || tb.Shape[0] != uint64(out) {
		return mismatch(fmt.Sprintf("%s and its partner turn %d values into %d, the base turns %d into %d there", ta.Name, ta.Shape[1], tb.Shape[0], in, out))
	}
	var err error
	if to.A, err = pack(ta, nil); err != nil {
		return err
	}
	var order []int
	if !(c.gguf && base.Paired) {
		order = base.Order(t) // names and rows as in checkpoints
	}
	to.B, err = pack(tb, order)
	return err
}

// pack packs a tensor, of a type that is read, with its rows in the given order.
func pack(t *safetensors.Tensor, order []int) (*kernel.Matrix, error) {
	rows, k := int(t.Shape[0]), int(t.Shape[1])
	format := hf.Formats[t.DType]
	return kernel.Pack(format, rows, k, sortedRows(t, order))
}
