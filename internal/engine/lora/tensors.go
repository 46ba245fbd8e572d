package lora

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/canonical"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// Content is an adapter by itself, as it is stored: the matrices and what is said of them,
// checked against each other, before any base is known.
type Content struct {
	config
	close   func() error // of the file that the tensors are views of; nil for none
	tensors map[place]*safetensors.Tensor
	frozen  *safetensors.Tensor // frozenHead, nil for none
	rev     adapter.Revision
}

// frozenHead is the base's own head, which PEFT saves beside its adapter unless it is told
// not to. Training an adapter does not change it, so that it is no part of the revision.
const frozenHead = "base_model.model." + headModule + ".base_layer.weight"

// Open reads a PEFT directory or a GGUF file; the caller closes it.
func Open(path string) (*Content, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return openGGUF(path)
	}
	return openPEFT(path)
}

func openPEFT(dir string) (*Content, error) {
	c, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	f, err := safetensors.Open(filepath.Join(dir, tensorsFile))
	if err != nil {
		return nil, err
	}
	return match(c, f)
}

// match is the content of a configuration and an open file of tensors.
func match(c config, f *safetensors.File) (*Content, error) {
	out, err := collect(c, f.Tensors, baseOf(c, f))
	if err != nil {
		return nil, closing(f.Close, err)
	}
	out.close = f.Close
	return out, nil
}

// Parse reads the two files of a PEFT directory from memory; weights is kept.
func Parse(configuration, weights []byte) (*Content, error) {
	c, err := parseConfig(configuration)
	if err != nil {
		return nil, err
	}
	f, err := safetensors.Parse(weights)
	if err != nil {
		return nil, err
	}
	return match(c, f)
}

// Close releases the file. Adapters that were made of it stay.
func (c *Content) Close() error {
	if c.close == nil {
		return nil
	}
	return c.close()
}

// Revision is what the adapter is. Name and Source are the caller's to fill in.
func (c *Content) Revision() adapter.Revision { return c.rev }

// closing closes the file after a failure; the failure is what counts.
func closing(file func() error, err error) error {
	if cerr := file(); cerr != nil && err == nil {
		return cerr
	}
	return err
}

// collect places every tensor and computes the revision.
func collect(c config, tensors []safetensors.Tensor, base ids.Digest) (*Content, error) {
	out := &Content{config: c, tensors: map[place]*safetensors.Tensor{}}
	rev := canonical.Revision{Base: base, Rank: c.Rank, Alpha: c.plainAlpha(), Targets: c.names(), Invocation: c.invocation, Tensors: map[string]ids.Digest{}}
	var strange []string
	parse, known := parsePlace, shortNames()
	if c.gguf {
		parse, known = parseGGUFPlace, append(ggufNames[:], ggufHead)
	}
	for i := range tensors {
		t := &tensors[i]
		if t.Name == frozenHead && c.targets[Head] && !c.gguf {
			out.frozen = t
			continue
		}
		out.rev.Bytes += int64(len(t.Data))
		p, ok := parse(t.Name)
		if !ok {
			strange = append(strange, t.Name)
			continue
		}
		if _, dup := out.tensors[p]; dup {
			return nil, bad("two tensors are for the same matrix: %s", errs.Clip(t.Name))
		}
		if err := c.fits(p, t); err != nil {
			return nil, err
		}
		out.tensors[p] = t
		sum := sha256.Sum256(t.Data)
		rev.Tensors[t.Name] = ids.Digest("sha256:" + hex.EncodeToString(sum[:]))
		out.rev.Params += int64(t.Elements())
	}
	if len(strange) > 0 {
		return nil, errs.New(errs.Unsupported, "the adapter has tensors that are no low-rank matrices of a known linear layer: "+sample(strange),
			"known are lora_A and lora_B of "+strings.Join(known, ", "))
	}
	return out, out.finish(rev)
}

// fits checks a tensor by itself.
func (c *config) fits(p place, t *safetensors.Tensor) error {
	rankAt := 0
	if p.b {
		rankAt = 1
	}
	switch {
	case !c.targets[p.target] || c.layers != nil && !c.layers[p.layer]:
		return bad("the tensor %s is for a layer that adapter_config.json does not target", t.Name)
	case len(t.Shape) != 2 || t.Elements() == 0:
		return bad("the tensor %s has the shape %v, not two dimensions", t.Name, t.Shape)
	case t.Shape[rankAt] != uint64(c.Rank) && c.gguf:
		return unsupported(fmt.Sprintf("the tensor %s has the shape %v, but others have the rank %d; adapters whose layers differ in rank are not supported", t.Name, t.Shape, c.Rank))
	case t.Shape[rankAt] != uint64(c.Rank):
		return bad("the tensor %s has the shape %v, but the rank is %d", t.Name, t.Shape, c.Rank)
	case t.DType != safetensors.F16 && t.DType != safetensors.BF16 && t.DType != safetensors.F32:
		return unsupported(fmt.Sprintf("the tensor %s holds %s; F16, BF16 and F32 are read", t.Name, t.DType))
	}
	return finite(t)
}

// finish checks that every A has its B and fills in the revision.
func (c *Content) finish(rev canonical.Revision) error {
	if len(c.tensors) == 0 {
		return bad("the adapter has no tensors")
	}
	for p, t := range c.tensors {
		p.b = !p.b
		if c.tensors[p] == nil {
			return bad("the tensor %s has no partner", t.Name)
		}
	}
	hash, err := rev.Hash()
	if err != nil {
		return err
	}
	c.rev = adapter.Revision{Hash: hash, Base: rev.Base, Rank: rev.Rank, Alpha: rev.Alpha, Targets: rev.Targets,
		Params: c.rev.Params, Bytes: c.rev.Bytes}
	return nil
}

// baseOf is the digest of the base that an adapter says it was made for: the entry
// "base" of the tensor file's metadata, or base_model_name_or_path if that is one.
func baseOf(c config, f *safetensors.File) ids.Digest {
	for _, s := range []string{f.Meta["base"], c.Base} {
		if d, err := ids.ParseDigest(s); err == nil {
			return d
		}
	}
	return ""
}

// sample lists a few names.
func sample(names []string) string {
	slices.Sort(names)
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + fmt.Sprintf(" and %d more", len(names)-5)
	}
	return strings.Join(names, ", ")
}

// Inspect computes the revision of an adapter, a PEFT directory or a GGUF file, without a
// base. Name and Source are the caller's to fill in.
func Inspect(path string) (adapter.Revision, error) {
	c, err := Open(path)
	if err != nil {
		return adapter.Revision{}, err
	}
	return c.rev, c.Close()
}
