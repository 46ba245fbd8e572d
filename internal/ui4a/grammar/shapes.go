package grammar

import (
	"cmp"
	"fmt"
	"strings"
)

// shape is a kind of card: what it imports, what it declares, and its elements. Imports
// are the same in all cards of a shape, so that with them a model has chosen one.
type shape struct {
	name          string
	ui            string // names of $ui4a/ui
	before, after string // imports before and after them
	declare       string // statements of the component
	root          string // the outermost box; Card when empty
	most          int    // children of it; 0: maxChildren
	own           []string
}

const (
	chat    = "import { sendMessage } from \"$ui4a/chat\";\n"
	charted = "import { Chart } from \"$ui4a/charts\";\n"
	held    = "import { usePersistedState } from \"$ui4a/state\";\n"
)

// kept declares state that the host keeps.
func kept(name, initial string) string {
	return fmt.Sprintf("const [%s, set%s] = usePersistedState(%q, %s);", name, strings.ToUpper(name[:1])+name[1:], name, initial)
}

// inForm is a key of the object form, with what a missing one stands for; inRecord one of another.
func inForm(missing string) bound {
	return bound{"value": "form[«s»] ?? " + missing, "checked": "!!form[«s»]", "onChange": "(v) => set(«s», v)"}
}

func inRecord(name string) bound {
	set := "set" + strings.ToUpper(name[:1]) + name[1:]
	return bound{"label": "i", "checked": "!!" + name + "[i]", "onChange": "(v) => " + set + "({ ..." + name + ", [i]: v })"}
}

// press is a button that runs code.
func press(code, inside string) string {
	return around("Button", bound{"onClick": "() => " + code}, inside)
}

// each draws an element for every one of a list.
func each(items, as, element string) string {
	at := strings.Index(element, " ") // behind the name
	return lit("{"+items+".map(("+as+") => ") + " " + element[:at-1] + fmt.Sprintf(" key={%s}", as) + `"` + element[at:] + " " + lit(")}")
}

// told is an alert while a condition holds.
func told(when string) string {
	return fill("{"+when+" && ") + " " + around("Alert", nil, "said") + ` "}"`
}

func num(name string) bound {
	return bound{"value": name, "onChange": "set" + strings.ToUpper(name[:1]) + name[1:]}
}

var shapes = []shape{
	{name: "chart", ui: "Card", before: charted, most: 2, declare: "const data = [«points»];", own: []string{plot}},
	{name: "table", ui: "Card, Table", most: 2, declare: "const rows = [«records»];", own: []string{grid}},
	{name: "facts", ui: "Card, Stat", own: []string{leaf("Stat", nil)}},
	{name: "progress", ui: "Card, Progress, Badge", own: []string{leaf("Progress", nil), around("Badge", nil, "said")}},
	{name: "choice", ui: "Card, Row, Button", after: chat, declare: "const options = «strings»;", own: []string{inRow(each("options", "o", press("sendMessage(o)", `"{o}"`)))}},
	{name: "compare", ui: "Card, Row, Badge, Button", after: chat, root: "Row", own: []string{inCard(around("Badge", nil, "said"), send)}},
	{name: "board", ui: "Stack, Card, Row, Stat, Badge, Progress, Alert, Button", after: chat, root: "Stack", own: []string{
		inCard(append(lines, inLineOf(lines...))...), leaf("Stat", nil), around("Alert", nil, "said"), send}},
	{name: "form", before: held, ui: "Card, Field, Button", after: chat, declare: form, own: []string{field, submit}},
	{name: "inputs", before: held, ui: "Card, Field, Select, RadioGroup, NumberField, Slider, Checkbox, Switch, Button", after: chat, declare: form,
		own: []string{field, leaf("Select", inForm(`""`)), leaf("RadioGroup", inForm(`""`)), leaf("NumberField", inForm("«num»")),
			leaf("Slider", inForm("«num»")), leaf("Checkbox", inForm("")), leaf("Switch", inForm("")), submit}},
	{name: "checks", before: held, ui: "Card, Checkbox", declare: "const items = «strings»;\n  " + kept("done", "{}"), own: []string{each("items", "i", leaf("Checkbox", inRecord("done")))}},
	{name: "toggles", before: held, ui: "Card, Switch", declare: "const items = «strings»;\n  " + kept("on", "{}"), own: []string{each("items", "i", leaf("Switch", inRecord("on")))}},
	{name: "level", before: held, ui: "Card, Slider, Button", after: chat, declare: kept("value", "«num»"),
		own: []string{leaf("Slider", num("value")), press(`sendMessage(«s» + ": " + value)`, `("{value}" (" " said)? | said)`)}},
	{name: "count", before: held, ui: "Card, Stat, Row, Button", declare: kept("n", "«num»"),
		own: []string{leaf("Stat", bound{"value": "n"}), inRow(press(`setN(n «("+" | "-")» «whole»)`, "said"), press("setN(«num»)", "said"))}},
	{name: "dice", before: held, ui: "Card, Stat, Button", declare: kept("n", "«num»"),
		own: []string{leaf("Stat", bound{"value": "n"}), press("setN(1 + Math.floor(Math.random() * «whole»))", "said")}},
	{name: "rating", before: held, ui: "Card, Row, Button", after: chat, declare: kept("stars", "0"),
		own: []string{inRow(each("[1, 2, 3, 4, 5]", "n", press(`{ setStars(n); sendMessage(n + " " + «s»); }`, lit(`{n <= stars ? "★" : "☆"}`))))}},
	{name: "timer", before: held, ui: "Card, Stat, Button", declare: kept("left", "«whole»") + "\n  const [on, setOn] = useState(false);\n  useEffect(() => {\n    if (!on || left === 0) return;\n" +
		"    const id = setTimeout(() => setLeft(left - 1), 1000);\n    return () => clearTimeout(id);\n  }, [on, left]);",
		own: []string{leaf("Stat", bound{"value": `Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0")`}), press("setOn(!on)", lit(`{on ? "❚❚" : "▶"}`))}},
	{name: "tip", before: held, ui: "Card, NumberField, Slider, Stat", declare: kept("bill", "«num»") + "\n  " + kept("tip", "«num»"),
		own: []string{leaf("NumberField", num("bill")), leaf("Slider", num("tip")), leaf("Stat", bound{"value": "(bill * (1 + tip / 100)).toFixed(2)"})}},
	{name: "quiz", before: held, ui: "Card, RadioGroup, Alert", declare: kept("picked", `""`), own: []string{leaf("RadioGroup", num("picked")),
		told(`picked === «s»`), told(`picked !== "" && picked !== «s»`)}},
}

// The elements of more than one shape.
var (
	form   = kept("form", "{}") + "\n  const set = (key, value) => setForm({ ...form, [key]: value });"
	field  = leaf("Field", inForm(`""`))
	submit = press("sendMessage(JSON.stringify(form))", "said")
	send   = press("sendMessage(«s»)", "said")
	lines  = []string{leaf("Stat", nil), leaf("Progress", nil), around("Badge", nil, "said"), around("Alert", nil, "said"), `"<p>" said "</p>"`, send}
	plot   = of(charts, "Chart", bound{"data": "data", "x": `"name"`, "y": `"value"`})
	grid   = leaf("Table", bound{"rows": "rows", "columns": `[{ key: "name", label: «s» }, { key: "value", label: «s» }« (", { key: \"note\", label: " s " }")? »]`})
)

// shape writes the rules of one.
func (w *writer) shape(s shape) {
	head := s.before + "import { " + s.ui + " } from \"$ui4a/ui\";\n" + s.after
	declare := ""
	if s.declare != "" {
		declare = fill("  " + s.declare + "\n")
	}
	w.rule(s.name+"-leaf", strings.Join(s.own, " | "))
	w.rule(s.name, strings.Join([]string{lit(head + "\nexport default function View() {\n"), declare, lit("  return (\n    "), box(cmp.Or(s.root, "Card"), 2, cmp.Or(s.most, maxChildren), s.name+"-leaf | p"), lit("\n  );\n}")}, " "))
}

// box is an element with children on lines of their own, whose tag stands at a depth.
func box(name string, depth, most int, children string) string {
	line := "\n" + strings.Repeat("  ", depth)
	return around(name, nil, fmt.Sprintf("(%s (%s)){1,%d} %s", lit(line+"  "), children, most, lit(line)))
}

// inRow and inCard are boxes of the outermost box, inLineOf is one of theirs.
func inRow(children ...string) string {
	return box("Row", 3, maxChildren, strings.Join(children, " | "))
}
func inCard(children ...string) string {
	return box("Card", 3, maxChildren, strings.Join(children, " | "))
}
func inLineOf(children ...string) string {
	return box("Row", 4, maxChildren, strings.Join(children, " | "))
}

// data are the rules that shapes share.
func (w *writer) data() {
	w.rule("p", `"<p>" said "</p>"`)
	w.rule("points", list(fill("{ name: «s», value: «num» }"), maxItems))
	w.rule("records", list(`"{ name: " s ", value: " value (", note: " value)? " }"`, maxItems))
}
