package web_test

import (
	"strings"
	"testing"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/browser"
	"macaron/internal/clock"
	"macaron/internal/ids"
)

// The page of a server that asks for keys holds nothing until it is given one, shows it as a
// header, and keeps it for its tab alone.
func TestThePageAsksForAKey(t *testing.T) {
	cfg := settings(t, t.TempDir())
	m := &auth.Manager{Store: auth.OpenFile(cfg.Home), IDs: ids.NewSource(clock.System{}, nil), Now: clock.System{}.Now}
	_, secret, err := m.Create(t.Context(), auth.Key{Tenant: auth.Local, Scopes: []auth.Scope{auth.Chat, auth.Read, auth.Feedback}})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, cfg, app.Options{Generator: &script{}})
	b, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Page(desktop)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	v := &visit{t: t, page: p}
	v.must(p.Open(s.url + "/#ses_01ARZ3NDEKTSV4RRFFQ69G5FAV"))
	v.wait(`document.querySelector("#key")`)
	v.click("#key")
	v.must(p.Insert("mk-wrong"))
	v.press(browser.Enter)
	v.wait(of("#notice") + `.includes("not known here")`)
	v.must(p.Open(s.url + "/"))
	v.wait(of("#notice") + `.includes("not known here")`)
	v.click("#key")
	v.must(p.Insert(secret))
	v.click("#use-key")
	v.wait(`document.querySelectorAll("#force option").length > 1`)
	v.ask("Hello")
	v.turns(1)
	id := v.session()
	if got := s.turn(t, id, 0); got.Owner != auth.Local {
		t.Errorf("the turn is of %q", got.Owner)
	}
	v.must(p.Reload())
	v.wait(`document.querySelectorAll(".turn").length === 1`)
	if got := v.text(`JSON.stringify([document.cookie, localStorage, location.href])`); strings.Contains(got, secret) {
		t.Errorf("the key is in %s", got)
	}
	other, err := b.Page(desktop)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	w := &visit{t: t, page: other}
	w.must(other.Open(s.url + "/#" + id))
	w.wait(`document.querySelector("#key")`)
	if got := w.number(`document.querySelectorAll(".turn, #sessions a").length`); got != 0 {
		t.Errorf("without a key the page shows %d things", got)
	}
}
