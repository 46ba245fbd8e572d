package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/errs"
	"macaron/internal/record"
)

// shed: a saved tool is a session that is no conversation; it is its owner's, and goes
// with its session.
func shed(t *testing.T, s Store) {
	of := func(owner, session, tool string, second int, body record.Body) record.Record {
		r := rec(owner, session, "", "", second, body)
		r.Run = tool
		return r
	}
	for i, owner := range []string{"o", "p"} {
		open := opened(owner, "ses_"+owner, 1+i)
		put(t, s, records(open, of(owner, "ses_"+owner, "sha256:a", 1+i, record.ToolSaved{Name: "f", Source: "def f(): pass", Parameters: []byte(`{}`), Effect: "pure"})))
	}
	put(t, s, records(of("o", "ses_o", "sha256:a", 7, record.ToolUsed{OK: true})))
	want := record.Shelf{Owner: "o", Tool: "sha256:a", Session: "ses_o", Name: "f", Opened: at(1), Updated: at(7)}
	if got, err := s.Shelf(ctx, "o", "sha256:a"); err != nil || cmp.Diff(want, got) != "" {
		t.Error(err, cmp.Diff(want, got))
	}
	if _, err := s.Shelf(ctx, "q", "sha256:a"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("somebody else's: %v", err)
	}
	if all, err := s.Shed(ctx, "o", 9); err != nil || cmp.Diff([]record.Shelf{want}, all) != "" {
		t.Error(err, all)
	}
	if talks, err := s.Sessions(ctx, "o", time.Time{}, 9); err != nil || len(talks) > 0 {
		t.Errorf("conversations: %+v %v", talks, err)
	}
	if _, err := s.Erase(ctx, "o", "ses_o", record.Erase{Time: at(50)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Shelf(ctx, "o", "sha256:a"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("after its deletion: %v", err)
	}
	if _, err := s.Shelf(ctx, "p", "sha256:a"); err != nil {
		t.Errorf("the other owner's went too: %v", err)
	}
}
