package obs

import "github.com/prometheus/client_golang/prometheus"

// TrainingState is what the training service shows when its metrics are read.
type TrainingState struct {
	Sessions, Models, Resident, Samplers int
	Pending                              int // promises
	PendingBytes                         int64
	Replayed, Snapshots                  int64
	Collected                            int64            // bytes of blobs
	Done, Failed                         map[string]int64 // operations by kind, a closed set
}

// Training shows the training service; state is read at each scrape.
func (m *Metrics) Training(state func() TrainingState) {
	m.registry.MustRegister(trainingCollector(state))
}

type trainingCollector func() TrainingState

var trainingOps = prometheus.NewDesc("macaron_training_operations_total", "Operations of the training service by kind and outcome.", []string{"op", "outcome"}, nil)

var trainingSeries = []struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(TrainingState) float64
}{
	{prometheus.NewDesc("macaron_training_sessions", "Sessions of clients that live.", nil, nil), prometheus.GaugeValue, func(s TrainingState) float64 { return float64(s.Sessions) }},
	{prometheus.NewDesc("macaron_training_models", "Models under training.", nil, nil), prometheus.GaugeValue, func(s TrainingState) float64 { return float64(s.Models) }},
	{prometheus.NewDesc("macaron_training_models_resident", "Models whose optimizer is in memory.", nil, nil), prometheus.GaugeValue, func(s TrainingState) float64 { return float64(s.Resident) }},
	{prometheus.NewDesc("macaron_training_samplers", "Samplers of sessions that live.", nil, nil), prometheus.GaugeValue, func(s TrainingState) float64 { return float64(s.Samplers) }},
	{prometheus.NewDesc("macaron_training_pending", "Promises that are not resolved.", nil, nil), prometheus.GaugeValue, func(s TrainingState) float64 { return float64(s.Pending) }},
	{prometheus.NewDesc("macaron_training_pending_bytes", "Bytes that they take.", nil, nil), prometheus.GaugeValue, func(s TrainingState) float64 { return float64(s.PendingBytes) }},
	{prometheus.NewDesc("macaron_training_replayed_total", "Operations that were carried out once more to restore a state.", nil, nil), prometheus.CounterValue, func(s TrainingState) float64 { return float64(s.Replayed) }},
	{prometheus.NewDesc("macaron_training_snapshots_total", "Snapshots of models.", nil, nil), prometheus.CounterValue, func(s TrainingState) float64 { return float64(s.Snapshots) }},
	{prometheus.NewDesc("macaron_training_collected_bytes_total", "Bytes of blobs that nothing named any more.", nil, nil), prometheus.CounterValue, func(s TrainingState) float64 { return float64(s.Collected) }},
}

// Describe implements prometheus.Collector.
func (c trainingCollector) Describe(out chan<- *prometheus.Desc) {
	for _, s := range trainingSeries {
		out <- s.desc
	}
	out <- trainingOps
}

// Collect implements prometheus.Collector.
func (c trainingCollector) Collect(out chan<- prometheus.Metric) {
	state := c()
	for _, s := range trainingSeries {
		out <- prometheus.MustNewConstMetric(s.desc, s.kind, s.value(state))
	}
	for outcome, ops := range map[string]map[string]int64{"done": state.Done, "failed": state.Failed} {
		for op, n := range ops {
			out <- prometheus.MustNewConstMetric(trainingOps, prometheus.CounterValue, float64(n), op, outcome)
		}
	}
}
