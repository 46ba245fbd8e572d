package model

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/errs"
)

func load(path string) (*Model, error) {
	s, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return Load(s, 1, nil)
}

// TestUnknownThingsAreRefused: what the reference would compute otherwise is refused by
// name, and never ignored.
func TestUnknownThingsAreRefused(t *testing.T) {
	type m = map[string]any
	for _, c := range []struct {
		base   string
		fields m
		code   errs.Code
		says   string
	}{
		{"llama", m{"model_type": "mamba"}, errs.Unsupported, "gemma3_text, llama, mistral, qwen2, qwen3"},
		{"llama", m{"model_type": nil}, errs.FormatInvalid, "model_type"},
		{"llama", m{"hidden_act": "relu"}, errs.Unsupported, "relu"},
		{"llama", m{"mlp_bias": true}, errs.Unsupported, "mlp_bias"},
		{"llama", m{"quantization_config": m{"bits": 4}}, errs.Unsupported, "quantization_config"},
		{"llama", m{"rope_parameters": m{"rope_type": "yarn", "factor": 4, "rope_theta": 10000}}, errs.Unsupported, "yarn"},
		{"llama", m{"rope_parameters": nil, "rope_scaling": m{"type": "dynamic", "factor": 4}}, errs.Unsupported, "dynamic"},
		{"llama", m{"rope_parameters": m{"rope_type": "default", "rope_theta": 10000, "partial_rotary_factor": 0.5}}, errs.Unsupported, "partial_rotary_factor"},
		{"llama", m{"rope_parameters": m{"rope_type": "linear", "rope_theta": 10000}}, errs.FormatInvalid, "factor"},
		{"llama", m{"rope_parameters": m{"rope_type": "linear", "factor": -1, "rope_theta": 10000}}, errs.FormatInvalid, "makes no sense"},
		{"llama", m{"rms_norm_eps": nil}, errs.FormatInvalid, "makes no sense"},
		{"llama", m{"num_hidden_layers": 0}, errs.FormatInvalid, "num_hidden_layers"},
		{"llama", m{"num_hidden_layers": 1 << 40}, errs.FormatInvalid, "num_hidden_layers"},
		{"llama", m{"num_hidden_layers": 3}, errs.FormatInvalid, "model.layers.2"},
		{"llama", m{"num_hidden_layers": 1}, errs.Unsupported, "model.layers.1"}, // the rest of the tensors
		{"llama", m{"head_dim": 8}, errs.Unsupported, "multiple of 16"},
		{"llama", m{"head_dim": 32}, errs.FormatInvalid, "shape"},
		{"llama", m{"hidden_size": "x"}, errs.FormatInvalid, "hidden_size"},
		{"qwen2", m{"model_type": "llama"}, errs.Unsupported, "bias"},
		{"qwen2", m{"use_sliding_window": true, "sliding_window": 8, "layer_types": []string{"full_attention", "chunked_attention"}}, errs.Unsupported, "chunked_attention"},
		{"qwen2", m{"use_sliding_window": true, "sliding_window": 8, "layer_types": []string{"full_attention"}}, errs.FormatInvalid, "layer_types"},
		{"qwen2-window", m{"layer_types": nil, "max_window_layers": nil}, errs.FormatInvalid, "max_window_layers"},
		{"gemma3", m{"final_logit_softcapping": 30.0}, errs.Unsupported, "softcapping"},
		{"gemma3", m{"attn_logit_softcapping": 50.0}, errs.Unsupported, "softcapping"},
		{"gemma3", m{"use_bidirectional_attention": true}, errs.Unsupported, "bidirectional"},
		{"gemma3", m{"hidden_activation": "gelu"}, errs.Unsupported, "gelu"},
		{"gemma3", m{"query_pre_attn_scalar": nil}, errs.FormatInvalid, "query_pre_attn_scalar"},
		{"gemma3", m{"sliding_window": nil}, errs.FormatInvalid, "sliding_window"},
	} {
		_, err := load(changed(t, archPath(c.base), c.fields))
		if errs.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s with %v: %v, want %s about %q", c.base, c.fields, err, c.code, c.says)
		}
	}
}

// TestOlderConfigurations: fields as older versions of the library wrote them mean the same.
func TestOlderConfigurations(t *testing.T) {
	type m = map[string]any
	for name, fields := range map[string]m{
		"llama": {"rope_parameters": nil, "rope_theta": 10000.0, "head_dim": nil, "num_key_value_heads": 1, "torch_dtype": "float16"},
		"llama3": {"rope_parameters": nil, "rope_theta": 20000.0, "rope_scaling": m{"type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
			"original_max_position_embeddings": 32}},
		"qwen2-window": {"layer_types": nil, "max_window_layers": 1},
		"gemma3":       {"rope_parameters": nil, "rope_theta": 50000.0, "rope_local_base_freq": 10000.0, "rope_scaling": m{"rope_type": "linear", "factor": 8.0}},
	} {
		g := readGolden(t, archPath(name))
		model := open(t, changed(t, archPath(name), fields))
		if d := g.compare(allLogits(newStep(t, model, kernel.Float32, 2, 4), g.tokens, nil), model.V); d > 2e-5 {
			t.Errorf("%s: relative L2 distance %.2e", name, d)
		}
	}
}

// FuzzDirectory changes config.json: loading gives a model that computes a step, or a
// coded error.
func FuzzDirectory(f *testing.F) {
	for name := range archs {
		raw, err := os.ReadFile(filepath.Join(archPath(name), "config.json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, raw)
	}
	f.Fuzz(func(t *testing.T, name string, config []byte) {
		if _, ok := archs[name]; !ok {
			return
		}
		dir := changed(t, archPath(name), nil)
		if err := os.WriteFile(filepath.Join(dir, "config.json"), config, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := load(dir)
		if err != nil {
			if errs.CodeOf(err) == errs.Internal {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		p := kernel.NewPool(1)
		defer p.Close()
		s := m.NewStep(p, m.NewArena(1, kernel.Int8))
		s.Logits(make([]float32, m.V), s.Forward([]Run{{Tokens: []int32{0, int32(m.V - 1)}, Pages: []int32{0}, Want: 1}}), nil)
	})
}
