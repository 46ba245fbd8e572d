package encoder

import (
	"strings"
	"testing"

	"macaron/internal/testvectors"
)

// BenchmarkMiniLM reports tokens per second for short texts together, one short text,
// and one as long as the model takes.
func BenchmarkMiniLM(b *testing.B) {
	e := opened(b, testvectors.MiniLM.Path(b))
	const short = "The train to the coast leaves at a quarter to eight."
	var many []string
	for range 64 {
		many = append(many, short)
	}
	for name, list := range map[string][]string{"64-short": many, "1-short": {short}, "1-long": {strings.Repeat(short, 40)}} {
		b.Run(name, func(b *testing.B) {
			total := 0
			for b.Loop() {
				_, n, err := e.Embed(b.Context(), list)
				if err != nil {
					b.Fatal(err)
				}
				total += n
			}
			b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}
