package main

import (
	"time"
)

// cell is one kind of load.
type cell struct {
	Name    string
	Clients int // that each have one turn at a time
	Rate    int // turns a second, whether or not earlier ones have ended
	shape
}

var cells = []cell{
	{Name: "1", Clients: 1}, {Name: "16", Clients: 16}, {Name: "64", Clients: 64},
	{Name: "1s", Clients: 1, shape: shape{Stream: true}}, {Name: "16s", Clients: 16, shape: shape{Stream: true}}, {Name: "64s", Clients: 64, shape: shape{Stream: true}},
	{Name: "1L", Clients: 1, shape: shape{Long: true}}, {Name: "16L", Clients: 16, shape: shape{Long: true}}, {Name: "64L", Clients: 64, shape: shape{Long: true}},
	{Name: "16sL", Clients: 16, shape: shape{Stream: true, Long: true}},
	{Name: "500/s", Rate: 500}, {Name: "500/s s", Rate: 500, shape: shape{Stream: true}},
}

// measurement is one cell of one subject in one round; times in milliseconds.
type measurement struct {
	Subject    string  `json:"subject"`
	Cell       string  `json:"cell"`
	Durability string  `json:"durability"`
	Turns      int     `json:"turns"`
	Speed      float64 `json:"turns_per_s"`
	CPU        float64 `json:"cpu_ms_per_turn"` // of the proxy's process, its background work included
	P50        float64 `json:"p50_ms"`
	P99        float64 `json:"p99_ms"`
	RSS        float64 `json:"rss_mb"`
	Behind     float64 `json:"behind_s"` // background work went on for so long after the load
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// measure loads a subject. Its CPU counts until the work of all turns is done.
func (b *bench) measure(s *subject, c cell, window time.Duration) (m measurement, err error) {
	before, err := s.cpu()
	if err != nil {
		return m, err
	}
	var o *outcome
	if c.Rate > 0 {
		o = s.client.open(c.Rate, c.shape, window)
	} else {
		o = s.client.closed(c.Clients, c.shape, window)
	}
	if o.failed != nil {
		return m, o.failed
	}
	ended := time.Now()
	if err := s.drained(); err != nil {
		return m, err
	}
	behind := time.Since(ended)
	after, err := s.cpu()
	if err != nil {
		return m, err
	}
	rss, err := s.rss()
	n := len(o.latencies)
	return measurement{
		Subject: s.Name, Cell: c.Name, Durability: b.durability, Turns: n, Speed: float64(n) / o.took.Seconds(), CPU: ms(after-before) / float64(n),
		P50: ms(o.quantile(.5)), P99: ms(o.quantile(.99)), RSS: rss, Behind: behind.Seconds(),
	}, err
}
