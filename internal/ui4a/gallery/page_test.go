package gallery_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"macaron/internal/browser"
	"macaron/internal/ui4a/gallery"
	"macaron/internal/ui4a/runtime"
)

// The page shows cards in their frames, under the boundary, and takes their gestures.
func TestThePageShowsCards(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtime.FramePath, runtime.ServeFrame)
	mux.HandleFunc("GET "+runtime.HostPath+"{name}", runtime.ServeHost)
	mux.HandleFunc("GET "+gallery.Path, gallery.Serve)
	server := httptest.NewServer(mux)
	defer server.Close()
	b, err := browser.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	p, err := b.Page(browser.View{Width: 390, Height: 844})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Open(server.URL + gallery.Path); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(`[...document.querySelectorAll("iframe")].some((f) => f.title === "Card: alert" && f.clientHeight > 150)`); err != nil {
		t.Fatal(err, p.Trouble())
	}
	sections, err := browser.Eval[int](p, `document.querySelectorAll("section[id]").length`)
	if err != nil || sections != len(gallery.Cards()) {
		t.Errorf("%d places, %v", sections, err)
	}
	frames, err := browser.Eval[int](p, `document.querySelectorAll("iframe").length`)
	if err != nil || frames == sections {
		t.Errorf("%d frames at once, %v", frames, err)
	}
	for _, trouble := range p.Trouble() {
		if !strings.Contains(trouble, "Permissions-Policy") {
			t.Errorf("the page has trouble: %s", trouble)
		}
	}
}
