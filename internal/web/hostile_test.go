package web_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"macaron/internal/browser"
	"macaron/internal/mint"
	"macaron/internal/train/curve"
)

// nasty are names that a client may try to run something with, or to break the page.
var nasty = []string{
	`<img src=x onerror="window.hit=1">`, `"><script>window.hit=1</script>`, `</title><script>window.hit=1</script>`, `javascript:window.hit=1`,
	`' onmouseover='window.hit=1`, `${window.hit=1}`, `__proto__`, "\u202egnp.exe\u2066 \u05d0\u05d1\u05d2", "a\nb\r\nc\u2028d", "a\x00b\x1b[31mc", `100%zz%E0%A4%A`, `../../x?a#b`, strings.Repeat("W", 200),
}

// injected is an expression for how many elements are there that only a name can have made.
const injected = `document.querySelectorAll("#run :is(img, script, iframe, b), #sessions :is(img, script, iframe, b), h1 *, body > script, body > img").length + (window.hit ? 1 : 0)`

// away is an expression for how many links of the list lead off the page.
const away = `[...document.querySelectorAll("#sessions a")].filter((a) => a.origin + a.pathname !== location.origin + "/training").length`

// namedBadly serves training runs with such ids, bases, metrics and metadata.
func namedBadly(t *testing.T) string {
	t.Helper()
	files, runs := curve.Runs{Dir: t.TempDir()}, trained{}
	for i, name := range nasty {
		m := mint.Model{ID: name, Owner: "o", Base: name, Steps: 3, Created: time.Unix(1e9, 0), Metadata: []byte(`{"steps":` + quote(name) + `}`)}
		if i == len(nasty)-1 {
			m.Base = strings.Repeat(name, 100)
		}
		runs = append(runs, m)
		for step := 1.0; step <= 3; step++ {
			l := curve.Line{"step": step, "reward": math.MaxFloat64 * (step - 2), "kl": 5e-324 * step, `<img src=x onerror="window.hit=1">`: 1, "__proto__": 1, "constructor": step}
			if err := files.Add("o", name, l.Stamp(time.Unix(1e9+int64(step), 0), 500, time.Second)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return trainingOf(t, files, runs)
}

func TestNamesOfTrainingRunsAreText(t *testing.T) {
	address := namedBadly(t)
	for _, view := range []browser.View{desktop, {Width: 390, Height: 844, Touch: true, Dark: true}} {
		v := look(t, address+"/training", view)
		v.wait(fmt.Sprintf(`document.querySelectorAll("#sessions a").length === %d`, len(nasty)))
		for i, name := range nasty {
			v.number(fmt.Sprintf(`(document.querySelectorAll("#sessions a")[%d].click(), 0)`, i))
			v.wait(of(".about .name") + ` === ` + quote(name) + ` && ` + of("#title") + `.startsWith(` + quote(name) + `) && document.querySelectorAll(".chart .curve").length === 4`)
			if n := v.number(injected); n != 0 {
				t.Errorf("%q became markup, or ran", name)
			}
			if wide := v.number(`document.documentElement.scrollWidth`); wide > view.Width {
				t.Errorf("with %.20q the page is %d px wide", name, wide)
			}
			if bad := v.text(`[...document.querySelectorAll(".curve")].map((e) => e.getAttribute("d")).filter((d) => /NaN|Infinity/.test(d)).join()`); bad != "" {
				t.Errorf("a curve is %s", bad)
			}
		}
		if v.number(away) != 0 {
			t.Error("a link of the list leads off the page")
		}
		v.quiet()
		// An address that is badly escaped, and one of a run that is not there, are told; then another run is chosen.
		v.number(`(location.hash = "#%E0%A4%A", 0)`)
		v.wait(`!document.querySelector("#notice").hidden`)
		v.number(`(document.querySelector("#sessions a").click(), 0)`)
		v.wait(`document.querySelector("#notice").hidden && ` + of(".about .name") + ` === ` + quote(nasty[0]))
	}
}
