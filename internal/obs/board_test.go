package obs

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"macaron/internal/chat"
)

// everything is a registry in which each series has a value.
func everything() *Metrics {
	m := NewMetrics("v-test")
	m.Request("chat", 200, time.Second)
	m.Hop("answer", chat.Usage{PromptTokens: 7, CachedTokens: 3, OutputTokens: 2, First: time.Millisecond, Total: time.Second})
	m.Route("model")
	m.Answer("L2")
	m.Turn("delivered")
	m.Summary("model")
	m.SummaryRetry()
	m.Error("overloaded")
	m.Reload(true)
	m.Engine(func() EngineState { return EngineState{} })
	m.Training(func() TrainingState { return TrainingState{Done: map[string]int64{"sample": 1}} })
	m.Upstreams(func() []Upstream { return []Upstream{{Name: "a", Well: true, Breaker: "closed"}} })
	return m
}

// labelsOf gives the name of each series as it is scraped, with its labels and those that a scrape adds.
func labelsOf(t *testing.T, m *Metrics) map[string][]string {
	t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, f := range families {
		name, labels := f.GetName(), []string{"job", "instance"}
		for _, l := range f.Metric[0].Label {
			labels = append(labels, l.GetName())
		}
		out[name] = labels
		if f.Metric[0].Histogram != nil {
			out[name+"_bucket"], out[name+"_sum"], out[name+"_count"] = append(labels, "le"), labels, labels
		}
	}
	return out
}

var (
	seriesIn = regexp.MustCompile(`\b((?:macaron|go|process)_[a-z0-9_]+)(\{[^}]*\})?`)
	matchers = regexp.MustCompile(`([a-z_]+)\s*[!=]~?"`)
	grouping = regexp.MustCompile(`by \(([a-z_, ]+)\)`)
	legends  = regexp.MustCompile(`\{\{([a-z_]+)\}\}`)
)

// Every query of the Grafana board asks for series that /metrics has, by labels that they have.
func TestTheBoardAsksForWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("../../deploy/grafana/macaron.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	have, asked := labelsOf(t, everything()), map[string]bool{}
	for _, p := range board.Panels {
		for _, q := range p.Targets {
			var labels []string
			for _, s := range seriesIn.FindAllStringSubmatch(q.Expr, -1) {
				asked[s[1]], labels = true, have[s[1]]
				if labels == nil {
					t.Errorf("%q asks for %s, which there is not", p.Title, s[1])
				}
				for _, l := range matchers.FindAllStringSubmatch(s[2], -1) {
					if !slices.Contains(labels, l[1]) {
						t.Errorf("%q: %s has no label %s", p.Title, s[1], l[1])
					}
				}
			}
			if labels == nil {
				t.Errorf("%q: there is no series in %s", p.Title, q.Expr)
			}
			var used []string
			for _, g := range grouping.FindAllStringSubmatch(q.Expr, -1) {
				used = append(used, strings.Split(g[1], ", ")...)
			}
			for _, l := range legends.FindAllStringSubmatch(q.LegendFormat, -1) {
				used = append(used, l[1])
			}
			for _, l := range used {
				if !slices.Contains(labels, l) {
					t.Errorf("%q: there is no label %s", p.Title, l)
				}
			}
		}
	}
	for name := range have {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		shown := asked[base] || asked[base+"_bucket"] || asked[base+"_sum"]
		if strings.HasPrefix(name, "macaron_") && !strings.HasPrefix(name, "macaron_engine_") && !shown {
			t.Errorf("no panel shows %s", name)
		}
	}
	if len(asked) < 25 {
		t.Errorf("only %d series were found in the board", len(asked))
	}
}
