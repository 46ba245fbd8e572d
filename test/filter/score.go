package filter

import (
	"fmt"
	"strings"

	"macaron/internal/mindforge/stat"
	"macaron/internal/mint/filter"
)

// Score compares what was found with what is marked. A marked span counts as found when a
// finding of its type covers it; a finding is right when it overlaps a span of its type.
type Score struct {
	found, right map[string][]stat.Value // recall and precision, by type
	clusters     map[string]bool
	errors       strings.Builder
}

// NewScore makes an empty one.
func NewScore() *Score {
	return &Score{found: map[string][]stat.Value{}, right: map[string][]stat.Value{}, clusters: map[string]bool{}}
}

// Add counts a text.
func (s *Score) Add(t Text, got []filter.Finding) {
	s.clusters[t.Cluster] = true
	for _, want := range t.Spans {
		hit := covered(want, got)
		s.found[want.Type] = append(s.found[want.Type], stat.Value{Cluster: t.Cluster, Y: one01(hit)})
		if !hit {
			fmt.Fprintf(&s.errors, "missed %s %q in %q\n", want.Type, t.Text[want.From:want.To], t.Text)
		}
	}
	for _, f := range got {
		ok := marked(f, t.Spans)
		s.right[f.Type] = append(s.right[f.Type], stat.Value{Cluster: t.Cluster, Y: one01(ok)})
		if !ok {
			fmt.Fprintf(&s.errors, "wrong %s %q in %q\n", f.Type, t.Text[f.From:f.To], t.Text)
		}
	}
}

func covered(want Span, got []filter.Finding) bool {
	for _, f := range got {
		if f.Type == want.Type && f.From <= want.From && f.To >= want.To {
			return true
		}
	}
	return false
}

func marked(f filter.Finding, spans []Span) bool {
	for _, s := range spans {
		if s.Type == f.Type && f.From < s.To && s.From < f.To {
			return true
		}
	}
	return false
}

func one01(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Clusters is how many templates were counted.
func (s *Score) Clusters() int { return len(s.clusters) }

// Recall is the share of marked spans of a type that were found, Precision the share of
// findings that were right, with intervals that take templates as clusters.
func (s *Score) Recall(kind string) stat.Estimate { return stat.Mean(s.found[kind], 0, 1) }

// Precision is described with Recall.
func (s *Score) Precision(kind string) stat.Estimate { return stat.Mean(s.right[kind], 0, 1) }

// Table prints both for each type.
func (s *Score) Table(types []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| type | spans | recall | 95 %% | found | precision | 95 %% |\n|---|---|---|---|---|---|---|\n")
	for _, k := range types {
		r, p := s.Recall(k), s.Precision(k)
		fmt.Fprintf(&b, "| %s | %d | %.3f | %.3f to %.3f | %d | %.3f | %.3f to %.3f |\n", k, r.N, r.Mean, r.Low, r.High, p.N, p.Mean, p.Low, p.High)
	}
	return b.String()
}

// Errors tells what was missed and what was found by mistake.
func (s *Score) Errors() string { return s.errors.String() }
