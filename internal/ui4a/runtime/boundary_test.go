package runtime_test

import (
	"testing"
)

const button = `style: {position: "absolute", left: 0, top: 0, width: 100, height: 40}`

func TestACardOnASurface(t *testing.T) {
	r := openRig(t, shared, rigServer(t).URL)

	t.Run("its state is the host's, and an Action reads it", func(t *testing.T) {
		r.t = t
		r.show("r1", "s", `const [n, set] = S.usePersistedState("n", 3);
			return h("div", {style: {height: 120}}, h("button", {`+button+`, onClick: () => { set(n + 1); C.sendAction({name: "add", reads: ["n", "other"]}); }}, "add " + n));`, "n", "secret")
		r.wait(`rig.state.n === 3 && document.querySelector("iframe").getBoundingClientRect().height === 144`)
		r.at(20, 20)
		r.wait(`rig.actions.length === 1 && rig.actions[0].name === "add" && rig.actions[0].state.n === 4 && !("other" in rig.actions[0].state) && rig.actions[0].sequence === 1`)
		r.wait(`document.querySelector(".ui4a-receipt").textContent.includes('{"n":4}')`)
	})

	t.Run("a newer definition keeps its state while the hooks are the same", func(t *testing.T) {
		r.t = t
		body := `const [n, set] = R.useState(0); return h("div", {style: {height: %H}}, h("button", {` + button + `, onClick: () => { set(n + 1); S; C.sendMessage("%T " + n); }}, "x" + n));`
		r.show("r2", "useState", replace(body, "%H", "100", "%T", "first"))
		r.at(20, 20)
		r.wait(`rig.actions.at(-1).text === "first 0"`)
		r.show("r3", "useState", replace(body, "%H", "110", "%T", "second"))
		r.pause()
		r.at(20, 20)
		r.wait(`rig.actions.at(-1).text === "second 1"`)
		r.show("r4", "useState,useRef", replace(body, "%H", "100", "%T", "third"))
		r.pause()
		r.at(20, 20)
		r.wait(`rig.actions.at(-1).text === "third 0"`)
	})

	t.Run("so do the components below it", func(t *testing.T) {
		r.t = t
		body := `return h("div", {style: {height: %H}}, h(Row, {t: "%T"})); function Row(p) { const [n, set] = R.useState(0); return h("button", {` + button + `, onClick: () => { set(n + 1); C.sendMessage(p.t + " " + n); }}, "x"); }`
		for i, step := range [][2]string{{"100", "one"}, {"101", "two"}} {
			r.show("row"+step[1], "none", replace(body, "%H", step[0], "%T", step[1]))
			r.pause()
			r.at(20, 20)
			r.wait(`rig.actions.at(-1).text === "` + step[1] + " " + []string{"0", "1"}[i] + `"`)
		}
	})

	t.Run("one that throws gives way to the last good one", func(t *testing.T) {
		r.t = t
		r.show("good", "a", `return h("div", {style: {height: 77}}, "good");`)
		r.run(`rig.surface.show({revision: "bad", script: ` + quote(card("bad", "b", `throw new Error("broken by design")`)) + `, keys: {}})`)
		r.wait(`rig.troubles.some((t) => t.model === "render: Error: broken by design")`)
		r.wait(`document.querySelector("iframe").getBoundingClientRect().height === 101`)
	})

	t.Run("a blank one is told", func(t *testing.T) {
		r.t = t
		r.show("blank", "c", `return h("div", {style: {height: 50}});`)
		r.wait(`rig.troubles.some((t) => t.kind === "blank")`)
	})
}
