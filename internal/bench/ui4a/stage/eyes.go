package stage

import (
	"encoding/json"
	"fmt"
	"math"

	"macaron/internal/bench/ui4a"
	"macaron/internal/browser"
)

// survey takes everything that can be seen of a card that nobody has touched.
func (x *screen) survey(c *ui4a.Case, e *ui4a.Evidence) error {
	var err error
	if e.Start, err = x.state(); err != nil {
		return err
	}
	if e.Layout, err = browser.Look[ui4a.Layout](x.doc, fmt.Sprintf("layout.measure(%d)", e.View.Height)); err != nil {
		return err
	}
	if e.Roles, err = browser.Look[[]ui4a.Element](x.doc, "probe.roles()"); err != nil {
		return err
	}
	if e.Charts, err = browser.Look[int](x.doc, "probe.charts()"); err != nil {
		return err
	}
	if e.Pictures, err = browser.Look[[]ui4a.Picture](x.doc, `probe.picture("data:")`); err != nil {
		return err
	}
	for i := range e.Pictures { // their names, not their data
		src := e.Pictures[i].Src
		e.Pictures[i].Src = ""
		for name, data := range c.Assets {
			if url := dataURL(data); src == url[:min(len(url), len(src))] {
				e.Pictures[i].Src = name
			}
		}
	}
	return nil
}

// widths looks at what overflows at further widths, and comes back.
func (x *screen) widths(e *ui4a.Evidence) error {
	e.Other = map[string][]string{}
	for _, w := range []int{320, 768} {
		if err := x.tab.look(ui4a.View{Width: w, Height: e.View.Height}, false); err != nil {
			return err
		}
		over, err := browser.Look[[]string](x.doc, `new Promise((done) => setTimeout(() => done(layout.overflow()), 60))`)
		if err != nil {
			return err
		}
		e.Other[fmt.Sprint(w)] = over
	}
	return x.tab.look(e.View, false)
}

// audit runs axe-core in both themes: everything in the light one, contrast in the dark,
// which is looked at on the first of the screens.
func (x *screen) audit(e *ui4a.Evidence) error {
	if _, err := browser.Look[bool](x.doc, x.tab.stage.axe+"\n;true"); err != nil {
		return err
	}
	light, err := x.axe("light", auditRules)
	if err != nil || e.View != ui4a.Views[0] { // colours are the same on every screen
		e.Axe = light
		return err
	}
	if err := x.theme(true); err != nil {
		return err
	}
	if _, err := browser.Look[bool](x.doc, `new Promise((done) => setTimeout(() => done(true), 60))`); err != nil {
		return err
	}
	dark, err := x.axe("dark", `{runOnly: {type: "rule", values: ["color-contrast"]}}`)
	if err != nil {
		return err
	}
	e.Axe = append(light, dark...)
	return x.theme(false)
}

// auditRules are WCAG 2.2 A and AA, without what is the page's affair and not a card's.
const auditRules = `{runOnly: {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]},
	rules: {"html-has-lang": {enabled: false}, "document-title": {enabled: false}, "bypass": {enabled: false}, "target-size": {enabled: false}}}`

func (x *screen) axe(theme, options string) ([]ui4a.Violation, error) {
	text, err := browser.Look[string](x.doc, `axe.run(document, Object.assign(`+options+`, {resultTypes: ["violations"]})).then((r) => JSON.stringify(r.violations.flatMap((v) => v.nodes.slice(0, 5).map((n) => ({
		id: v.id, impact: n.impact || v.impact || "", help: v.help, target: n.target.flat().join(" ").slice(0, 200) + (n.any[0]?.data?.contrastRatio ? " " + n.any[0].data.contrastRatio + " of " + n.any[0].data.expectedContrastRatio : "")})))))`)
	if err != nil {
		return nil, err
	}
	var found []ui4a.Violation
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		return nil, err
	}
	for i := range found {
		found[i].Theme = theme
	}
	return found, nil
}

// shoot takes a picture of the top of the page, three screens at most.
func (x *screen) shoot() ([]byte, error) {
	height, err := browser.Eval[float64](x.tab.page, `document.documentElement.scrollHeight`)
	if err != nil {
		return nil, err
	}
	v := x.tab.view
	return x.tab.page.Picture(float64(v.Width), math.Min(math.Max(height, 200), 3*float64(v.Height)))
}

func stepName(n int) string { return fmt.Sprintf("step-%02d", n) }

// stepFile is the file of a picture.
func stepFile(v ui4a.View, name string) string { return fmt.Sprintf("%d-%s.webp", v.Width, name) }
