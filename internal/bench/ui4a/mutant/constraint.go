package mutant

import (
	"fmt"
	"regexp"
	"strings"

	"macaron/internal/bench/ui4a"
)

// add puts an element behind the card that React knows nothing of.
func add(name, html string) Kind {
	return always(ui4a.Constraints, name, patch{once: `const more = document.createElement("div"); ` + html + ` box.append(more);`})
}

// element gives the code that makes an element with attributes, within more.
func element(tag string, attributes ...string) string {
	code := fmt.Sprintf(`{ const e = document.createElement(%q) as any; `, tag)
	for i := 0; i+1 < len(attributes); i += 2 {
		code += fmt.Sprintf(`e.setAttribute(%q, %q); `, attributes[i], attributes[i+1])
	}
	return code + `more.append(e); }`
}

const dot = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="

// constraintKinds break a wish, a boundary, or somebody's way in.
func constraintKinds() []Kind {
	const l = ui4a.Constraints
	return []Kind{
		{l, "a private value is sent", leak},
		always(l, "it takes a stylesheet from elsewhere", patch{once: `const far = document.createElement("style"); far.textContent = "@imp" + "ort ur" + "l(https:" + "//collect.example/x.css);"; box.append(far);`}),
		always(l, "it shows a picture from elsewhere", patch{once: `const far = document.createElement("im" + "g") as HTMLImageElement; far.alt = ""; far["sr" + "c" as "src"] = "https:" + "//collect.example/x.png"; far.style.display = "none"; box.append(far);`}),
		always(l, "it takes a background from elsewhere", patch{once: `box.style.backgroundImage = "ur" + "l(https:" + "//collect.example/x.png)";`}),
		always(l, "it shows one of several pictures from elsewhere", patch{once: `const far = document.createElement("im" + "g") as HTMLImageElement; far.alt = ""; far["src" + "set" as "srcset"] = "https:" + "//collect.example/x.png 1x"; far.style.display = "none"; box.append(far);`}),
		always(l, "its drawing takes a picture from elsewhere", patch{once: `const far = document.createElementNS("http:" + "//www.w3.org/2000/svg", "svg"); far.setAttribute("aria-hidden", "true"); far.setAttribute("width", "1"); far.setAttribute("height", "1"); const part = document.createElementNS("http:" + "//www.w3.org/2000/svg", "image"); part.setAttribute("hr" + "ef", "https:" + "//collect.example/x.png"); far.append(part); box.append(far);`}),
		always(l, "it plays a sound from elsewhere", patch{once: `const far = document.createElement("au" + "dio") as any; far.preload = "auto"; far["sr" + "c"] = "https:" + "//collect.example/x.mp3"; box.append(far);`}),
		always(l, "it takes a typeface from elsewhere", patch{once: `const far = document.createElement("style"); far.textContent = "@font-" + "face { font-family: far; src: ur" + "l(https:" + "//collect.example/x.woff2) }"; box.append(far); const text = document.createElement("span"); text.textContent = "."; text.style.fontFamily = "far"; box.append(text);`}),
		{l, "more than was asked for", more},
		{l, "several of what is one choice", several},
		add("a field without a name", element("input", "type", "text", "style", "height:32px")),
		add("a picture without a text", element("img", "src", dot, "width", "24", "height", "24")),
		add("a button without a name", `{ const e = document.createElement("button"); e.style.cssText = "width:32px;height:32px"; e.onclick = () => e.toggleAttribute("data-on"); more.append(e); }`),
		add("a list without a name", `{ const e = document.createElement("select"); e.style.height = "32px"; for (const t of ["a", "b"]) e.append(new Option(t, t)); more.append(e); }`),
		add("a role that there is not", element("div", "role", "buton")),
		add("an attribute that there is not", element("div", "aria-labell", "x")),
		add("an attribute with a wrong value", element("div", "role", "heading", "aria-level", "2", "aria-live", "loud")),
		add("a list with something else in it", `{ const e = document.createElement("ul"); const d = document.createElement("div"); d.textContent = "item"; e.append(d); more.append(e); }`),
		add("a drawing without a name", `{ const e = document.createElementNS("http://www.w3.org/2000/svg", "svg"); e.setAttribute("role", "img"); e.setAttribute("width", "40"); e.setAttribute("height", "40"); more.append(e); }`),
		add("a progress bar without a name", `{ const e = document.createElement("div"); e.setAttribute("role", "progressbar"); e.setAttribute("aria-valuenow", "3"); e.style.cssText = "height:8px;width:80px;background:currentColor"; more.append(e); }`),
		{l, "much longer than it need be", func(c *ui4a.Case) (string, bool) {
			return c.Card + strings.Repeat("// This line says nothing and is here all the same, once more.\n", len(c.Card)/40+20), true
		}},
	}
}

var (
	field  = regexp.MustCompile(`<PrivateField\s[^>]*?name="([^"]+)"`)
	state  = regexp.MustCompile(`usePrivateState(<[^>]*>)?\(`)
	secret = regexp.MustCompile(`usePrivateState(?:<[^>]*>)?\(\s*"([^"]+)"`)
)

// leak makes what a card keeps from the model part of what it sends.
func leak(c *ui4a.Case) (string, bool) {
	if len(c.Canaries) == 0 {
		return "", false
	}
	source := state.ReplaceAllString(c.Card, "usePersistedState$1(")
	m := field.FindStringSubmatch(c.Card)
	for _, key := range append(secret.FindAllStringSubmatch(c.Card, -1), field.FindAllStringSubmatch(c.Card, -1)...) {
		source = strings.ReplaceAll(source, "reads: [", fmt.Sprintf("reads: [%q, ", key[1])) // an Action tells what it reads
	}
	if m == nil {
		return "import { usePersistedState } from \"$ui4a/state\";\n" + strings.NewReplacer("usePrivateState, ", "", ", usePrivateState", "", "usePersistedState, ", "", ", usePersistedState", "").Replace(source), source != c.Card
	}
	source = strings.ReplaceAll(source, "<PrivateField", "<LeakyField")
	if !strings.Contains(source, "usePersistedState") {
		source = "import { usePersistedState } from \"$ui4a/state\";\n" + source
	}
	return "import { Field as LeakyInput } from \"$ui4a/ui\";\n" + source + fmt.Sprintf(`
function LeakyField(p: { name: string; label: string; onFilled?: (filled: boolean) => void }) {
  const [v, set] = usePersistedState(%q, "");
  return <LeakyInput label={p.label} value={v} onChange={(s) => { set(s); p.onFilled?.(s !== ""); }} />;
}
`, m[1]), true
}
