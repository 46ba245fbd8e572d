package browser

import (
	"bytes"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPageSeesClicksTypingAndTrouble(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'")
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<title>t</title><input id=i><button id=b>b</button><script>document.title = "ran"</script>`))
	}))
	defer server.Close()
	b, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	p, err := b.Page(View{Width: 390, Height: 844, Dark: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	must(t, p.Open(server.URL))
	must(t, p.Click("#i"))
	must(t, p.Insert("a\nb"))
	must(t, p.Press("c"))
	must(t, p.Wait(`document.querySelector("#i").value === "a bc" || document.querySelector("#i").value === "abc"`))
	dark, err := Eval[bool](p, `matchMedia("(prefers-color-scheme: dark)").matches && innerWidth === 390`)
	must(t, err)
	title, err := Eval[string](p, `document.title`)
	must(t, err)
	if !dark || title != "t" {
		t.Errorf("dark view of 390 px: %v; title %q, an inline script must not run", dark, title)
	}
	if trouble := strings.Join(p.Trouble(), "\n"); !strings.Contains(trouble, "Content Security Policy") {
		t.Errorf("the policy violation is not told: %q", trouble)
	}
	shot, err := p.Screenshot()
	must(t, err)
	if picture, err := png.Decode(bytes.NewReader(shot)); err != nil || picture.Bounds().Dx() != 390 {
		t.Errorf("screenshot: %v, %v", picture.Bounds(), err)
	}
}

// A question that the page never answers, as it makes way for another, is put to that one.
func TestWaitGoesOnInThePageThatComes(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/first" {
			_, _ = w.Write([]byte(`<script>setTimeout(() => { location.href = "/second" }, 200)</script>`))
		}
	}))
	defer server.Close()
	p := phone(t, server.URL+"/first")
	must(t, p.until("come to the second page", func() (bool, error) {
		return Eval[bool](p, `location.pathname === "/second" || new Promise(() => {})`)
	}))
}

func TestWithoutChromiumTheAdviceIsClear(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Start(t.Context()); err == nil || !strings.Contains(err.Error(), "no Chromium is installed") {
		t.Errorf("got %v", err)
	}
}

// phone is a page of a phone's size that has been opened, until the end of the test.
func phone(t *testing.T, address string) *Page {
	t.Helper()
	b, err := Start(t.Context())
	must(t, err)
	t.Cleanup(b.Close)
	p, err := b.Page(View{Width: 390, Height: 844})
	must(t, err)
	t.Cleanup(p.Close)
	must(t, p.Open(address))
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
