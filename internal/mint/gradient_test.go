package mint

import (
	"testing"

	"macaron/internal/train"
)

// TestGradientOfTheService: it enters the operation that is on record, unless the request has
// its own.
func TestGradientOfTheService(t *testing.T) {
	s := &Service{o: Options{Gradient: train.ResponseOnly}}
	l := train.Loss{Name: "ppo", Config: map[string]float64{"clip_low_threshold": 0.9}}
	if got := s.gradient(l).Config; got["prefix_mode"] != 2 || got["clip_low_threshold"] != 0.9 || len(l.Config) != 1 {
		t.Errorf("%v of %v", got, l.Config)
	}
	l.Config["prefix_mode"] = 0
	if got := s.gradient(l).Config["prefix_mode"]; got != 0 {
		t.Errorf("%v instead of the request's own", got)
	}
	s.o.Gradient = train.Exact
	if got := s.gradient(train.Loss{Name: "ppo"}); got.Config != nil {
		t.Errorf("%v where nothing is to be said", got.Config)
	}
}
