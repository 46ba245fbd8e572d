package model

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/kernel"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/weights/gguf"
	"macaron/internal/errs"
)

// tiny is the tiny model with two adapters.
func tiny(t *testing.T) (*Model, []*lora.Adapter) {
	t.Helper()
	f, err := gguf.Parse(enginetest.ModelBytes(1))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(&GGUF{f}, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	adapters := []*lora.Adapter{nil}
	for seed := range uint64(2) {
		a, err := lora.Load(enginetest.Adapter(t, seed), m.Shape(""))
		if err != nil {
			t.Fatal(err)
		}
		adapters = append(adapters, a)
	}
	return m, adapters
}

// TestStepDoesNotAllocate once its buffers have grown.
func TestStepDoesNotAllocate(t *testing.T) {
	m, adapters := tiny(t)
	s := newStep(t, m, kernel.Int8, 1, 4)
	runs := []Run{{Tokens: []int32{5}, Pos: 3, Pages: []int32{0}, Want: 1}, {Tokens: []int32{6, 7}, Pos: 3, Pages: []int32{1}, Want: 1, Mix: lora.Only(adapters[1])}}
	s.Forward(runs)
	if n := testing.AllocsPerRun(20, func() { s.Forward(runs) }); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
}

// TestRowsDoNotDependOnTheirCompany: a sequence alone and whole, in chunks of any
// length, and beside others with other adapters, on one thread or three, in both modes,
// gives the same bits.
func TestRowsDoNotDependOnTheirCompany(t *testing.T) {
	m, adapters := tiny(t)
	r := rand.New(rand.NewPCG(3, 9))
	tokens := make([]int32, 150)
	for i := range tokens {
		tokens[i] = r.Int32N(enginetest.Vocab)
	}
	for _, mode := range []kernel.Mode{kernel.Int8, kernel.Float32} {
		for i, a := range adapters {
			whole := slices.Clone(newStep(t, m, mode, 1, 3).Forward([]Run{{Tokens: tokens, Pages: []int32{0, 1, 2}, Mix: lora.Only(a), Want: len(tokens)}}))
			s := newStep(t, m, mode, 3, 12)
			for pos := 0; pos < len(tokens); {
				n := min(1+r.IntN(40), len(tokens)-pos)
				other := Run{Tokens: tokens[pos : pos+n], Pos: pos, Pages: []int32{3, 4, 5}, Mix: lora.Only(adapters[(i+1)%3]), Want: 1}
				mine := Run{Tokens: tokens[pos : pos+n], Pos: pos, Pages: []int32{0, 1, 2}, Mix: lora.Only(a), Want: n}
				third := Run{Tokens: tokens[:1], Pages: []int32{6}}
				got := s.Forward([]Run{third, other, mine})[m.D:]
				if !slices.Equal(got, whole[pos*m.D:(pos+n)*m.D]) {
					t.Fatalf("%s, adapter %d: rows %d to %d differ", mode, i, pos, pos+n)
				}
				pos += n
			}
		}
	}
}

func TestSomeRowsOfTheHead(t *testing.T) {
	m, _ := tiny(t)
	s := newStep(t, m, kernel.Int8, 2, 1)
	all := allLogits(s, []int32{9, 8, 7}, nil)
	pick := []int32{250, 3, 77}
	got := make([]float32, 3*len(pick))
	s.LogitsOf(got, s.Forward([]Run{{Tokens: []int32{9, 8, 7}, Pages: []int32{0}, Want: 3}}), pick, nil)
	for i, v := range got {
		if v != all[i/3*m.V+int(pick[i%3])] {
			t.Errorf("row %d, token %d: %v", i/3, pick[i%3], v)
		}
	}
}

func TestCopiedPagesServe(t *testing.T) {
	m, _ := tiny(t)
	for _, mode := range []kernel.Mode{kernel.Int8, kernel.Float32} {
		s := newStep(t, m, mode, 1, 2)
		s.Forward([]Run{{Tokens: []int32{1, 2, 3}, Pages: []int32{0}}})
		s.arena.Copy(0, 1)
		s.Forward([]Run{{Tokens: []int32{50, 60}, Pos: 1, Pages: []int32{0}}}) // overwrites the original
		got := slices.Clone(s.Forward([]Run{{Tokens: []int32{4}, Pos: 3, Pages: []int32{1}, Want: 1}}))
		want := newStep(t, m, mode, 1, 1).Forward([]Run{{Tokens: []int32{1, 2, 3, 4}, Pages: []int32{0}, Want: 1}})
		if !slices.Equal(got, want) {
			t.Errorf("%s: a copied prefix gives other bits", mode)
		}
	}
}

func TestSizes(t *testing.T) {
	m, _ := tiny(t)
	perLayer := 64*64*2 + 32*64*2 + 96*64*3 + 2*64
	if want := int64(enginetest.Vocab*64 + 2*perLayer + 64); m.Params() != want || m.Bytes() < want/2 {
		t.Errorf("%d parameters, want %d; %d bytes", m.Params(), want, m.Bytes())
	}
	if m.PageBytes(kernel.Float32) != 2*m.PageBytes(kernel.Int8) {
		t.Error("page bytes")
	}
}

// TestUnknownArchitectureIsRefusedByName and other files that would be computed wrongly.
func TestRefusals(t *testing.T) {
	raw := enginetest.ModelBytes(1)
	for name, c := range map[string]struct {
		from, to string
		code     errs.Code
	}{
		"architecture": {"\x05\x00\x00\x00\x00\x00\x00\x00llama", "\x05\x00\x00\x00\x00\x00\x00\x00qwen9", errs.Unsupported},
		"missing part": {"blk.1.ffn_up.weight", "blk.1.ffn_oops.weig", errs.FormatInvalid},
		"missing key":  {"llama.block_count", "llama.block_c0unt", errs.FormatInvalid},
		"heads":        {"llama.attention.head_count_kv\x04\x00\x00\x00\x02", "llama.attention.head_count_kv\x04\x00\x00\x00\x03", errs.FormatInvalid},
		"width":        {"llama.feed_forward_length\x04\x00\x00\x00\x60", "llama.feed_forward_length\x04\x00\x00\x00\x40", errs.FormatInvalid},
	} {
		changed := []byte(replaceOnce(string(raw), c.from, c.to))
		if slices.Equal(changed, raw) {
			t.Fatalf("%s: nothing changed", name)
		}
		f, err := gguf.Parse(changed)
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := Load(&GGUF{f}, 1, nil); errs.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		} else if name == "architecture" && !containsAll(err.Error(), "qwen9", "llama") {
			t.Errorf("the refusal names neither: %v", err)
		}
	}
}

func replaceOnce(s, from, to string) string { return strings.Replace(s, from, to, 1) }

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
