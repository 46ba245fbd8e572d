package encoder

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"macaron/internal/engine/weights/safetensors"
	"macaron/internal/errs"
	"macaron/internal/testvectors"
)

func texts(t testing.TB) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/texts.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 {
		t.Fatal(err)
	}
	return list
}

// golden reads vectors, and how many tokens each text has if the file says it.
func golden(t testing.TB, path string, width int) (vectors [][]float32, counts []int) {
	t.Helper()
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := f.Tensor("vectors")
	if err != nil {
		t.Fatal(err)
	}
	all, err := v.Float32()
	if err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(all, width) {
		vectors = append(vectors, part)
	}
	if c, err := f.Tensor("counts"); err == nil {
		for part := range slices.Chunk(c.Data, 4) {
			counts = append(counts, int(binary.LittleEndian.Uint32(part)))
		}
	}
	return vectors, counts
}

func opened(t testing.TB, dir string) *Encoder {
	t.Helper()
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// near compares embeddings by their relative L2 distance.
func near(t *testing.T, e *Encoder, want [][]float32) {
	t.Helper()
	list := texts(t)
	got, _, err := e.Embed(t.Context(), list)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d embeddings, %v", len(got), err)
	}
	for i := range want {
		var diff, norm float64
		for j, w := range want[i] {
			d := float64(got[i][j]) - float64(w)
			diff, norm = diff+d*d, norm+float64(w)*float64(w)
		}
		if d := math.Sqrt(diff / norm); !(d < 1e-5) {
			t.Errorf("text %d (%.30q): relative distance %.2e", i, list[i], d)
		}
	}
}

func TestMiniLMEqualsTransformers(t *testing.T) {
	e := opened(t, testvectors.MiniLM.Path(t))
	want, counts := golden(t, "testdata/minilm.safetensors", e.Width())
	near(t, e, want)
	for i, text := range texts(t) {
		if n := len(e.Tokens(text)); n != counts[i] {
			t.Errorf("text %d has %d tokens, want %d", i, n, counts[i])
		}
	}
	if e.Width() != 384 || e.MaxTokens() != 256 {
		t.Errorf("width %d, at most %d tokens", e.Width(), e.MaxTokens())
	}
}

func TestTinyEqualsTransformers(t *testing.T) {
	e := opened(t, "testdata/tiny")
	want, _ := golden(t, "testdata/tiny/golden.safetensors", e.Width())
	near(t, e, want)
}

// TestEmbeddingsDoNotDependOnTheirBatch: alone, together and in another order the bits
// are the same.
func TestEmbeddingsDoNotDependOnTheirBatch(t *testing.T) {
	e := opened(t, "testdata/tiny")
	list := texts(t)
	together, tokens, err := e.Embed(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for i, text := range list {
		alone, n, err := e.Embed(t.Context(), []string{text})
		if err != nil || !slices.Equal(alone[0], together[i]) {
			t.Errorf("text %d alone is not the same (%v)", i, err)
		}
		sum += n
	}
	if sum != tokens || tokens < len(list)*2 {
		t.Errorf("%d tokens together, %d alone", tokens, sum)
	}
	slices.Reverse(list)
	backwards, _, err := e.Embed(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(backwards)
	for i := range together {
		if !slices.Equal(backwards[i], together[i]) {
			t.Errorf("text %d is not the same in another order", i)
		}
	}
}

func TestTokensThatCannotBeEmbedded(t *testing.T) {
	e := opened(t, "testdata/tiny")
	for _, list := range [][]int32{{}, make([]int32, 41), {-1}, {int32(e.words.rows)}} {
		if _, err := e.EmbedTokens(t.Context(), [][]int32{list}); errs.CodeOf(err) != errs.ContextExceeded && errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%d tokens: %v", len(list), err)
		}
	}
}

// changed copies the tiny model with another text in place of one in a file.
func changed(t testing.TB, file, from, to string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/tiny")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, file)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(raw), from) {
		t.Fatalf("%s does not hold %q", file, from)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(raw), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestUnknownThingsAreRefused(t *testing.T) {
	const pooling = "1_Pooling/config.json"
	for _, c := range []struct {
		file, from, to string
		code           errs.Code
		says           string
	}{
		{"config.json", `"model_type": "bert"`, `"model_type": "roberta"`, errs.Unsupported, "bert"},
		{"config.json", `"hidden_act": "gelu"`, `"hidden_act": "gelu_new"`, errs.Unsupported, "gelu_new"},
		{"config.json", `"num_attention_heads": 2`, `"num_attention_heads": 4`, errs.Unsupported, "multiple of 16"},
		{"config.json", `"num_hidden_layers": 2`, `"num_hidden_layers": 1`, errs.Unsupported, "encoder.layer.1"},
		{"config.json", `"num_hidden_layers": 2`, `"num_hidden_layers": 3`, errs.FormatInvalid, "encoder.layer.2"},
		{"config.json", `"hidden_size": 32`, `"hidden_size": 64`, errs.FormatInvalid, "shape"},
		{"config.json", `"max_position_embeddings": 40`, `"max_position_embeddings": 41`, errs.FormatInvalid, "positions"},
		{"modules.json", "models.Pooling", "models.Dense", errs.Unsupported, "Dense"},
		{"modules.json", "1_Pooling", "../1_Pooling", errs.FormatInvalid, "beside"},
		{"modules.json", "[", "", errs.FormatInvalid, "modules.json"},
		{pooling, `"pooling_mode_mean_tokens": false`, `"pooling_mode_mean_tokens": true`, errs.Unsupported, "exactly one"},
		{pooling, `"pooling_mode_mean_tokens": false`, `"pooling_mode_max_tokens": true`, errs.Unsupported, "max_tokens"},
	} {
		e, err := Open(changed(t, c.file, c.from, c.to))
		if errs.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s about %q", c.to, err, c.code, c.says)
		}
		if err == nil {
			e.Close()
		}
	}
}

// FuzzOpen changes the small files: an encoder that embeds, or a coded error.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"config.json", "modules.json", "1_Pooling/config.json"} {
		raw, err := os.ReadFile(filepath.Join("testdata/tiny", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, raw)
	}
	f.Fuzz(func(t *testing.T, name string, raw []byte) {
		if !slices.Contains([]string{"config.json", "modules.json", "1_Pooling/config.json"}, name) {
			return
		}
		dir := changed(t, name, "", "")
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := Open(dir)
		if err != nil {
			if errs.CodeOf(err) == errs.Internal {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		defer e.Close()
		if _, _, err := e.Embed(t.Context(), []string{"the food"}); err != nil {
			t.Fatal(err)
		}
	})
}
