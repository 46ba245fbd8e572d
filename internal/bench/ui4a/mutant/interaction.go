package mutant

import (
	"regexp"
	"slices"
	"strings"

	"macaron/internal/bench/ui4a"
)

// dead keeps events from elements of a selector.
func dead(selector, events string) string {
	return `for (const type of ` + events + `) box.addEventListener(type, (e) => { if ((e.target as Element).closest?.(` + js(selector) + `)) { e.stopPropagation(); e.preventDefault(); } }, true);`
}

const presses = `["click", "pointerdown", "mousedown", "keydown", "change", "input"]`

// interactionKinds take the life out of a card, and leave its looks.
func interactionKinds() []Kind {
	const l = ui4a.Interaction
	return []Kind{
		where(l, "the first button is dead", patch{change: `box.querySelector("button:not([role])")?.setAttribute("data-dead", "");`, once: dead("[data-dead]", presses)}, "<Button"),
		where(l, "the last button is dead", patch{change: `const all = box.querySelectorAll("button:not([role])"); all[all.length - 1]?.setAttribute("data-dead", "");`, once: dead("[data-dead]", presses)}, "<Button"),
		where(l, "all buttons are dead", patch{once: dead("button:not([role])", presses)}, "<Button"),
		where(l, "tabs are inert", patch{once: dead("[role=tab]", presses)}, "<Tabs"),
		where(l, "choices are inert", patch{once: dead("input[type=radio],[role=radio],input[type=checkbox],[role=checkbox],[role=switch],label", presses)}, "<RadioGroup", "<Checkbox", "<Switch"),
		where(l, "fields take nothing", patch{once: `box.addEventListener("beforeinput", (e) => e.preventDefault(), true); ` + dead("select", presses)}, "<Field", "<NumberField", "<Select", "<textarea"),
		where(l, "sliders do not move", patch{once: dead("[role=slider],input[type=range]", `["keydown", "pointerdown", "mousedown"]`)}, "<Slider"),
		where(l, "keys do not press buttons", patch{once: `box.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); e.stopPropagation(); } }, true);`}, "<Button"),
		{l, "Tab passes buttons by", func(c *ui4a.Case) (string, bool) { // the Tab key is tried at the start, when a disabled button is no stop
			source, ok := wrap(c.Card, patch{change: `for (const b of box.querySelectorAll("button")) if (b.tabIndex !== -1) b.tabIndex = -1;`})
			return source, ok && strings.Contains(c.Card, "<Button") && !strings.Contains(c.Card, "disabled=")
		}},
		where(l, "focus is not seen", patch{once: `const quiet = document.createElement("style"); quiet.textContent = "* { outline: none !important; box-shadow: none !important }"; document.head.append(quiet);`}, "<Button", "<Field", "<Slider", "<Checkbox", "<Tabs"),
		where(l, "the last button stays disabled", patch{change: `const all = box.querySelectorAll("button:not([role])"); const end = all[all.length - 1] as HTMLButtonElement; if (end && !end.disabled) end.disabled = true;`}, "<Button"),
		where(l, "a button lets clicks through", patch{change: `const b = box.querySelector("button:not([role])") as HTMLElement | null; if (b && b.style.pointerEvents !== "none") b.style.pointerEvents = "none";`}, "<Button"),
		where(l, "something invisible lies over it", patch{after: `<div style={{ position: "absolute", inset: 0, zIndex: 9 }} />`}, "<Button", "<Field", "<Slider", "<Checkbox", "<Tabs", "<Select", "<RadioGroup"),
		sends("it sends twice", "send(v); return send(v);"),
		sends("it sends nothing", "return Promise.resolve({ outcome: \"kept\" as const, message: \"\" });"),
		sends("it sends something else", "return send((typeof v === \"string\" ? \"something else\" : { name: \"other\" }) as any);"),
		// Not dblclick: there is none where the first click puts another element in the place.
		where(l, "it breaks on a double click", patch{once: `box.addEventListener("click", (e) => { if (e.detail === 2) throw new Error("broken by a double click"); });`}, "<Button"),
		{l, "it breaks on long input", func(c *ui4a.Case) (string, bool) {
			source, ok := wrap(c.Card, patch{once: `box.addEventListener("input", (e) => { if (((e.target as HTMLInputElement).value ?? "").length > 100) throw new Error("broken by long input"); });`})
			return source, ok && takesText(c.Card)
		}},
		where(l, "it breaks on empty input", patch{once: `box.addEventListener("input", (e) => { if ((e.target as HTMLInputElement).value === "") throw new Error("broken by empty input"); });`}, "<Field", "<NumberField", "<textarea"),
		{l, "it sends by itself", func(c *ui4a.Case) (string, bool) {
			source, ok := wrap(c.Card, patch{imports: `import { sendMessage as mutantSend } from "$ui4a/chat";`, once: `mutantSend("nobody has pressed anything");`})
			return source, ok && sending(c)
		}},
		where(l, "number fields are inert", patch{once: dead("input[type=number],.ui-step", presses+`.concat("beforeinput")`)}, "<NumberField"),
		where(l, "Tab does not leave the first control", patch{once: `box.addEventListener("keydown", (e) => { if (e.key === "Tab") e.preventDefault(); }, true);`}, "<Button", "<Field"),
	}
}

// takesText: a card has a field that any text goes into. What is typed into a PrivateField
// no script of a card sees, and a date is never long.
func takesText(source string) bool {
	return slices.ContainsFunc(fields.FindAllString(source, -1), func(tag string) bool { return !dated.MatchString(tag) })
}

var (
	fields = regexp.MustCompile(`<(?:Field|textarea)\s[^\n]*`)
	dated  = regexp.MustCompile(`type="(?:date|time|month|week|datetime-local)"`)
)

// sending: Actions are part of what the case asks for.
func sending(c *ui4a.Case) bool {
	return slices.ContainsFunc(c.Steps, func(s ui4a.Step) bool { return len(s.Then.Actions) > 0 })
}

// sends changes what becomes of Actions: the functions of $ui4a/chat are replaced.
func sends(name, body string) Kind {
	return Kind{ui4a.Interaction, name, func(c *ui4a.Case) (string, bool) {
		_, after, ok := strings.Cut(c.Card, "import {")
		if !sending(c) || !ok || !strings.Contains(after, `"$ui4a/chat"`) {
			return "", false
		}
		source, tail := c.Card, ""
		for _, f := range []string{"sendMessage", "sendAction"} {
			if strings.Contains(source, f+"(") {
				source = strings.ReplaceAll(source, f+"(", "mutant_"+f+"(")
				tail += "function mutant_" + f + "(v: any) { const send = " + f + " as (v: any) => Promise<any>; " + body + " }\n"
			}
		}
		return source + tail, tail != ""
	}}
}
