package filter

import (
	"testing"

	"macaron/internal/mint/filter"
)

// The detectors find what docs/DATA.md says, on both halves.
func TestDetectorsKeepTheirScores(t *testing.T) {
	for name, half := range map[string]func(int) ([]Text, error){"development": Development, "held out": HeldOut} {
		texts, err := half(10)
		if err != nil {
			t.Fatal(err)
		}
		s := NewScore()
		for _, x := range texts {
			s.Add(x, filter.Find(x.Text, filter.Types))
		}
		for _, kind := range filter.Types {
			if r, p := s.Recall(kind), s.Precision(kind); r.Mean < 0.96 || p.Mean < 0.95 || r.N < 20 {
				t.Errorf("%s, %s: recall %.3f of %d, precision %.3f of %d\n%s", name, kind, r.Mean, r.N, p.Mean, p.N, s.Errors())
			}
		}
	}
}
