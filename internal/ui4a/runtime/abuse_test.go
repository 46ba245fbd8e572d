package runtime_test

import (
	"fmt"
	"os"
	"testing"

	"macaron/internal/browser"
)

// hangs are cards that never come back. Those that eat memory, up to gigabytes, run only
// with make attack-ui4a.
func hangs() []string {
	list := []string{
		`for (;;);`,
		`const f = () => Promise.resolve().then(f); f();`,
	}
	if os.Getenv("UI4A_BOMB") != "" {
		list = append(list,
			`for (;;) document.body.append(document.createElement("p"));`,
			`for (let a = ["x"]; ; ) a = a.concat(a).slice(0, 1e6).map((s) => s + "y");`,
			`const all = []; for (;;) all.push(new Uint8Array(1 << 26).fill(1));`,
			`let s = []; for (;;) s.push("x".repeat(1e6) + Math.random(), new Array(1e6).fill(Math.random()));`)
	}
	return list
}

func TestACardThatHangsIsStopped(t *testing.T) {
	b, err := browser.Start(t.Context()) // of its own: processes that hang are shared by frames of one site
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	r := openRig(t, b, rigServer(t).URL)
	for i, loop := range hangs() {
		// It is the page itself that counts from where the card was drawn.
		r.run(`rig.stopped = [], rig.open({onRepair: () => rig.repair = true, onPainted: (revision) => { rig.painted.push(revision); rig.ticks = 0; }})`)
		r.show(fmt.Sprint("hang", i), "a", `R.useEffect(() => { setTimeout(() => { `+loop+` }, 50); }, []); return h("p", null, "soon");`)
		r.wait(`rig.stopped.length === 1`)
		if s := r.text(`rig.stopped[0] + " " + (rig.ticks > 10) + " " + document.querySelectorAll("iframe").length + " " + document.querySelector(".ui4a-stopped pre").textContent`); s != "unresponsive true 0 the source" {
			t.Errorf("%s: %s", loop, s)
		}
	}
	r.must(r.Click(".ui4a-stopped button:nth-of-type(2)"))
	r.wait(`rig.repair`)
	r.must(r.Click("#outside")) // the page is used as before
	r.must(r.Insert("still here"))
	r.wait(`document.querySelector("#outside").value === "still here"`)
}

func TestTheHostTrustsNoFrame(t *testing.T) {
	r := openRig(t, shared, rigServer(t).URL)
	r.run(`rig.open({frame: "/rogue"}), rig.surface.show({revision: "r", script: "", source: "", keys: rig.keys(["n", "secret"])})`)
	r.must(r.Click("#outside")) // a gesture, but not one on the card
	r.wait(`document.querySelector(".ui4a-refused")?.textContent.includes("acted by itself")`)
	if s := r.text(`JSON.stringify([rig.actions, rig.state, ({}).polluted ?? null, document.querySelector("iframe").style.height])`); s != `[[],{},null,"8192px"]` {
		t.Errorf("the page took %s", s)
	}
	r.run(`rig.ticks = 0`)
	r.at(50, 50) // now it floods, in answer to a gesture
	r.wait(`rig.stopped.at(-1) === "flood" && rig.ticks > 5`)
	if n := r.text(`String(rig.actions.length <= 40)`); n != "true" {
		t.Error("a flood of Actions got through")
	}
}

// spy is a card that listens to everything that a card can listen to, and has bent what a
// careless runtime would call: the search for sealed fields, and the setter of texts.
const spy = `const [seen, see] = S.usePersistedState("seen", ""), [full, fill] = S.usePersistedState("full", false);
if (!window.bent) {
	window.bent = [];
	const text = Object.getOwnPropertyDescriptor(Node.prototype, "textContent"), get = WeakMap.prototype.get;
	Object.defineProperty(Node.prototype, "textContent", {...text, set(v) { window.bent.push(this); text.set.call(this, v); }});
	WeakMap.prototype.get = function (k) { return k?.localName === "div" ? undefined : get.call(this, k); };
	Object.defineProperty(document, "activeElement", {value: null});
}
R.useEffect(() => {
	for (const type of ["keydown", "keyup", "keypress", "beforeinput", "input", "change", "compositionend", "selectionchange", "textInput", "paste"])
		for (const o of [window, document, document.body]) o.addEventListener(type, (e) => { if (e.isTrusted) see((s) => s + "|" + type + (e.key ?? "") + (e.data ?? "") + (e.composedPath()[0]?.value ?? "") + (e.target?.value ?? "")); }, {capture: true});
	setInterval(() => { const t = document.getSelection() + document.body.innerText + window.bent.map((e) => e.getRootNode().querySelector("input")?.value).join() + [...document.querySelectorAll("*")].map((e) => e.shadowRoot?.innerHTML ?? "").join(""); if (t.includes("SECRET")) see(t); }, 50);
}, []);
return h("div", {style: {height: 200}}, h("div", {style: {position: "absolute", left: 0, top: 60, width: 200}}, h(S.PrivateField, {name: "secretA", label: "Account", onFilled: fill})), `

func TestAPrivateFieldIsTheHostsAlone(t *testing.T) {
	r := openRig(t, shared, rigServer(t).URL)
	r.show("p1", "a", spy+`h("button", {`+button+`, onClick: () => C.sendAction({name: "pay", reads: ["secretA"]})}, "pay"),
		h("button", {style: {position: "absolute", left: 120, top: 0, width: 100, height: 40}, onClick: () => C.sendAction({name: "add", reads: ["secretA"], execution: "host-capability", capability: "calendar.add"})}, "add"));`, "seen", "full", "secretA")
	r.wait(`document.querySelector("iframe").style.height === "224px"`)
	r.into(60, 110)
	r.must(r.Press("SECRET 12345"))
	r.wait(`rig.state.full === true`)
	r.at(20, 20)
	r.wait(`rig.actions.length === 1`)
	if s := r.text(`JSON.stringify([rig.actions[0].state, rig.secrets[0], rig.surface.tainted])`); s != `[{"secretA":null},{"held":{},"sealed":{"secretA":"SECRET 12345"}},false]` {
		t.Errorf("an event has %s", s)
	}
	r.pause()
	r.asks(170, 20)
	if s := r.text(`document.querySelector("dialog dd").textContent`); s != "(private)" {
		t.Errorf("the dialogue shows %s", s)
	}
	r.must(r.Click("dialog .ui4a-yes"))
	r.wait(`rig.actions.length === 2 && rig.actions[1].state.secretA === "SECRET 12345"`)
	if seen := r.text(`rig.state.seen`); seen != "" {
		t.Errorf("the card has seen %q", seen)
	}
}

func TestWhatTheCardHoldsPrivately(t *testing.T) {
	r := openRig(t, shared, rigServer(t).URL)
	r.show("h1", "a", `const [iban, set] = S.usePrivateState("secret", ""), [n, more] = S.usePersistedState("n", 0);
		if (n === 2) throw new Error("it is " + iban);
		return h("div", {style: {height: 100 + 7 * n}}, h("button", {`+button+`, onClick: () => { set("DE89 3704"); more(n + 1); }}, "type"));`, "secret", "n")
	r.wait(`document.querySelector("iframe").style.height === "124px"`)
	r.at(20, 20)
	r.wait(`rig.state.n === 1 && document.querySelector("iframe").style.height === "192px"`)
	r.at(20, 20)
	r.wait(`rig.troubles.length > 0`)
	if s := r.text(`rig.troubles.map((t) => t.model).join() + Object.keys(rig.state)`); s != "the card failed while it held private values; what it said is not shownn" {
		t.Errorf("the model is told %s", s)
	}
}

func TestDestructiveActionsAreConfirmed(t *testing.T) {
	r := openRig(t, shared, rigServer(t).URL)
	r.show("d", "a", `return h("button", {`+button+`, onClick: () => C.sendAction({name: "delete", destructive: true})}, "delete");`)
	r.asks(20, 20)
	r.wait(`document.querySelector("dialog[open] .ui4a-yes")?.disabled === false`)
	r.must(r.Press(browser.Escape))
	r.wait(`document.querySelector(".ui4a-refused").textContent.includes("did not confirm")`)
	r.pause()
	r.asks(20, 20)
	r.must(r.Click("dialog .ui4a-yes"))
	r.wait(`rig.actions.length === 1 && rig.actions[0].name === "delete"`)
}
