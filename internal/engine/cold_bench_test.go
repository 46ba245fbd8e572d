package engine

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"macaron/internal/engine/lora"
	"macaron/internal/testmodel"
)

// BenchmarkColdAdapter is the time from asking for an adapter of rank 16 on all linear
// layers of the default model, whose PEFT directory is read, to the first token of the answer
// to a prompt of 32 tokens. load-ms is the part until the adapter is in memory.
func BenchmarkColdAdapter(b *testing.B) {
	e := open(b, testmodel.Path(b), nil)
	shape, r := e.model.Shape(""), rand.New(rand.NewPCG(1, 1))
	fill := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(r.NormFloat64() * 0.03)
		}
		return out
	}
	var values []lora.Values
	for layer := range shape.Layers {
		for t := range lora.Targets {
			in, out := shape.Dims(t)
			values = append(values, lora.Values{Layer: layer, Target: t, A: fill(16 * in), B: fill(out * 16)})
		}
	}
	c, err := lora.Make(shape, lora.Plan{Rank: 16, Alpha: 32}, values)
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), "a")
	if err := c.WritePEFT(dir); err != nil {
		b.Fatal(err)
	}
	load := time.Duration(0)
	for b.Loop() {
		start := time.Now()
		h := e.Adapters().Expect(c.Revision(), func() (string, error) { return dir, nil })
		adapters, release, err := e.Adapters().Acquire(context.Background(), h)
		if err != nil {
			b.Fatal(err)
		}
		load += time.Since(start)
		prompt := make([]int32, 32)
		for i := range prompt {
			prompt[i] = r.Int32N(int32(shape.Vocab))
		}
		generate(b, e, Request{Prompt: prompt, Adapter: adapters[0], Release: release, MaxTokens: 1, IgnoreEOS: true})
		h.Unload()
	}
	b.ReportMetric(float64(load.Milliseconds())/float64(b.N), "load-ms")
}
