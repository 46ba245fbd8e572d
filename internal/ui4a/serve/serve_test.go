package serve

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"macaron/internal/browser"
)

const card = `import { usePersistedState, PrivateField } from "$ui4a/state";
import { sendAction } from "$ui4a/chat";
export default function Trip() {
  const [n] = usePersistedState("guests", 2);
  return <div><button style={{ position: "absolute", left: 0, top: 0, width: 100, height: 40 }} onClick={() => sendAction({ name: "book", reads: ["guests", "iban"] })}>Book {n}</button>
    <div style={{ marginTop: 60 }}><PrivateField name="iban" label="Account" /></div></div>;
}
`

func TestACardsFileOnAPage(t *testing.T) {
	var source atomic.Value
	source.Store(card)
	server := httptest.NewServer(New("canvas/card", func() (string, error) { return source.Load().(string), nil }).Handler())
	defer server.Close()
	b, err := browser.Start(t.Context())
	must(t, err)
	defer b.Close()
	p, err := b.Page(browser.View{Width: 800, Height: 900})
	must(t, err)
	must(t, p.Open(server.URL))
	must(t, p.Wait(`window.shown?.painted && document.querySelector("iframe").getBoundingClientRect().height > 60`))
	must(t, p.ClickIn(20, 20, "iframe"))
	must(t, p.Wait(`document.querySelector("#receipts li")?.textContent.includes('{"action":"book","state":{"guests":2},"surface":"canvas/card","withheld":["iban"]}')`))
	must(t, p.Wait(`document.querySelector("#policy").textContent.includes("strict-dynamic")`))
	source.Store(strings.Replace(card, "Book {n}", "Reserve {n} {nowhere}", 1))
	must(t, p.Wait(`document.querySelector("#troubles").textContent.includes("nowhere is not defined")`))
	source.Store("export default () => <p>")
	must(t, p.Wait(`document.querySelector("#findings").textContent.includes("error")`))
}

func TestThePageIsForThisMachineAlone(t *testing.T) {
	h := New("canvas/card", func() (string, error) { return card, nil }).Handler()
	for name, c := range map[string]struct {
		host, site string
		want       int
	}{
		"this machine":   {"127.0.0.1:80", "same-origin", 410}, // no page is open
		"another name":   {"example.org", "", 403},
		"another's page": {"localhost:80", "cross-site", 403},
		"no Action":      {"localhost", "", 400},
	} {
		body := io.Reader(strings.NewReader(`{"action":{"id":"act_1","origin":{"surface":"s","revision":"r"},"kind":"action","name":"a","state":{},"execution":"event","visibility":{"audience":"ai"},"time":"2026-11-30T10:00:00Z","sequence":1},"secrets":{}}`))
		if name == "no Action" {
			body = strings.NewReader(`{"act":1}`)
		}
		r := httptest.NewRequest(http.MethodPost, "/action", body)
		r.Host = c.host
		r.Header.Set("Sec-Fetch-Site", c.site)
		if c.site == "" {
			r.Header.Del("Sec-Fetch-Site")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
