package stream

import (
	"slices"
	"testing"
	"time"

	"macaron/internal/ui4a/compile"
)

// distribution runs do for one input after the other and reports, in microseconds, how
// long it takes: the median, the 90th and the 99th of a hundred, and the longest.
func distribution(b *testing.B, inputs []string, do func(string)) {
	var times []time.Duration
	size := 0
	for i := 0; b.Loop(); i++ {
		input := inputs[i%len(inputs)]
		size += len(input)
		began := time.Now()
		do(input)
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50-µs", 0.5}, {"p90-µs", 0.9}, {"p99-µs", 0.99}, {"max-µs", 1}} {
		b.ReportMetric(float64(times[int(q.at*float64(len(times)-1))].Nanoseconds())/1000, q.name)
	}
	b.ReportMetric(float64(size)/float64(len(times)), "bytes/card")
}

// BenchmarkCompile compiles whole cards, with all rules.
func BenchmarkCompile(b *testing.B) {
	distribution(b, corpus(b, 100), func(source string) { compile.Compile(source, compile.Options{}) })
}

// BenchmarkFrame closes and compiles a half-written card: what each piece of an answer costs.
func BenchmarkFrame(b *testing.B) {
	var halves []string
	for _, source := range corpus(b, 100) {
		for part := range 8 {
			half := source[:len(source)*(part+1)/9]
			if _, ok := Close(half); ok {
				halves = append(halves, half)
			}
		}
	}
	distribution(b, halves, func(half string) {
		var s Stream
		s.Write(half)
		s.Frame()
	})
}
