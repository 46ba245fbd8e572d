package gallery_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"macaron/internal/axe"
	"macaron/internal/browser"
	"macaron/internal/ui4a/gallery"
	"macaron/internal/ui4a/library"
)

var phone = browser.View{Width: 390, Height: 844, Touch: false}

// Whatever the library has stands on a card of the gallery.
func TestEveryComponentHasACard(t *testing.T) {
	var sources strings.Builder
	for _, c := range gallery.Cards() {
		sources.WriteString(c.Source)
	}
	for _, m := range library.Modules() {
		for _, e := range m.Exports {
			if e.Kind == library.Component && !strings.Contains(sources.String(), "<"+e.Name) {
				t.Errorf("no card shows %s of %s", e.Name, m.Name)
			}
		}
	}
}

// opened are the cards of which something is hidden at first, and the keys that show it.
var opened = map[string]string{"dialog": browser.Tab + browser.Enter, "tooltip": browser.Tab}

// finding is one of axe-core's.
type finding struct {
	Rule, Impact, Where, Why string
}

// Each card is looked at in both themes, and then walked through by keyboard. Only colours
// differ between the themes: the dark one is asked for contrast alone.
func TestNothingSeriousIsFoundAndEveryControlIsReached(t *testing.T) {
	s := newStage(t, phone)
	for _, c := range gallery.Cards() {
		s.show(c.Name, c.Source)
		s.themes(c.Name)
		s.walk(c.Name)
		if keys := opened[c.Name]; keys != "" {
			s.show(c.Name, c.Source)
			s.must(s.Press(keys))
			s.wait(`document.querySelector("dialog[open], [role=tooltip]")`)
			s.themes(c.Name + ", opened")
		}
		if wide := s.text(`String(document.documentElement.scrollWidth - innerWidth)`); wide != "0" && !strings.HasPrefix(wide, "-") {
			t.Errorf("%s is %s px wider than the view", c.Name, wide)
		}
		for _, kind := range []string{"error", "violation", "problem", "blank", "finding"} {
			if told := s.told(kind); len(told) > 0 {
				t.Errorf("%s: %s: %v", c.Name, kind, told)
			}
		}
	}
}

// What axe-core is asked. Rules on whole pages say nothing of a card.
const (
	allRules = `{resultTypes: ["violations"], rules: {region: {enabled: false}, "landmark-one-main": {enabled: false}, "page-has-heading-one": {enabled: false}}}`
	contrast = `{resultTypes: ["violations"], runOnly: {type: "rule", values: ["color-contrast"]}}`
)

func (s *stage) themes(what string) {
	s.t.Helper()
	s.theme("dark")
	s.check(what+", dark", contrast)
	s.theme("light")
	s.check(what+", light", allRules)
}

func (s *stage) theme(scheme string) {
	s.t.Helper()
	s.look(fmt.Sprintf(`(tell({t: "theme", theme: {scheme: %q}}), true)`, scheme))
	s.wait(fmt.Sprintf(`document.documentElement.dataset.theme === %q`, scheme))
}

// axeOnce puts axe-core into the document.
var axeOnce = axe.Script + "\n;true"

// check runs axe-core over the document.
func (s *stage) check(what, rules string) {
	s.t.Helper()
	if !s.look(`!!globalThis.axe`) {
		s.look(axeOnce)
	}
	found := s.text(`axe.run(document, ` + rules + `).then((r) => JSON.stringify(r.violations.flatMap((v) => v.nodes.map((n) =>
		({Rule: v.id, Impact: v.impact, Where: n.target.join(" "), Why: n.failureSummary})))))`)
	var all []finding
	s.must(json.Unmarshal([]byte(found), &all))
	for _, f := range all {
		if slices.Contains([]string{"serious", "critical"}, f.Impact) {
			s.t.Errorf("%s: %s (%s) at %s: %s", what, f.Rule, f.Impact, f.Where, f.Why)
		}
	}
}

// The check finds what is wrong: an empty button, and text that cannot be read.
func TestTheCheckFindsWhatIsWrong(t *testing.T) {
	s := newStage(t, phone)
	s.show("bad", `const Drawn = () => <svg />; export default () => <div><button onClick={() => 0}><Drawn /></button><p style={{ color: "#ddd", background: "#fff" }}>pale</p></div>;`)
	s.look(axeOnce)
	got := s.text(`axe.run(document).then((r) => r.violations.map((v) => v.id).join(" "))`)
	for _, want := range []string{"button-name", "color-contrast"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not among %s", want, got)
		}
	}
}
