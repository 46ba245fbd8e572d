package obs

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"macaron/internal/chat"
)

// Metrics holds every series of the process. Labels come from closed sets (hop
// kinds, error codes, statuses) or from the contract (adapters), never from
// what a client sent.
type Metrics struct {
	registry *prometheus.Registry

	requests  *prometheus.CounterVec
	latency   *prometheus.HistogramVec
	turns     *prometheus.CounterVec
	routes    *prometheus.CounterVec
	answers   *prometheus.CounterVec
	errors    *prometheus.CounterVec
	hopTime   *prometheus.HistogramVec
	hopFirst  *prometheus.HistogramVec
	hopTokens *prometheus.CounterVec
	summaries *prometheus.CounterVec
	retries   prometheus.Counter
	reloads   *prometheus.CounterVec
	running   prometheus.Gauge
	waiting   prometheus.Gauge
}

var seconds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}

// NewMetrics makes a registry of its own, so that several apps live in one process.
func NewMetrics(version string) *Metrics {
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		requests:  counter("http_requests_total", "HTTP requests by interface and status class.", "api", "class"),
		latency:   histogram("http_request_seconds", "Time until an HTTP request was done.", "api"),
		turns:     counter("turns_total", "Turns by how they closed.", "status"),
		routes:    counter("routes_total", "Routing decisions by reason.", "reason"),
		answers:   counter("answers_total", "Answers by adapter.", "adapter"),
		errors:    counter("errors_total", "Errors shown to clients, by code.", "code"),
		hopTime:   histogram("hop_seconds", "Time of a model call.", "hop"),
		hopFirst:  histogram("hop_first_token_seconds", "Time until the first token of a model call.", "hop"),
		hopTokens: counter("hop_tokens_total", "Tokens of model calls.", "hop", "kind"),
		summaries: counter("summaries_total", "Summaries by source.", "source"),
		retries:   prometheus.NewCounter(prometheus.CounterOpts{Namespace: "macaron", Name: "summary_retries_total", Help: "Summaries that could not be written and are tried again."}),
		reloads:   counter("config_reloads_total", "Times that the settings were read again, by outcome.", "outcome"),
		running:   prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "macaron", Name: "turns_running", Help: "Turns that generate now."}),
		waiting:   prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "macaron", Name: "turns_waiting", Help: "Turns that wait for a place."}),
	}
	m.registry.MustRegister(m.requests, m.latency, m.turns, m.routes, m.answers, m.errors, m.hopTime, m.hopFirst, m.hopTokens,
		m.summaries, m.retries, m.reloads, m.running, m.waiting, build(version),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "macaron", Name: name, Help: help}, labels)
}

func histogram(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "macaron", Name: name, Help: help, Buckets: seconds}, labels)
}

// Handler serves the registry in the Prometheus text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Request counts an HTTP request that is done; api is one of the app's fixed names.
func (m *Metrics) Request(api string, status int, took time.Duration) {
	m.requests.WithLabelValues(api, strconv.Itoa(status/100)+"xx").Inc()
	m.latency.WithLabelValues(api).Observe(took.Seconds())
}

// Hop counts a model call that ended; kind is route, answer or summary.
func (m *Metrics) Hop(kind string, u chat.Usage) {
	m.hopTime.WithLabelValues(kind).Observe(u.Total.Seconds())
	if u.First > 0 {
		m.hopFirst.WithLabelValues(kind).Observe(u.First.Seconds())
	}
	m.hopTokens.WithLabelValues(kind, "prompt").Add(float64(u.PromptTokens))
	m.hopTokens.WithLabelValues(kind, "cached").Add(float64(u.CachedTokens))
	m.hopTokens.WithLabelValues(kind, "output").Add(float64(u.OutputTokens))
}

// Route counts a decision by its reason.
func (m *Metrics) Route(reason string) { m.routes.WithLabelValues(reason).Inc() }

// Answer counts an answer by a registered adapter.
func (m *Metrics) Answer(adapter string) { m.answers.WithLabelValues(adapter).Inc() }

// Turn counts a turn by how it closed.
func (m *Metrics) Turn(status string) { m.turns.WithLabelValues(status).Inc() }

// Summary counts a stored summary by its source.
func (m *Metrics) Summary(source string) { m.summaries.WithLabelValues(source).Inc() }

// SummaryRetry counts a summary that could not be written and is tried again.
func (m *Metrics) SummaryRetry() { m.retries.Inc() }

// Reload counts a time that the settings were read again.
func (m *Metrics) Reload(ok bool) {
	outcome := "ok"
	if !ok {
		outcome = "refused"
	}
	m.reloads.WithLabelValues(outcome).Inc()
}

// Error counts an error that a client saw.
func (m *Metrics) Error(code string) { m.errors.WithLabelValues(code).Inc() }

// Load shows how many turns run and wait.
func (m *Metrics) Load(running, waiting int) {
	m.running.Set(float64(running))
	m.waiting.Set(float64(waiting))
}
