package lora

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/engine/kernel"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/engine/weights/gguf/gguftest"
	"macaron/internal/errs"
)

// tiny is the base of ../testdata/tiny.
func tiny() Shape {
	return Shape{Arch: "llama", Paired: true, Vocab: 260, Layers: 2, HeadDim: 16, In: [Targets]int{64, 64, 64, 64, 64, 64, 96}, Out: [Targets]int{64, 32, 32, 64, 96, 96, 64}}
}

func values(m *kernel.Matrix) []float32 {
	out := make([]float32, m.Rows()*m.K())
	for i := range m.Rows() {
		m.Row(i, out[i*m.K():])
	}
	return out
}

// TestGGUFHoldsTheSameMatrices: what llama.cpp's converter made of a PEFT directory
// loads as the same bits in the same formats.
func TestGGUFHoldsTheSameMatrices(t *testing.T) {
	for _, name := range []string{"a", "activated"} {
		dir := filepath.Join("..", "testdata", "tiny", name)
		peft, err := Load(dir, tiny())
		if err != nil {
			t.Fatal(err)
		}
		file, err := Load(dir+".gguf", tiny())
		if err != nil {
			t.Fatal(err)
		}
		for layer := range 2 {
			for target := range Targets {
				p, g := peft.At(layer, target), file.At(layer, target)
				if p.A.Format() != g.A.Format() || !slices.Equal(values(p.A), values(g.A)) || !slices.Equal(values(p.B), values(g.B)) {
					t.Errorf("%s: layer %d, %s differs", name, layer, modules[target])
				}
			}
		}
		if peft.Scale != file.Scale || !slices.Equal(peft.Invocation, file.Invocation) || (name == "activated") != (len(file.Invocation) == 3) {
			t.Errorf("%s: scales %v and %v, invoked by %v and %v", name, peft.Scale, file.Scale, peft.Invocation, file.Invocation)
		}
		want, got := peft.Revision, file.Revision
		if got.Hash == want.Hash || got.Hash == "" {
			t.Errorf("%s: the file's identity is %q, the directory's %q", name, got.Hash, want.Hash)
		}
		want.Hash, want.Name = got.Hash, got.Name
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// small is a GGUF adapter for base() with the given tensors.
func small(meta func(*gguftest.Builder), names ...string) []byte {
	w := &gguftest.Builder{}
	w.String("general.type", "adapter").String("adapter.type", "lora").String("general.architecture", "llama").Float("adapter.lora.alpha", 6)
	if meta != nil {
		meta(w)
	}
	for _, n := range names {
		dims := []uint64{32, rank}
		if strings.HasSuffix(n, "_b") {
			dims = []uint64{rank, 32}
		}
		w.F32(n, dims, make([]float32, 32*rank))
	}
	return w.Bytes()
}

func TestGGUFRefusals(t *testing.T) {
	q := []string{"blk.0.attn_q.weight.lora_a", "blk.0.attn_q.weight.lora_b"}
	for name, c := range map[string]struct {
		file []byte
		code errs.Code
		says string
	}{
		"a model":        {(&gguftest.Builder{}).String("general.architecture", "llama").Bytes(), errs.Unsupported, "whole model"},
		"other kind":     {(&gguftest.Builder{}).String("general.type", "adapter").String("adapter.type", "ia3").Bytes(), errs.Unsupported, "ia3"},
		"no alpha":       {(&gguftest.Builder{}).String("general.type", "adapter").String("adapter.type", "lora").String("general.architecture", "llama").Bytes(), errs.FormatInvalid, "adapter.lora.alpha"},
		"no tensors":     {small(nil), errs.FormatInvalid, "rank"},
		"no partner":     {small(nil, q[0]), errs.FormatInvalid, "partner"},
		"strange module": {small(nil, append(slices.Clone(q), "token_embd.weight.lora_a")...), errs.Unsupported, "token_embd.weight.lora_a"},
		"known modules":  {small(nil, append(slices.Clone(q), "token_embd.weight.lora_a")...), errs.Unsupported, "ffn_down, output"},
		"a norm":         {small(nil, append(slices.Clone(q), "blk.0.attn_norm.weight")...), errs.Unsupported, "attn_norm"},
		"layer 7":        {small(nil, "blk.7.attn_q.weight.lora_a", "blk.7.attn_q.weight.lora_b"), errs.FormatInvalid, "layer"},
		"other base":     {small(func(w *gguftest.Builder) { w.String("general.architecture", "x") }, q...), errs.FormatInvalid, "twice"},
		"from tomorrow":  {small(func(w *gguftest.Builder) { w.Uint("adapter.lora.tomorrow", 1) }, q...), errs.Unsupported, "tomorrow"},
		"no invocation":  {small(func(w *gguftest.Builder) { w.Ints(invocationKey, nil) }, q...), errs.FormatInvalid, "invocation"},
		"strange token":  {small(func(w *gguftest.Builder) { w.Ints(invocationKey, []int32{-1}) }, q...), errs.FormatInvalid, "-1"},
		"unequal ranks":  {(&gguftest.Builder{}).String("general.type", "adapter").String("adapter.type", "lora").String("general.architecture", "llama").Float("adapter.lora.alpha", 6).F32(q[0], []uint64{32, 2}, make([]float32, 64)).F32(q[1], []uint64{4, 32}, make([]float32, 128)).Bytes(), errs.Unsupported, "rank"},
		"quantised":      {(&gguftest.Builder{}).String("general.type", "adapter").String("adapter.type", "lora").String("general.architecture", "llama").Float("adapter.lora.alpha", 6).Tensor(q[0], gguf.Q8_0, []uint64{32, 1}, make([]byte, 34)).Bytes(), errs.Unsupported, "Q8_0"},
	} {
		path := filepath.Join(t.TempDir(), "a.gguf")
		if err := os.WriteFile(path, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path, base()); errs.CodeOf(err) != c.code || !strings.Contains(err.Error()+errs.As(err).Next, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "a.gguf")
	if err := os.WriteFile(path, small(nil, q...), 0o600); err != nil {
		t.Fatal(err)
	}
	other := base()
	other.Arch = "gemma3"
	if _, err := Load(path, other); errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), "gemma3") {
		t.Errorf("another architecture: %v", err)
	}
	if a, err := Load(path, base()); err != nil || a.At(1, Q) != nil || a.At(0, Q) == nil || a.Scale != 3 {
		t.Errorf("one layer of one target: %+v, %v", a, err)
	}
}

func TestInvocationIsPartOfTheIdentity(t *testing.T) {
	seen := map[string]bool{}
	for _, tokens := range []any{nil, []int{1}, []int{1, 2}} {
		rev, err := Inspect(write(t, map[string]any{"alora_invocation_tokens": tokens}, parts(K, Down), nil))
		if err != nil {
			t.Fatal(err)
		}
		seen[string(rev.Hash)] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d identities, want 3", len(seen))
	}
	for name, tokens := range map[string]any{"none": []int{}, "a text": "go", "negative": []int{-2}, "beyond": []int{1 << 40}, "too many": make([]int, 1000)} {
		if _, err := Inspect(write(t, map[string]any{"alora_invocation_tokens": tokens}, parts(K, Down), nil)); errs.CodeOf(err) != errs.FormatInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	shape := base()
	shape.Vocab = 5
	if _, err := Load(write(t, map[string]any{"alora_invocation_tokens": []int{5}}, parts(K, Down), nil), shape); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("a token beyond the vocabulary: %v", err)
	}
}

// FuzzGGUF: whatever the file holds, reading gives an adapter or a coded error.
func FuzzGGUF(f *testing.F) {
	raw, err := os.ReadFile(filepath.Join("..", "testdata", "tiny", "activated.gguf"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(small(nil, "blk.0.attn_q.weight.lora_a", "blk.0.attn_q.weight.lora_b"))
	f.Add(binary.LittleEndian.AppendUint64([]byte("GGUF\x03\x00\x00\x00"), 1<<60))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := gguf.Parse(raw)
		if err == nil {
			var c *Content
			if c, err = readGGUF(file); err == nil {
				var a *Adapter
				if a, err = c.Adapter(tiny()); err == nil && (a.Revision.Hash == "" || a.Bytes() == 0) {
					t.Fatal("an adapter without identity or weights")
				}
			}
		}
		if err != nil && errs.CodeOf(err) == errs.Internal {
			t.Fatalf("an error without a code: %v", err)
		}
	})
}

// FuzzConfig: whatever adapter_config.json holds, it is understood or refused by code.
func FuzzConfig(f *testing.F) {
	for _, name := range []string{"a", "b", "activated"} {
		raw, err := os.ReadFile(filepath.Join("..", "testdata", "tiny", name, "adapter_config.json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"peft_type":"LORA","r":1,"lora_alpha":-3,"target_modules":["v_proj"],"layers_to_transform":[0,0],"alora_invocation_tokens":[1]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := parseConfig(raw)
		if err != nil && errs.CodeOf(err) == errs.Internal {
			t.Fatalf("an error without a code: %v", err)
		}
		if err == nil && (c.Rank < 1 || len(c.targets) == 0 || c.scale() == 0) {
			t.Fatalf("a configuration that computes nothing: %+v", c)
		}
	})
}

// TestOnBase: the file that llama.cpp's converter made of a PEFT directory is the same
// revision on its base, in the same bytes.
func TestOnBase(t *testing.T) {
	for _, name := range []string{"a", "activated"} {
		dir := filepath.Join("..", "testdata", "tiny", name)
		peft, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		file, err := Open(dir + ".gguf")
		if err != nil {
			t.Fatal(err)
		}
		made, err := file.OnBase(tiny())
		if err != nil {
			t.Fatal(err)
		}
		if made.Revision().Hash != peft.Revision().Hash {
			t.Errorf("%s: the revision is %s, not %s", name, made.Revision().Hash, peft.Revision().Hash)
		}
		configuration, weights, err := made.PEFT()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(configuration, weights); err != nil || again.Revision().Hash != peft.Revision().Hash {
			t.Errorf("%s: read again: %v", name, err)
		}
		wrong := tiny()
		wrong.Out[V] = 31
		if _, err := file.OnBase(wrong); errs.CodeOf(err) != errs.FormatInvalid {
			t.Errorf("%s: another base: %v", name, err)
		}
		for _, c := range []*Content{peft, file} {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
