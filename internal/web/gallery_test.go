package web_test

import (
	"strings"
	"testing"

	"macaron/internal/axe"
	"macaron/internal/browser"
	"macaron/internal/ui4a/gallery"
)

// The gallery stands in the shell of the other pages: its cards under the boundary, the
// way to the chat, the list of components, the colours, also on a narrow screen.
func TestTheGalleryIsAPageAmongTheOthers(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	b, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Page(browser.View{Width: 390, Height: 844})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	v := &visit{t: t, page: p}
	v.must(p.Open(s.url + gallery.Path))
	v.wait(`[...document.querySelectorAll("iframe")].some((f) => f.title === "Card: alert" && f.clientHeight > 150)`)
	sections := v.number(`document.querySelectorAll("section[id]").length`)
	if links := v.number(`document.querySelectorAll("#sessions a").length`); sections != len(gallery.Cards()) || links != sections {
		t.Errorf("%d places, %d links", sections, links)
	}
	if frames := v.number(`document.querySelectorAll("iframe").length`); frames == sections {
		t.Errorf("%d frames at once", frames)
	}
	v.click("#open-drawer")
	v.click(`#sessions a[href="#tabs"]`)
	v.wait(`!document.body.classList.contains("drawer") && [...document.querySelectorAll("iframe")].some((f) => f.title === "Card: tabs" && f.clientHeight > 100)`)
	v.click("#theme")
	v.click("#theme")
	v.wait(`document.documentElement.dataset.theme === "dark"`)
	v.sees(v.inside(s), `document.documentElement.dataset.theme === "dark"`)
	if _, err := browser.Eval[bool](p, axe.Script+"\n;true"); err != nil {
		t.Fatal(err)
	}
	serious := `axe.run(document, {iframes: false, resultTypes: ["violations"]}).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => v.id + " " + v.nodes[0].target).join(", "))`
	for range 2 { // dark, and light after system
		if found := v.text(serious); found != "" {
			t.Errorf("axe-core finds %s in %s", found, v.text(`document.documentElement.dataset.theme ?? "the system's colours"`))
		}
		v.click("#theme")
	}
	for _, trouble := range p.Trouble() {
		if !strings.Contains(trouble, "Permissions-Policy") {
			t.Errorf("the page has trouble: %s", trouble)
		}
	}
	v.must(p.Press(browser.Escape))
	v.click("#open-drawer")
	v.click("#to-chat")
	v.wait(`document.querySelector("#prompt")`)
}
