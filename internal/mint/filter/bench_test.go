package filter

import (
	"flag"
	"runtime"
	"testing"

	"macaron/internal/trajectory"
)

var benchRows = flag.Int("rows", 20000, "turns of the benchmark")

// BenchmarkFilter makes a dataset of many different turns, and tells its speed and the heap
// that is in use before the dataset is written.
func BenchmarkFilter(b *testing.B) {
	for range b.N {
		f, err := New(Defaults(), nil, b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		for n := range *benchRows {
			t, err := trajectory.TrainingTurn(plain(n))
			if err != nil {
				b.Fatal(err)
			}
			if err := f.Turn(b.Context(), t); err != nil {
				b.Fatal(err)
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		if _, _, err := f.Close(""); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(m.HeapInuse)/1e6, "heap-MB")
		b.ReportMetric(float64(*benchRows)*float64(b.N)/b.Elapsed().Seconds(), "turns/s")
	}
}
