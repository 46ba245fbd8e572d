package mutant

import (
	"fmt"
	"slices"
	"strings"

	"macaron/internal/bench/ui4a"
)

// more puts behind the card what a wish of the case keeps out. It is one kind for all such
// wishes, since each of them alone is in few cases.
func more(c *ui4a.Case) (string, bool) {
	for _, p := range c.Predicate {
		if jsx := excess(p); jsx != "" {
			return wrap(c.Card, patch{after: jsx})
		}
	}
	return "", false
}

// excess is JSX with which a wish is not met; "" where the wish is for something.
func excess(p ui4a.Predicate) string {
	switch p.Is {
	case "no_chart":
		return `<svg role="img" aria-label="chart" width="200" height="100"><path d="M0 90 60 40 120 70 200 10" stroke="currentColor" fill="none" /></svg>`
	case "max_words":
		return "<p>{" + js(strings.Repeat("more ", p.N+1)) + "}</p>"
	case "at_most", "exactly":
		if p.N == len(p.Of) {
			return ""
		}
		var all []string
		for _, t := range p.Of {
			all = append(all, plain(t))
		}
		return "<p>{" + js(strings.Join(all, ", ")) + "}</p>"
	case "lacks":
		return control(p.Role, plain(p.Name))
	case "count_at_most":
		return strings.Repeat(control(p.Role, "More"), p.N+1)
	}
	return ""
}

// plain is the first alternative of an expression, as a text.
func plain(expression string) string {
	first, _, _ := strings.Cut(strings.Trim(expression, "^$"), "|")
	return first
}

// control is a control of the first of some roles that works, is named, and large enough.
func control(roles, name string) string {
	role, _, _ := strings.Cut(roles, "|")
	if name == "" {
		name = "More"
	}
	switch role {
	case "button":
		return fmt.Sprintf(`<button type="button" style={{ minHeight: 32 }} onClick={(e) => e.currentTarget.toggleAttribute("data-on")}>{%s}</button>`, js(name))
	case "switch":
		role = "checkbox"
	}
	return fmt.Sprintf(`<label style={{ display: "block", minHeight: 28 }}><input type=%q style={{ width: 24, height: 24 }} />{%s}</label>`, role, js(name))
}

// several makes boxes to tick of what is one choice, two of them ticked.
func several(c *ui4a.Case) (string, bool) {
	wanted := slices.ContainsFunc(c.Predicate, func(p ui4a.Predicate) bool { return p.Is == "single_choice" })
	return strings.ReplaceAll(c.Card, "<RadioGroup", "<MutantBoxes") + boxes, wanted && strings.Contains(c.Card, "<RadioGroup")
}

const boxes = `
function MutantBoxes(p: any) {
  const all = p.options.map((o: any) => (typeof o === "object" ? o : { value: o, label: o }));
  const [on, setOn] = useState([p.value, all.filter((o: any) => o.value !== p.value).pop()?.value]);
  const toggle = (v: any) => { setOn(on.includes(v) ? on.filter((x: any) => x !== v) : [...on, v]); p.onChange(v); };
  return (
    <fieldset>
      <legend>{p.label}</legend>
      {all.map((o: any) => <label key={o.value} style={{ display: "block", minHeight: 28 }}><input type="checkbox" style={{ width: 24, height: 24 }} checked={on.includes(o.value)} onChange={() => toggle(o.value)} />{o.label}</label>)}
    </fieldset>
  );
}
`
