package filter

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/record"
	"macaron/internal/trajectory"
)

// The page has every number, runs nothing, loads nothing, and shows hostile names as text.
func TestReport(t *testing.T) {
	m := made(t)
	d := m.dataset(plain(1), plain(2), plain(2), exchange(3, "mail me at ann@example.org today", "Gladly.", func(e *trajectory.Exchange) {
		e.Adapter = adapter.Revision{Name: `<script>alert(1)</script>`}
	}), exchange(4, "name the third planet please", "Mars.", func(e *trajectory.Exchange) { e.Feedback = &record.Feedback{Score: -1} }))
	tombs, err := d.Tombstones(t.Context(), func(_ context.Context, _, session, turn string) (bool, string, time.Time, error) {
		return session == "ses_1" && turn == "", "asked", when, nil
	})
	if err != nil || len(tombs) != 1 || tombs[0].Turn != "trn_1" || tombs[0].What != "session" {
		t.Fatalf("%v, %v", tombs, err)
	}
	r, err := d.Report(tombs)
	if err != nil || r.Kept != 3 || r.Read != 5 || r.PII[0] != (Count{"email", 1}) || r.Doubles[0].N != 1 || len(r.Dropped) != 2 || len(r.Adapters) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if strings.Contains(page, "<script") || regexp.MustCompile(`(?i)\b(?:src|href|style|on\w+)=`).MatchString(page) || !strings.Contains(page, "default-src 'none'") {
		t.Error("the page runs or loads something")
	}
	for _, want := range []string{"&lt;script&gt;", "negative_feedback", "compared with no evaluation set", "<svg", "1 rows show"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}
