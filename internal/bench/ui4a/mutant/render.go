package mutant

import (
	"strings"

	"macaron/internal/bench/ui4a"
)

// renderKinds break a card so that it does not compile, mount, or stay quiet.
func renderKinds() []Kind {
	const l = ui4a.CompileRender
	return []Kind{
		{l, "a brace too many", func(c *ui4a.Case) (string, bool) { return c.Card + "}\n", true }},
		edit(l, "no default export", "export default function", "function"),
		edit(l, "import of a foreign package", "import ", "import chunk from \"lodash\";\nimport "),
		edit(l, "import of what there is not", "import ", "import { Hologram } from \"$ui4a/ui\";\nimport "),
		edit(l, "subscript as an element", "return (", "const parts = [Card];\n  return <parts[0] />;\n  return ("),
		edit(l, "unknown prop", "<Card ", "<Card wobble=\"much\" "),
		{l, "default export with the name of an import", func(c *ui4a.Case) (string, bool) {
			name, _, ok := inner(c.Card)
			return replaceOnce(c.Card, "export default function "+name+"(", "export default function Card("), ok && name != "Card"
		}},
		always(l, "throws when it is drawn", patch{body: `if (mutantPlace) throw new Error("broken when drawn");`}),
		always(l, "throws in an effect", patch{once: `if (box) throw new Error("broken in an effect");`}),
		always(l, "a component that is undefined", patch{module: "const Gone = [].pop() as any;", after: "<Gone />"}),
		always(l, "an object as a child", patch{module: "const thing = [{ a: 1 }] as any;", after: "{thing}"}),
		always(l, "draws itself without end", patch{
			imports: `import { useState as useMutantState } from "react";`,
			body:    `const [turn, setTurn] = useMutantState(0); useMutantEffect(() => setTurn(turn + 1), [turn]);`,
		}),
		{l, "shows nothing", func(c *ui4a.Case) (string, bool) {
			at := strings.LastIndex(c.Card, "\n  return (") // of the card; helpers stand before it
			if at < 0 {
				return "", false
			}
			return c.Card[:at] + "\n  if (Date.now() > 0) return null;" + c.Card[at:], true
		}},
		always(l, "console.error", patch{once: `console.error("something is wrong");`}),
		always(l, "an exception later", patch{once: `setTimeout(() => { throw new Error("broken later"); }, 0);`}),
		always(l, "a rejection that nobody takes", patch{once: `Promise.reject(new Error("broken promise"));`}),
		always(l, "thousands of elements", patch{after: `<div style={{ display: "none" }}>{Array.from({ length: 3100 }, (_, i) => <i key={"k" + i} />)}</div>`}),
		always(l, "a long task", patch{once: `let sum = 0; for (let i = 0; i < 3e8; i++) sum += Math.sqrt(sum + i); box.title = sum > 0 ? "" : "x";`}),
		always(l, "another markup at each mount", patch{once: `box.dataset.at = String(Math.random());`}),
		always(l, "another class at each mount", patch{once: `box.className = "c" + String(Math.random()).slice(2);`}),
	}
}
