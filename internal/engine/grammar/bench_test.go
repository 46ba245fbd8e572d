package grammar

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// BenchmarkMask measures the time of a mask on random walks through the schemas of the
// corpus, grammars new for each schema: mean, median, 99th percentile and longest.
func BenchmarkMask(b *testing.B) {
	for _, x := range []struct {
		name string
		v    *Vocab
	}{{"49k", defaultVocab(b)}, {"262k", largeVocab(b)}} {
		b.Run(x.name, func(b *testing.B) {
			for range b.N {
				measureMasks(b, x.v)
			}
		})
	}
}

func measureMasks(b *testing.B, v *Vocab) {
	r := rand.New(rand.NewPCG(1, 2))
	bits := make([]uint64, v.Words())
	var masks, compiles []time.Duration
	for _, x := range examples(b) {
		start := time.Now()
		g, err := v.JSONSchema([]byte(x.schema), SchemaOptions{})
		compiles = append(compiles, time.Since(start))
		if err != nil {
			continue
		}
		for range 4 {
			m := g.Start()
			for range 40 {
				start := time.Now()
				if err := m.Mask(bits); err != nil {
					b.Fatal(err)
				}
				masks = append(masks, time.Since(start))
				id, ok := draw(bits, r)
				if !ok || m.Accept(id) != nil || m.Done() {
					break
				}
			}
		}
	}
	report(b, "mask", masks)
	report(b, "compile", compiles)
}

func report(b *testing.B, what string, d []time.Duration) {
	slices.Sort(d)
	sum := time.Duration(0)
	for _, x := range d {
		sum += x
	}
	us := func(x time.Duration) float64 { return float64(x.Nanoseconds()) / 1000 }
	b.ReportMetric(us(sum)/float64(len(d)), what+"-us")
	b.ReportMetric(us(d[len(d)/2]), what+"-p50-us")
	b.ReportMetric(us(d[len(d)*99/100]), what+"-p99-us")
	b.ReportMetric(us(d[len(d)-1]), what+"-max-us")
}

func BenchmarkVocab(b *testing.B) {
	for _, x := range []struct {
		name string
		v    *Vocab
	}{{"49k", defaultVocab(b)}, {"262k", largeVocab(b)}} {
		b.Run(x.name, func(b *testing.B) {
			for range b.N {
				vocabOf(b, x.v.tok)
			}
		})
	}
}
