package lora

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/adapter"
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// base is a made-up base of 2 layers, with 2 query heads and 1 key head of 16 values.
func base() Shape {
	return Shape{Vocab: vocab, Layers: 2, HeadDim: 16, In: [Targets]int{32, 32, 32, 32, 32, 32, 64}, Out: [Targets]int{32, 16, 16, 32, 64, 64, 32}}
}

const rank, vocab = 2, 48

// tensor makes a matrix whose every value tells where it stands.
func tensor(name string, rows, cols int) safetensors.Tensor {
	values := make([]float32, rows*cols)
	for i := range values {
		values[i] = float32(i/cols) + float32(i%cols)/64
	}
	return safetensors.FromFloat32(name, []uint64{uint64(rows), uint64(cols)}, values)
}

// parts are the tensors of an adapter for some targets.
func parts(targets ...Target) []safetensors.Tensor {
	var out []safetensors.Tensor
	s := base()
	for _, t := range targets {
		for _, layer := range []string{"0", "1"} {
			name := "base_model.model.model.layers." + layer + "." + modules[t]
			out = append(out, tensor(name+".lora_A.weight", rank, s.In[t]), tensor(name+".lora_B.weight", s.Out[t], rank))
		}
	}
	return out
}

// write makes a directory; config overrides keys of a plain configuration.
func write(t testing.TB, config map[string]any, tensors []safetensors.Tensor, meta map[string]string) string {
	t.Helper()
	all := map[string]any{"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": rank, "lora_alpha": 6, "bias": "none", "target_modules": []string{"k_proj", "down_proj"}}
	for k, v := range config {
		all[k] = v
	}
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "adapter_config.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := safetensors.Write(filepath.Join(dir, "adapter_model.safetensors"), tensors, meta); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLoad(t *testing.T) {
	dir := write(t, nil, parts(K, Down), nil)
	a, err := Load(dir, base())
	if err != nil {
		t.Fatal(err)
	}
	rev, err := Inspect(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := adapter.Revision{Hash: rev.Hash, Rank: rank, Alpha: 6, Targets: []string{"down_proj", "k_proj"}, Params: 2 * (rank*(32+16) + rank*(64+32)), Bytes: 4 * 2 * (rank*(32+16) + rank*(64+32))}
	if diff := cmp.Diff(want, a.Revision) + cmp.Diff(want, rev); diff != "" {
		t.Error(diff)
	}
	if a.Scale != 3 || a.At(0, Q) != nil || a.At(1, Down) == nil || a.At(1, Down).A.Rows() != rank || a.Bytes() == 0 || a.Layers() != 2 || a.Rank() != rank {
		t.Errorf("%+v", a)
	}
}

// TestRowsOfKFollowTheFilesOrder: GGUF files put values i and i+8 of a head of 16 side
// by side.
func TestRowsOfKFollowTheFilesOrder(t *testing.T) {
	a, err := Load(write(t, nil, parts(K, Down), nil), base())
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float32, rank)
	for i, want := range []float32{0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15} {
		if a.At(0, K).B.Row(i, row); row[0] != want {
			t.Errorf("row %d of k is row %v of the file, want %v", i, row[0], want)
		}
		if a.At(0, Down).B.Row(i, row); row[0] != float32(i) {
			t.Errorf("row %d of down is row %v of the file", i, row[0])
		}
	}
}

func TestIdentityIsContent(t *testing.T) {
	hash := func(config map[string]any, change func([]safetensors.Tensor), meta map[string]string) ids.Digest {
		tensors := parts(K, Down)
		if change != nil {
			change(tensors)
		}
		rev, err := Inspect(write(t, config, tensors, meta))
		if err != nil {
			t.Fatal(err)
		}
		return rev.Hash
	}
	plain := hash(nil, nil, nil)
	for name, same := range map[string]ids.Digest{
		"file order":       hash(nil, slices.Reverse[[]safetensors.Tensor], nil),
		"training options": hash(map[string]any{"lora_dropout": 0.3, "inference_mode": true}, nil, nil),
		"other metadata":   hash(nil, nil, map[string]string{"format": "pt"}),
		"target spelling":  hash(map[string]any{"target_modules": []string{"mlp.down_proj", "self_attn.k_proj"}}, nil, nil),
	} {
		if same != plain {
			t.Errorf("%s changes the identity", name)
		}
	}
	seen := map[ids.Digest]string{plain: "the plain one"}
	for name, other := range map[string]ids.Digest{
		"alpha":  hash(map[string]any{"lora_alpha": 7}, nil, nil),
		"rslora": hash(map[string]any{"use_rslora": true}, nil, nil),
		"a bit":  hash(nil, func(all []safetensors.Tensor) { all[3].Data[0] ^= 1 }, nil),
		"base":   hash(nil, nil, map[string]string{"base": "sha256:" + strings.Repeat("ab", 32)}),
	} {
		if was, dup := seen[other]; dup {
			t.Errorf("%s gives the identity of %s", name, was)
		}
		seen[other] = name
	}
}

func TestHalvesAndBrainFloats(t *testing.T) {
	for _, c := range []struct {
		dtype  safetensors.DType
		bits   uint16
		format kernel.Format
	}{{safetensors.F16, 0x3e00, kernel.F16}, {safetensors.BF16, 0x3fc0, kernel.BF16}} {
		tensors := parts(K, Down)
		for i := range tensors {
			n := len(tensors[i].Data) / 4
			tensors[i].DType, tensors[i].Data = c.dtype, nil
			for range n {
				tensors[i].Data = append(tensors[i].Data, byte(c.bits), byte(c.bits>>8))
			}
		}
		a, err := Load(write(t, nil, tensors, nil), base())
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float32, 32)
		if a.At(1, K).A.Row(1, row); row[31] != 1.5 || a.At(1, K).A.Format() != c.format {
			t.Errorf("%s: %v, %s", c.dtype, row[31], a.At(1, K).A.Format())
		}
	}
}

func TestRankStabilisedScale(t *testing.T) {
	a, err := Load(write(t, map[string]any{"use_rslora": true}, parts(K, Down), nil), base())
	if err != nil {
		t.Fatal(err)
	}
	if want := float32(6 / math.Sqrt2); math.Abs(float64(a.Scale-want)) > 1e-6 {
		t.Errorf("scale %v, want %v", a.Scale, want)
	}
}

func TestSomeLayersOnly(t *testing.T) {
	var tensors []safetensors.Tensor
	for _, p := range parts(K, Down) {
		if strings.Contains(p.Name, ".layers.1.") {
			tensors = append(tensors, p)
		}
	}
	for _, layers := range []any{1, []int{1}} {
		a, err := Load(write(t, map[string]any{"layers_to_transform": layers, "layers_pattern": "layers"}, tensors, nil), base())
		if err != nil || a.At(0, K) != nil || a.At(1, K) == nil {
			t.Errorf("%v: %v", layers, err)
		}
	}
	if _, err := Load(write(t, nil, tensors, nil), base()); errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), "layers.0") {
		t.Errorf("a missing layer: %v", err)
	}
}

func TestRefusalsNameTheReason(t *testing.T) {
	good := func() []safetensors.Tensor { return parts(K, Down) }
	renamed := func(to string) []safetensors.Tensor {
		all := good()
		all[0].Name = to
		return all
	}
	for name, c := range map[string]struct {
		config  map[string]any
		tensors []safetensors.Tensor
		meta    map[string]string
		shape   func(*Shape)
		code    errs.Code
		says    string
	}{
		"dora":             {config: map[string]any{"use_dora": true}, code: errs.Unsupported, says: "use_dora"},
		"modules to save":  {config: map[string]any{"modules_to_save": []string{"lm_head"}}, code: errs.Unsupported, says: "modules_to_save"},
		"rank pattern":     {config: map[string]any{"rank_pattern": map[string]int{"q": 3}}, code: errs.Unsupported, says: "rank_pattern"},
		"from the future":  {config: map[string]any{"use_tomorrow": 1}, code: errs.Unsupported, says: "use_tomorrow"},
		"pissa":            {config: map[string]any{"init_lora_weights": "pissa"}, code: errs.Unsupported, says: "init_lora_weights"},
		"bias":             {config: map[string]any{"bias": "all"}, code: errs.Unsupported, says: "bias"},
		"other method":     {config: map[string]any{"peft_type": "IA3"}, code: errs.Unsupported, says: "IA3"},
		"other task":       {config: map[string]any{"task_type": "SEQ_CLS"}, code: errs.Unsupported, says: "SEQ_CLS"},
		"rank 0":           {config: map[string]any{"r": 0}, code: errs.FormatInvalid, says: "rank"},
		"rank differs":     {config: map[string]any{"r": 3}, code: errs.FormatInvalid, says: "rank is 3"},
		"alpha 0":          {config: map[string]any{"lora_alpha": 0}, code: errs.FormatInvalid, says: "lora_alpha"},
		"strange target":   {config: map[string]any{"target_modules": []string{"c_attn"}}, code: errs.Unsupported, says: "q_proj, k_proj"},
		"regexp target":    {config: map[string]any{"target_modules": ".*proj"}, code: errs.Unsupported, says: "target_modules"},
		"not targeted":     {config: map[string]any{"target_modules": []string{"k_proj"}}, code: errs.FormatInvalid, says: "does not target"},
		"strange tensor":   {tensors: renamed("base_model.model.score.lora_A.weight"), code: errs.Unsupported, says: "score"},
		"head, untold":     {tensors: append(good(), headParts()...), code: errs.FormatInvalid, says: "does not target"},
		"head, missing":    {config: map[string]any{"target_modules": []string{"k_proj", "down_proj", "lm_head"}}, code: errs.FormatInvalid, says: "lm_head"},
		"head, other base": {config: headTargets, tensors: append(good(), headParts()...), shape: func(s *Shape) { s.Vocab++ }, code: errs.FormatInvalid, says: "lm_head"},
		"head, other copy": {config: headTargets, tensors: append(append(good(), headParts()...), tensor(frozenHead, 49, 32)), code: errs.FormatInvalid, says: "[49 32]"},
		"copy, no head":    {tensors: append(good(), tensor(frozenHead, 48, 32)), code: errs.Unsupported, says: "base_layer"},
		"embedding":        {tensors: append(good(), tensor("base_model.model.model.embed_tokens.lora_embedding_A", 2, 2)), code: errs.Unsupported, says: "embed_tokens"},
		"twice":            {tensors: append(good(), tensor(strings.Replace(good()[0].Name, ".weight", ".default.weight", 1), rank, 32)), code: errs.FormatInvalid, says: "same matrix"},
		"no partner":       {tensors: good()[:len(good())-1], code: errs.FormatInvalid, says: "partner"},
		"nothing":          {tensors: []safetensors.Tensor{}, code: errs.FormatInvalid, says: "no tensors"},
		"too few layers":   {shape: func(s *Shape) { s.Layers = 1 }, code: errs.FormatInvalid, says: "does not have"},
		"other width":      {shape: func(s *Shape) { s.In[K] = 64 }, code: errs.FormatInvalid, says: "64"},
		"other base":       {meta: map[string]string{"base": "sha256:" + strings.Repeat("ab", 32)}, shape: func(s *Shape) { s.Base = ids.Digest("sha256:" + strings.Repeat("cd", 32)) }, code: errs.FormatInvalid, says: "made for"},
		"other name":       {config: map[string]any{"base_model_name_or_path": "org/Other-1B"}, shape: func(s *Shape) { s.Name = "mine" }, code: errs.FormatInvalid, says: "Other-1B"},
	} {
		if c.tensors == nil {
			c.tensors = good()
		}
		shape := base()
		if c.shape != nil {
			c.shape(&shape)
		}
		_, err := Load(write(t, c.config, c.tensors, c.meta), shape)
		if errs.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Inspect(t.TempDir()); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("an empty directory: %v", err)
	}
}

func TestNamesOfTheSameBase(t *testing.T) {
	for a, b := range map[string]string{"HuggingFaceTB/SmolLM2-135M-Instruct": "smollm2-135m-instruct", "models/x.Q4_1.gguf": "X", "y-q4_k_m": "y/", `C:\z.f16`: "z"} {
		if plainName(a) != plainName(b) {
			t.Errorf("%q is %q, %q is %q", a, plainName(a), b, plainName(b))
		}
	}
	if plainName("smollm2-135m") == plainName("smollm2-135m-instruct") {
		t.Error("two bases have one name")
	}
}

// FuzzLoad: whatever the two files hold, loading gives an adapter or a coded error.
func FuzzLoad(f *testing.F) {
	dir := write(f, nil, parts(K, Down), nil)
	config, err := os.ReadFile(filepath.Join(dir, "adapter_config.json"))
	if err != nil {
		f.Fatal(err)
	}
	weights, err := os.ReadFile(filepath.Join(dir, "adapter_model.safetensors"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(config, weights)
	f.Add([]byte(`{"peft_type":"LORA","r":1,"lora_alpha":1e308,"target_modules":"all-linear","layers_to_transform":0}`), weights[:40])
	f.Add([]byte(`{"r":1e99}`), []byte{})
	f.Fuzz(func(t *testing.T, config, weights []byte) {
		c, err := parseConfig(config)
		if err == nil {
			var file *safetensors.File
			if file, err = safetensors.Parse(weights); err == nil {
				var all *Content
				if all, err = collect(c, file.Tensors, baseOf(c, file)); err == nil {
					var a *Adapter
					if a, err = all.Adapter(base()); err == nil && (a.Revision.Hash == "" || a.Bytes() == 0) {
						t.Fatal("an adapter without identity or weights")
					}
				}
			}
		}
		if err != nil && errs.CodeOf(err) == errs.Internal {
			t.Fatalf("an error without a code: %v", err)
		}
	})
}
