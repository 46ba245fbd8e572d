package obs

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// EngineState is what a server of the engine shows when its metrics are read.
type EngineState struct {
	Running, Waiting        int
	KVUsage                 float64 // share of the pages in use, 0 to 1
	Queries, Hits           int64   // tokens of prompts, and those of them found in the cache
	PromptTokens            int64   // computed
	OutputTokens            int64
	Requests                int64
	AdapterBytes            int64
	Adapters, AdaptersInUse int
	AdapterLoads, Evictions int64 // of adapters
}

// EngineMetrics holds every series of a server of the engine alone. Durations are native
// histograms, and classic ones for readers that do not take those.
type EngineMetrics struct {
	registry *prometheus.Registry

	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	errors   *prometheus.CounterVec
	first    prometheus.Histogram
	gap      prometheus.Histogram
	queued   prometheus.Histogram
	total    prometheus.Histogram
	prompt   prometheus.Histogram
	output   prometheus.Histogram
}

var tokenCounts = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000}

// NewEngineMetrics makes a registry of its own. state is read at each scrape.
func NewEngineMetrics(version string, state func() EngineState) *EngineMetrics {
	m := &EngineMetrics{
		registry: prometheus.NewRegistry(),
		requests: counter("engine_http_requests_total", "HTTP requests by interface and status class.", "api", "class"),
		latency:  histogram("engine_http_request_seconds", "Time until an HTTP request was done.", "api"),
		errors:   counter("engine_errors_total", "Errors shown to clients, by code.", "code"),
		first:    native("time_to_first_token_seconds", "Time until the first token of an answer.", seconds),
		gap:      native("inter_token_latency_seconds", "Time between two tokens of an answer.", seconds),
		queued:   native("request_queue_time_seconds", "Time until the engine began with a request.", seconds),
		total:    native("e2e_request_latency_seconds", "Time until an answer was complete.", seconds),
		prompt:   native("request_prompt_tokens", "Tokens of prompts.", tokenCounts),
		output:   native("request_generation_tokens", "Tokens of answers.", tokenCounts),
	}
	m.registry.MustRegister(m.requests, m.latency, m.errors, m.first, m.gap, m.queued, m.total, m.prompt, m.output,
		&engineCollector{state}, build(version),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func build(version string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "macaron", Name: "build_info", Help: "Always 1; the label is the version.",
		ConstLabels: prometheus.Labels{"version": version}}, func() float64 { return 1 })
}

// native makes a histogram whose buckets grow by a tenth, and classic buckets beside.
func native(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "macaron", Subsystem: "engine", Name: name, Help: help,
		Buckets: buckets, NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour})
}

// Handler serves the registry: text, or the protocol that carries native histograms to
// whoever asks for it.
func (m *EngineMetrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Request counts an HTTP request that is done; api is one of the app's fixed names.
func (m *EngineMetrics) Request(api string, status int, took time.Duration) {
	m.requests.WithLabelValues(api, strconv.Itoa(status/100)+"xx").Inc()
	m.latency.WithLabelValues(api).Observe(took.Seconds())
}

// Error counts an error that a client saw.
func (m *EngineMetrics) Error(code string) { m.errors.WithLabelValues(code).Inc() }

// Token counts the time between two tokens of an answer.
func (m *EngineMetrics) Token(gap time.Duration) { m.gap.Observe(gap.Seconds()) }

// Answer counts an answer that ended, with the tokens of its prompt and its own.
func (m *EngineMetrics) Answer(first, queued, total time.Duration, prompt, output int) {
	m.first.Observe(first.Seconds())
	m.queued.Observe(queued.Seconds())
	m.total.Observe(total.Seconds())
	m.prompt.Observe(float64(prompt))
	m.output.Observe(float64(output))
}

// engineCollector reads the engine at each scrape.
type engineCollector struct{ state func() EngineState }

type series struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(EngineState) float64
}

func describe(name, help string, kind prometheus.ValueType, value func(EngineState) float64) series {
	return series{prometheus.NewDesc("macaron_engine_"+name, help, nil, nil), kind, value}
}

var engineSeries = []series{
	describe("num_requests_running", "Sequences that are computed now.", prometheus.GaugeValue, func(s EngineState) float64 { return float64(s.Running) }),
	describe("num_requests_waiting", "Requests that wait for a place.", prometheus.GaugeValue, func(s EngineState) float64 { return float64(s.Waiting) }),
	describe("kv_cache_usage_perc", "Share of the memory for keys and values that is in use, 0 to 1.", prometheus.GaugeValue, func(s EngineState) float64 { return s.KVUsage }),
	describe("prefix_cache_queries_total", "Tokens of prompts that were looked for in the cache.", prometheus.CounterValue, func(s EngineState) float64 { return float64(s.Queries) }),
	describe("prefix_cache_hits_total", "Tokens of prompts that were found there.", prometheus.CounterValue, func(s EngineState) float64 { return float64(s.Hits) }),
	describe("prompt_tokens_total", "Tokens of prompts that were computed.", prometheus.CounterValue, func(s EngineState) float64 { return float64(s.PromptTokens) }),
	describe("generation_tokens_total", "Tokens that were sampled.", prometheus.CounterValue, func(s EngineState) float64 { return float64(s.OutputTokens) }),
	describe("requests_total", "Sequences that were accepted.", prometheus.CounterValue, func(s EngineState) float64 { return float64(s.Requests) }),
	describe("lora_loaded", "Adapters in memory.", prometheus.GaugeValue, func(s EngineState) float64 { return float64(s.Adapters) }),
	describe("lora_in_use", "Adapters that requests use now.", prometheus.GaugeValue, func(s EngineState) float64 { return float64(s.AdaptersInUse) }),
	describe("lora_bytes", "Memory of the adapters.", prometheus.GaugeValue, func(s EngineState) float64 { return float64(s.AdapterBytes) }),
	describe("lora_loads_total", "Adapters that were read.", prometheus.CounterValue, func(s EngineState) float64 { return float64(s.AdapterLoads) }),
	describe("lora_evictions_total", "Adapters that made room for others.", prometheus.CounterValue, func(s EngineState) float64 { return float64(s.Evictions) }),
}

// Describe implements prometheus.Collector.
func (c *engineCollector) Describe(out chan<- *prometheus.Desc) {
	for _, s := range engineSeries {
		out <- s.desc
	}
}

// Collect implements prometheus.Collector.
func (c *engineCollector) Collect(out chan<- prometheus.Metric) {
	now := c.state()
	for _, s := range engineSeries {
		out <- prometheus.MustNewConstMetric(s.desc, s.kind, s.value(now))
	}
}
