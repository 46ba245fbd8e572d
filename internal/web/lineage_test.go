package web_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"macaron/internal/browser"
	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/store/sqlite"
	"macaron/internal/web"
	"macaron/internal/wire/forge"
)

// The graph is drawn of what the ledger has, and nothing that a proposer wrote becomes markup.
func TestLineageIsDrawn(t *testing.T) {
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "log.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	l := &ledger.Ledger{Store: store, Clock: clock.System{}, Limits: ledger.DefaultLimits}
	const hostile = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>`
	parent, child := mindforge.Candidate{Operator: mindforge.Seed}, mindforge.Candidate{Operator: hostile, Proposer: hostile, Edits: []mindforge.Edit{{Kind: hostile, Component: `javascript:window.hit=1`}}}
	release := ids.DigestOf([]byte("r"))
	enter := func(c mindforge.Candidate) ids.Digest {
		h, err := ledger.Identity(c)
		if err == nil {
			_, err = l.Append(t.Context(), "o", ledger.Draft{Run: "r", Key: string(h), Body: ledger.Candidate{Hash: h, Candidate: c}})
		}
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	child.Parents = []ids.Digest{enter(parent)}
	made := ledger.Made{What: "release", Name: hostile, Hash: release, From: []ledger.Source{{What: "candidate", Hash: enter(child)}}}
	if _, err := l.Write(t.Context(), "o", nil, []ledger.Alias{{Name: ledger.Champion, Version: 1, Release: release, Reason: hostile}}, ledger.Draft{Run: "r", Key: "release", Body: made}); err != nil {
		t.Fatal(err)
	}
	fail := func(w http.ResponseWriter, err error) { w.WriteHeader(errs.As(err).Code.Status()) }
	owner := func(*http.Request) string { return "o" }
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler(web.Deps{Fail: fail, Owner: owner}))
	mux.Handle("/v1/forge/", forge.Handler(forge.Deps{Ledger: l, Owner: owner, Fail: fail}))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	for _, view := range []browser.View{desktop, {Width: 390, Height: 844, Touch: true, Dark: true}} {
		v := look(t, s.URL+"/forge/lineage", view)
		v.wait(`document.querySelectorAll(".graph .node").length === 3 && document.querySelectorAll(".graph .edge").length === 2`)
		v.must(v.page.Open(s.URL + "/forge/lineage#champion"))
		v.must(v.page.Reload())
		v.wait(`document.querySelectorAll(".told li").length === 1 && document.querySelector(".told .alias").textContent === "champion"`)
		if v.number(`document.querySelectorAll("#run img, #run script, #sessions img").length`) != 0 || v.number(`window.hit ?? 0`) != 0 {
			t.Error("a proposer's words became markup")
		}
		if wide := int(v.number(`document.documentElement.scrollWidth`)); wide > view.Width {
			t.Errorf("the page is %d px wide", wide)
		}
	}
}
