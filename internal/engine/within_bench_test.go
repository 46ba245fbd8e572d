package engine

import (
	"slices"
	"testing"
	"time"

	"macaron/internal/engine/grammar"
	"macaron/internal/engine/sample"
	"macaron/internal/testmodel"
)

// BenchmarkMasksOfAnswers measures the masks along answers of the default model: the
// first answer through each grammar, which finds everything, and the second.
func BenchmarkMasksOfAnswers(b *testing.B) {
	e := open(b, testmodel.Path(b), func(o *Options) { o.KVBytes = 64 << 20 })
	v := constraints(b, e)
	var cold, warm []time.Duration
	for range b.N {
		for i, schema := range []string{
			`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},"email":{"type":"string","format":"email"}},"required":["name","age","email"],"additionalProperties":false}`,
			`{"type":"object","properties":{"steps":{"type":"array","items":{"type":"object","properties":{"explanation":{"type":"string"},"output":{"type":"string"}},"required":["explanation","output"],"additionalProperties":false},"maxItems":4},"answer":{"type":"string"}},"required":["steps","answer"],"additionalProperties":false}`,
			`{"type":"object"}`,
		} {
			g, err := v.JSONSchema([]byte(schema), grammar.SchemaOptions{})
			if err != nil {
				b.Fatal(err)
			}
			out := generate(b, e, Request{Prompt: e.Tokenizer().Encode("Describe a person in detail, as JSON:\n", false), Grammar: g, MaxTokens: 150,
				Sampling: sample.Params{Temperature: 0.8, Seed: uint64(i)}})
			fresh, err := v.JSONSchema([]byte(schema), grammar.SchemaOptions{})
			if err != nil {
				b.Fatal(err)
			}
			cold, warm = replay(b, fresh, out, cold), replay(b, g, out, warm)
		}
	}
	for what, d := range map[string][]time.Duration{"cold": cold, "warm": warm} {
		slices.Sort(d)
		sum := time.Duration(0)
		for _, x := range d {
			sum += x
		}
		b.ReportMetric(float64(sum.Nanoseconds())/1000/float64(len(d)), what+"-us")
		b.ReportMetric(float64(d[len(d)*99/100].Nanoseconds())/1000, what+"-p99-us")
		b.ReportMetric(float64(len(d)), what+"-n")
	}
}

func replay(b *testing.B, g *grammar.Grammar, tokens []Token, times []time.Duration) []time.Duration {
	m, mask := g.Start(), make([]uint64, g.Vocab().Words())
	for _, t := range tokens {
		start := time.Now()
		if err := m.Mask(mask); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
		if err := m.Accept(t.ID); err != nil {
			b.Fatal(err)
		}
	}
	return times
}
