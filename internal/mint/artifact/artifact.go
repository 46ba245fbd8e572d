// Package artifact carries revisions as OCI artifacts: in an image layout on disk or in a
// registry. Each file is a blob, the configuration says where the revision comes from, and
// training state can travel beside it. What arrives is checked before anybody sees it.
// docs/formats/catalogue.md has the media types.
package artifact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"

	"macaron/internal/adapter"
	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/catalogue"
)

// The media types.
const (
	Type       = "application/vnd.macaron.revision.v1"
	configType = "application/vnd.macaron.revision.config.v1+json"
	peftType   = "application/vnd.macaron.adapter.config.v1+json"
	tensorType = "application/vnd.macaron.adapter.tensors.v1.safetensors"
	stateType  = "application/vnd.macaron.training.state.v1"
)

// The bounds of what is pulled.
const (
	maxManifest = 1 << 20
	maxConfig   = 8 << 20
	maxPEFT     = 1 << 20
	maxTensors  = 4 << 30
	maxLayers   = 8
)

// Bundle is a revision with where it comes from.
type Bundle struct {
	Published adapter.Published
	Recipe    string // its text
	catalogue.Files
	State []State
}

// State is training state that travels with a revision and is never served.
type State struct {
	Role   string // checkpoint or optimizer
	Digest ids.Digest
	Size   int64
	Open   func(context.Context) (io.ReadCloser, error)
}

// roles are what state can be.
var roles = map[string]bool{"checkpoint": true, "optimizer": true}

// provenance is the configuration blob.
type provenance struct {
	Revision adapter.Published `json:"revision"`
	Recipe   string            `json:"recipe_text,omitempty"`
}

// roleKey annotates a layer of state.
const roleKey = "vnd.macaron.role"

// Push writes a bundle to a layout or a registry under a tag. Equal bundles give equal
// artifacts.
func Push(ctx context.Context, to oras.Target, b Bundle, tag string) (ids.Digest, error) {
	if err := CheckTag(tag); err != nil {
		return "", err
	}
	config, err := canonical.Bytes(provenance{b.Published, b.Recipe})
	if err != nil {
		return "", err
	}
	about, err := push(ctx, to, configType, "", config)
	if err != nil {
		return "", failed(err, "the artifact cannot be written")
	}
	o := oras.PackManifestOptions{ConfigDescriptor: &about, ManifestAnnotations: map[string]string{
		ocispec.AnnotationCreated: b.Published.Created.UTC().Format(time.RFC3339), ocispec.AnnotationTitle: b.Published.Name, "vnd.macaron.revision": string(b.Published.Hash)}}
	for _, f := range []struct {
		kind, title string
		b           []byte
	}{{peftType, catalogue.ConfigFile, b.Config}, {tensorType, catalogue.TensorsFile, b.Tensors}} {
		d, err := push(ctx, to, f.kind, f.title, f.b)
		if err != nil {
			return "", failed(err, "the artifact cannot be written")
		}
		o.Layers = append(o.Layers, d)
	}
	for _, s := range b.State {
		d, err := pushState(ctx, to, s)
		if err != nil {
			return "", failed(err, "the training state cannot be written")
		}
		o.Layers = append(o.Layers, d)
	}
	manifest, err := oras.PackManifest(ctx, to, oras.PackManifestVersion1_1, Type, o)
	if err == nil {
		err = to.Tag(ctx, manifest, tag)
	}
	return ids.Digest(manifest.Digest), failed(err, "the artifact cannot be written")
}

// push writes a blob unless it is there.
func push(ctx context.Context, to oras.Target, kind, title string, b []byte) (ocispec.Descriptor, error) {
	d := content.NewDescriptorFromBytes(kind, b)
	if title != "" {
		d.Annotations = map[string]string{ocispec.AnnotationTitle: title}
	}
	there, err := to.Exists(ctx, d)
	if err != nil || there {
		return d, err
	}
	return d, to.Push(ctx, d, bytes.NewReader(b))
}

func pushState(ctx context.Context, to oras.Target, s State) (ocispec.Descriptor, error) {
	d := ocispec.Descriptor{MediaType: stateType, Digest: digestOf(s.Digest), Size: s.Size, Annotations: map[string]string{ocispec.AnnotationTitle: s.Role, roleKey: s.Role}}
	there, err := to.Exists(ctx, d)
	if err != nil || there {
		return d, err
	}
	r, err := s.Open(ctx)
	if err != nil {
		return d, err
	}
	defer r.Close() // read-only
	return d, to.Push(ctx, d, r)
}

// Pull reads what a tag or digest names, checks every byte of it, and gives the bundle. Its
// state is read when it is opened, and checked then. That the files are the revision that the
// configuration names is the catalogue's to check when they are published.
func Pull(ctx context.Context, from oras.ReadOnlyTarget, reference string) (Bundle, error) {
	manifest, err := manifestOf(ctx, from, reference)
	if err != nil {
		return Bundle{}, err
	}
	var b Bundle
	raw, err := fetch(ctx, from, manifest.Config, maxConfig)
	if err != nil {
		return b, err
	}
	if err := b.about(raw); err != nil {
		return b, err
	}
	for _, l := range manifest.Layers {
		if err := b.layer(ctx, from, l); err != nil {
			return b, err
		}
	}
	if b.Config == nil || b.Tensors == nil {
		return b, bad("the artifact lacks %s or %s", catalogue.ConfigFile, catalogue.TensorsFile)
	}
	return b, nil
}

func manifestOf(ctx context.Context, from oras.ReadOnlyTarget, reference string) (m ocispec.Manifest, err error) {
	d, err := from.Resolve(ctx, reference)
	if err != nil {
		return m, failed(err, "there is no artifact "+errs.Clip(reference))
	}
	if d.MediaType != ocispec.MediaTypeImageManifest {
		return m, bad("%s names %s, not an image manifest", errs.Clip(reference), errs.Clip(d.MediaType))
	}
	raw, err := fetch(ctx, from, d, maxManifest)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, bad("the manifest is no JSON object: %v", err)
	}
	switch {
	case m.ArtifactType != Type:
		return m, bad("the artifact is of type %q, not %s", errs.Clip(m.ArtifactType), Type)
	case m.Config.MediaType != configType:
		return m, bad("the configuration is of type %q, not %s", errs.Clip(m.Config.MediaType), configType)
	case len(m.Layers) > maxLayers:
		return m, bad("the artifact has %d layers; at most %d are possible", len(m.Layers), maxLayers)
	}
	return m, nil
}

// about reads the configuration.
func (b *Bundle) about(raw []byte) error {
	if _, err := canonical.JSON(raw); err != nil { // refuses keys that stand there twice, and depth
		return bad("the configuration is malformed: %v", errs.As(err).Message)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	var p provenance
	if err := dec.Decode(&p); err != nil {
		return bad("the configuration is malformed: %v", err)
	}
	if _, err := ids.ParseDigest(string(p.Revision.Hash)); err != nil {
		return bad("the configuration names no revision")
	}
	if p.Recipe != "" && ids.DigestOf([]byte(p.Recipe)) != p.Revision.Recipe {
		return errs.New(errs.ChecksumMismatch, "the text of the recipe is not the one that the revision names", "get the artifact from its publisher again")
	}
	b.Published, b.Recipe = p.Revision, p.Recipe
	return nil
}

func (b *Bundle) layer(ctx context.Context, from oras.ReadOnlyTarget, l ocispec.Descriptor) (err error) {
	switch l.MediaType {
	case peftType:
		if b.Config != nil {
			return bad("the artifact has two layers of type %s", peftType)
		}
		b.Config, err = fetch(ctx, from, l, maxPEFT)
	case tensorType:
		if b.Tensors != nil {
			return bad("the artifact has two layers of type %s", tensorType)
		}
		b.Tensors, err = fetch(ctx, from, l, maxTensors)
	case stateType:
		return b.state(from, l)
	default:
		return bad("the artifact has a layer of type %q, which is not known", errs.Clip(l.MediaType))
	}
	return err
}

func (b *Bundle) state(from oras.ReadOnlyTarget, l ocispec.Descriptor) error {
	role := l.Annotations[roleKey]
	digest, err := ids.ParseDigest(string(l.Digest))
	if !roles[role] || err != nil || l.Size < 0 {
		return bad("a layer of training state is %q, not a checkpoint or an optimizer with a SHA-256 digest", errs.Clip(role))
	}
	b.State = append(b.State, State{Role: role, Digest: digest, Size: l.Size, Open: func(ctx context.Context) (io.ReadCloser, error) {
		r, err := from.Fetch(ctx, l)
		if err != nil {
			return nil, failed(err, "the training state cannot be read")
		}
		return &verified{content.NewVerifyReader(r, l), r}, nil
	}})
	return nil
}

// verified fails at the end of what is not what its digest says.
type verified struct {
	*content.VerifyReader
	io.Closer
}

// Read implements io.Reader.
func (v *verified) Read(p []byte) (int, error) {
	n, err := v.VerifyReader.Read(p)
	if errors.Is(err, io.EOF) {
		if wrong := v.Verify(); wrong != nil {
			return n, errs.Wrap(errs.ChecksumMismatch, wrong, "the training state is not what its digest says", "get the artifact from its publisher again")
		}
	}
	return n, err
}

// fetch reads a blob of at most so many bytes, whole and checked.
func fetch(ctx context.Context, from content.Fetcher, d ocispec.Descriptor, most int64) ([]byte, error) {
	if d.Size < 0 || d.Size > most {
		return nil, errs.Newf(errs.TooLarge, "a part of type %s has %d bytes; %d are possible", errs.Clip(d.MediaType), d.Size, most)
	}
	if _, err := ids.ParseDigest(string(d.Digest)); err != nil {
		return nil, bad("a part of type %s has no SHA-256 digest", errs.Clip(d.MediaType))
	}
	r, err := from.Fetch(ctx, d)
	if err != nil {
		return nil, failed(err, "a part of the artifact cannot be read")
	}
	defer r.Close() // read-only
	v := content.NewVerifyReader(r, d)
	b, err := io.ReadAll(io.LimitReader(v, d.Size)) // grows with what comes, not with what is announced
	if err != nil {
		return nil, failed(err, "a part of the artifact cannot be read")
	}
	return b, errs.Wrap(errs.ChecksumMismatch, v.Verify(), "a part of the artifact is not what its digest says", "get the artifact from its publisher again")
}

func bad(format string, args ...any) error {
	return errs.New(errs.FormatInvalid, fmt.Sprintf(format, args...), "name an artifact that macaron mint export has written")
}
