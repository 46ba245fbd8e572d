package repl

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// median reports the middle and the ninth tenth of what was measured, in milliseconds.
func median(b *testing.B, list []time.Duration) {
	slices.Sort(list)
	b.ReportMetric(float64(list[len(list)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(list[len(list)*9/10].Microseconds())/1000, "p90-ms")
	b.ReportMetric(0, "ns/op")
}

func benchPool(b *testing.B, size int) *Pool {
	p, err := Open(b.Context(), Options{Root: filepath.Join(b.TempDir(), "work"), PoolSize: size})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = p.Close() })
	return p
}

func benchSession(b *testing.B, p *Pool) *Session {
	s, err := p.Session(b.Context(), SessionOptions{Stubs: []Stub{{Name: "echo", Params: []string{"x"}}},
		Call: func(_ context.Context, _, _ string, args json.RawMessage) (json.RawMessage, error) { return args, nil }})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func benchRun(b *testing.B, s *Session, code string) {
	if out, err := s.Run(b.Context(), Cell{Code: code}); err != nil || out.Status != OK {
		b.Fatal(out, err)
	}
}

// BenchmarkCell is a cell's way there and back, in a namespace that lives.
func BenchmarkCell(b *testing.B) {
	for _, c := range []struct{ name, code string }{{"echo", "1 + 1"}, {"print", "print('hello')"}, {"tool", "echo(x=1)"}, {"tool48", "for i in range(48): echo(x=i)"}} {
		b.Run(c.name, func(b *testing.B) {
			s := benchSession(b, benchPool(b, 0))
			var list []time.Duration
			for b.Loop() {
				began := time.Now()
				benchRun(b, s, c.code)
				list = append(list, time.Since(began))
			}
			median(b, list)
		})
	}
}

// BenchmarkStart is a session from nothing to its first value.
func BenchmarkStart(b *testing.B) {
	for _, c := range []struct {
		name string
		warm int
	}{{"cold", 0}, {"pool", 4}} {
		b.Run(c.name, func(b *testing.B) {
			p := benchPool(b, c.warm)
			var list []time.Duration
			for b.Loop() {
				for p.Warm() < c.warm {
					time.Sleep(time.Millisecond)
				}
				began := time.Now()
				s := benchSession(b, p)
				list = append(list, time.Since(began))
				benchRun(b, s, "1 + 1")
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			median(b, list)
		})
	}
}

// BenchmarkSessions holds so many sessions at once, each with a value, and adds up the
// memory of all their processes; run it with -benchtime 1x.
func BenchmarkSessions(b *testing.B) {
	const n = 200
	p := benchPool(b, 0)
	for b.Loop() {
		var pss, rss, processes int64
		var list []*Session
		for range n {
			s := benchSession(b, p)
			benchRun(b, s, "data = list(range(1000))")
			list = append(list, s)
		}
		for _, s := range list {
			for _, pid := range family(s.engine.(*sandboxed).process) {
				processes++
				pss += rollup(pid, "Pss:")
				rss += rollup(pid, "Rss:")
			}
		}
		b.ReportMetric(float64(pss)/1024, "PSS-MB")
		b.ReportMetric(float64(rss)/1024, "RSS-MB")
		b.ReportMetric(float64(processes), "processes")
		for _, s := range list {
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// rollup reads a sum of the kernel over all mappings, in kilobytes.
func rollup(pid int, field string) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)) // gone: nothing
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); len(f) > 1 && f[0] == field {
			n, _ := strconv.ParseInt(f[1], 10, 64) // a number, as the kernel says
			return n
		}
	}
	return 0
}
