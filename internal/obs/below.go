package obs

import "github.com/prometheus/client_golang/prometheus"

// Engine shows the embedded engine; state is read at each scrape.
func (m *Metrics) Engine(state func() EngineState) { m.registry.MustRegister(&engineCollector{state}) }

// Upstream is an engine below, as it is at a scrape.
type Upstream struct {
	Name    string // in the settings
	Well    bool
	Breaker string // closed, open or half-open
}

// Upstreams shows the engines below; state is read at each scrape.
func (m *Metrics) Upstreams(state func() []Upstream) {
	m.registry.MustRegister(upstreamCollector(state))
}

var (
	upstreamWell    = prometheus.NewDesc("macaron_upstream_well", "1 if the last look found the engine well.", []string{"engine"}, nil)
	upstreamBreaker = prometheus.NewDesc("macaron_upstream_breaker", "1 for the state of the engine's breaker, 0 for the others.", []string{"engine", "state"}, nil)
)

// upstreamCollector reads the engines below at each scrape.
type upstreamCollector func() []Upstream

// Describe implements prometheus.Collector.
func (c upstreamCollector) Describe(out chan<- *prometheus.Desc) {
	out <- upstreamWell
	out <- upstreamBreaker
}

// Collect implements prometheus.Collector.
func (c upstreamCollector) Collect(out chan<- prometheus.Metric) {
	for _, u := range c() {
		out <- prometheus.MustNewConstMetric(upstreamWell, prometheus.GaugeValue, truth(u.Well), u.Name)
		for _, state := range []string{"closed", "half-open", "open"} {
			out <- prometheus.MustNewConstMetric(upstreamBreaker, prometheus.GaugeValue, truth(state == u.Breaker), u.Name, state)
		}
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
