package mint

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSaidTwice: of more metrics than a revision keeps, the same ones are kept each time, since an
// operation that is carried out again has to make the same revision.
func TestSaidTwice(t *testing.T) {
	all := map[string]float64{}
	for i := range 4 * maxMetrics {
		all[fmt.Sprintf("metric.m%03d", i)] = float64(i)
	}
	metadata, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	first := Revision{Metrics: map[string]float64{}}
	first.said(metadata)
	if len(first.Metrics) != maxMetrics {
		t.Errorf("%d metrics are kept", len(first.Metrics))
	}
	again := Revision{Metrics: map[string]float64{}}
	again.said(metadata)
	if diff := cmp.Diff(first.Metrics, again.Metrics); diff != "" {
		t.Error(diff)
	}
}
