package browser

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

const framed = `<title>t</title><body style="margin:0"><iframe sandbox="allow-scripts" src="/frame" style="position:absolute;left:20px;top:30px;width:300px;height:200px;border:0"></iframe>`

const inside = `<body style="margin:0"><button style="width:100px;height:40px">b</button><input aria-label="i"><script>
	const b = document.querySelector("button");
	b.onclick = (e) => { b.textContent = e.isTrusted ? "trusted" : "made"; fetch("http://127.0.0.1:1/out").catch(() => console.error("refused", 7)); };
	document.querySelector = () => null; // the look must not go through the document's own scripts
</script>`

func TestAFrameOfAnotherSiteIsLookedAt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/frame" {
			_, _ = w.Write([]byte(framed))
			return
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'")
		_, _ = w.Write([]byte(inside))
	}))
	defer server.Close()
	p := phone(t, server.URL)
	f, err := p.Frame(server.URL + "/frame")
	must(t, err)
	defer f.Close()
	must(t, p.ClickIn(50, 20, "iframe"))
	must(t, p.until("the click", func() (bool, error) {
		return Look[bool](f, `document.querySelector("button").textContent === "trusted"`)
	}))
	must(t, p.Press(Tab))
	must(t, p.Insert("größer"))
	typed, err := Look[string](f, `new Promise((done) => setTimeout(() => done(document.querySelector("input").value), 50))`)
	if err != nil || typed != "größer" {
		t.Errorf("typed %q, %v", typed, err)
	}
	must(t, f.Dark(true))
	if dark, err := Look[bool](f, `matchMedia("(prefers-color-scheme: dark)").matches`); err != nil || !dark {
		t.Errorf("dark: %v, %v", dark, err)
	}
	before, err := f.Processor()
	must(t, err)
	_, err = Look[int](f, `(() => { let n = 0; while (n < 2e8) n++; return n; })()`)
	must(t, err)
	if after, err := f.Processor(); err != nil || after-before < 5*time.Millisecond {
		t.Errorf("two hundred million steps took %v of the processor, %v", after-before, err)
	}
	if name, err := Look[string](f, `document.querySelector("input").computedRole + " " + document.querySelector("input").computedName`); err != nil || name != "textbox i" {
		t.Errorf("what assistive technology calls it: %q, %v", name, err)
	}
	if _, err := Look[int](f, `nobody.there`); err == nil {
		t.Error("an exception is no error")
	}
	kinds := map[string]int{}
	for _, e := range f.Events() {
		kinds[e.Kind]++
		if e.Kind == "error" && e.Text != "refused 7" {
			t.Errorf("unexpected %+v", e)
		}
	}
	if kinds["error"] != 1 || kinds["policy"] == 0 || kinds["request"] != 0 {
		t.Errorf("want one error, violations of the policy and no request, got %+v", f.Events())
	}
}
