package web_test

import (
	"strings"
	"testing"

	"macaron/internal/browser"
)

// hostile is what a model could be talked into saying.
const hostile = `<img src=x onerror="window.pwned=1"> <script>window.pwned=2</script>
<style>body{display:none}</style> <a href="javascript:window.pwned=3">x</a> ` + "`<svg onload=window.pwned=4>`" + `

` + "```html\n<iframe srcdoc=\"<script>parent.pwned=5</script>\"></iframe>\n```" + `

` + "``` \" onmouseover=window.pwned=6\n</pre></code><form action=/x><input autofocus onfocus=window.pwned=7>"

func TestModelTextStaysText(t *testing.T) {
	home := t.TempDir()
	s := start(t, home, &script{lines: map[string]string{"say": hostile}})
	v := open(t, s.url, desktop)
	v.ask(`say <img src=y onerror="window.pwned=8">`)
	v.turns(1)
	v.click(`[data-action="details"]`)
	v.wait(`document.querySelector(".details")`)
	check := func(when string) {
		t.Helper()
		made := v.number(`document.querySelectorAll("#thread :is(img, script, style, a, iframe, form, input:not([data-action])), #thread svg[onload]").length`)
		if pwned := v.number(`window.pwned ?? 0`); pwned != 0 || made != 0 {
			t.Errorf("%s: markup of the model made %d elements, script %d ran", when, made, pwned)
		}
		for _, piece := range []string{`<img src=x onerror="window.pwned=1">`, `<script>window.pwned=2</script>`, `<svg onload=window.pwned=4>`, `<iframe srcdoc=`, `</pre></code><form`} {
			if v.number(`document.querySelector(".body").textContent.includes(`+quote(piece)+`) ? 1 : 0`) != 1 {
				t.Errorf("%s: %q is not shown as it was said", when, piece)
			}
		}
	}
	check("streamed")
	v.session()
	v.must(v.page.Reload())
	v.wait(`document.querySelectorAll(".turn").length === 1 && document.querySelector("#sessions a")`)
	check("stored")
	if got := v.number(`document.querySelectorAll("#sessions img, h1 img").length`); got != 0 {
		t.Errorf("the title made %d pictures", got)
	}
	v.quiet()
}

func TestThePolicyHoldsInTheBrowser(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	v := open(t, s.url, desktop)
	v.quiet() // the page itself keeps to it
	ran := v.number(`(() => {
		const script = document.createElement("script");
		script.textContent = "window.inline = 1";
		document.body.append(script);
		document.body.setAttribute("style", "opacity: 0.5");
		return (window.inline ?? 0) + (getComputedStyle(document.body).opacity === "0.5" ? 2 : 0);
	})()`)
	if ran != 0 {
		t.Errorf("inline code was let through: %d", ran)
	}
	if got := v.text(`fetch("http://127.0.0.1:9/").then(() => "answered", () => "refused")`); got != "refused" {
		t.Errorf("another origin %s", got)
	}
	eventually(t, func() bool { return len(v.page.Trouble()) > 0 }) // else quiet() would see nothing
}

func TestNothingIsWiderThanAPhone(t *testing.T) {
	longWord := strings.Repeat("Donaudampfschifffahrt", 12)
	wide := longWord + "\n\n```\n" + longWord + longWord + "\n```\nand `" + longWord + "`"
	s := start(t, t.TempDir(), &script{lines: map[string]string{"wide": wide}})
	v := open(t, s.url, browser.View{Width: 390, Height: 844, Touch: true})
	narrow := func(when string) {
		t.Helper()
		for _, box := range []string{"document.documentElement", "document.body", `document.querySelector("#scroller")`, `document.querySelector("main")`} {
			if over := v.number(box + `.scrollWidth - Math.min(390, ` + box + `.clientWidth)`); over > 0 {
				t.Errorf("%s: %s is %d px too wide", when, box, over)
			}
		}
	}
	narrow("welcome")
	v.ask("wide " + longWord)
	v.turns(1)
	v.click(`[data-action="down"]`)
	v.click(`[data-action="details"]`)
	v.wait(`document.querySelector(".details")`)
	narrow("with an answer and its details")
	v.click(`[data-action="edit"]`)
	narrow("while a message is edited")
	v.click("#open-drawer")
	v.wait(`document.activeElement.id === "new-chat"`)
	narrow("with the drawer open")
	v.press(browser.Escape)
	v.wait(`document.activeElement.id === "open-drawer" && document.querySelector("#sidebar").inert`)
	v.quiet()
}

func TestColoursFollowTheSystemAndTheButton(t *testing.T) {
	s := start(t, t.TempDir(), &script{})
	v := open(t, s.url, browser.View{Width: 800, Height: 600, Dark: true})
	bright := `(() => { const c = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number); return Math.round((c[0] + c[1] + c[2]) / 3); })()`
	if b := v.number(bright); b > 60 {
		t.Errorf("a dark system gives brightness %d", b)
	}
	v.click("#theme") // light
	if b := v.number(bright); b < 200 {
		t.Errorf("light gives brightness %d", b)
	}
	v.must(v.page.Reload())
	v.wait(`document.querySelector("#theme svg")`)
	if b := v.number(bright); b < 200 {
		t.Errorf("after a reload light gives brightness %d", b)
	}
	v.click("#theme") // dark
	v.click("#theme") // as the system
	if b := v.number(bright); b > 60 {
		t.Errorf("as the dark system gives brightness %d", b)
	}
}
