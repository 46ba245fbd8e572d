package mutant

import (
	"strings"

	"macaron/internal/bench/ui4a"
)

// texts selects what a style is put on: elements that hold text and are no controls.
const texts = `[...box.querySelectorAll("h1,h2,h3,p,span,strong,dt,dd,td,th,li,label,div")].filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && (n as Text).data.trim())) as HTMLElement[]`

// visualKinds make a card ugly or illegible, and leave it usable.
func visualKinds() []Kind {
	const l = ui4a.Visual
	each := func(style string) string { return "for (const e of " + texts + ") { " + style + " }" }
	heading := `const head = box.querySelector("h2,h1,h3,legend,p") as HTMLElement | null;`
	return []Kind{
		always(l, "wider than the screen", patch{change: `box.style.width = "640px";`}),
		always(l, "a least width", patch{change: `const first = box.firstElementChild as HTMLElement | null; if (first) first.style.minWidth = "560px";`}),
		always(l, "pushed off to the left", patch{change: `box.style.marginLeft = "-20px"; box.style.width = "calc(100% + 20px)";`}),
		always(l, "pushed off to the right", patch{change: `box.style.marginLeft = "70px"; box.style.width = "100%";`}),
		always(l, "a word that does not break", patch{after: `<p style={{ whiteSpace: "nowrap" }}>{"0123456789".repeat(9)}</p>`}),
		always(l, "lines that do not break", patch{after: `<p style={{ whiteSpace: "nowrap" }}>{"all of it on one line ".repeat(6)}</p>`}),
		always(l, "a heading cut off below", patch{change: heading + ` if (head) { head.style.height = "9px"; head.style.overflow = "hidden"; }`}),
		always(l, "a heading cut off at its side", patch{change: heading + ` if (head) { head.style.width = "24px"; head.style.whiteSpace = "nowrap"; head.style.overflow = "hidden"; }`}),
		always(l, "text upon text", patch{change: heading + ` let over = box.querySelector("#over") as HTMLElement | null; if (head && !over) { over = document.createElement("span"); over.id = "over"; over.textContent = head.textContent;
      const a = head.getBoundingClientRect(), b = box.getBoundingClientRect(); over.style.cssText = "position:absolute;pointer-events:none;left:" + (a.left - b.left) + "px;top:" + (a.top - b.top) + "px"; box.append(over); }`}),
		always(l, "lines upon each other", patch{after: `<p style={{ lineHeight: "5px", width: 160 }}>{"these lines lie upon each other ".repeat(4)}</p>`}),
		always(l, "too little contrast", patch{change: each(`e.style.color = "#a9a9a9";`)}),
		always(l, "too little contrast in the dark", patch{change: each(`e.style.color = "#222";`)}),
		always(l, "too little contrast in the light", patch{change: each(`e.style.color = "#eee";`)}),
		always(l, "pale text", patch{change: each(`e.style.opacity = "0.35";`)}),
		always(l, "small type", patch{change: each(`e.style.fontSize = "9px";`)}),
		always(l, "a very small note", patch{after: `<p style={{ fontSize: 8 }}>{"a note"}</p>`}),
		always(l, "half of it rather small", patch{change: each(`e.style.fontSize = "12.5px";`)}),
		{l, "small buttons", func(c *ui4a.Case) (string, bool) { // one alone with space around it is large enough (WCAG 2.5.8)
			source, ok := wrap(c.Card, patch{change: `for (const b of box.querySelectorAll("button")) b.style.cssText += ";min-height:0!important;height:14px!important;padding:0 2px!important;font-size:12px!important;line-height:1!important";`})
			return source, ok && strings.Count(c.Card, "<Button") > 1
		}},
		always(l, "much too high", patch{after: `<div style={{ display: "grid", gap: 380 }}>{["one", "two", "three", "four", "five", "six", "seven"].map((t) => <p key={t}>{t}</p>)}</div>`}),
		always(l, "a large hole", patch{after: `<div style={{ height: 1400 }} /><p>{"the end"}</p>`}),
	}
}
