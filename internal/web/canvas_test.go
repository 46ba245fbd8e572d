package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"macaron/internal/auth"
	"macaron/internal/axe"
	"macaron/internal/browser"
	"macaron/internal/record"
	"macaron/internal/session"
)

// plan is the card of trip as a canvas.
var plan = strings.Replace(trip, "ui4a/tsx", "ui4a/tsx canvas/trip", 1)

const inPanel = `document.querySelector("#canvas:not([hidden]) .card:not([hidden]) iframe")?.getBoundingClientRect()?`

// An answer opens a canvas beside the thread while it is written; what is done there is a
// turn, later answers patch it where it stands, and it is opened again with its state.
func TestAnAnswerOpensACanvas(t *testing.T) {
	const canary = "quince-7391"
	g := &script{lines: map[string]string{
		"card for":   plan,
		"other word": "Of course.\n" + fenced("ui4a/patch canvas/trip", hunk(`      <p id="seats">{"Seats: " + seats}</p>`, `      <p id="seats">{"Places: " + seats}</p>`)),
		"wrong one":  fenced("ui4a/patch canvas/plan", hunk("a", "b")),
	}, gate: make(chan struct{})}
	s := start(t, t.TempDir(), g)
	v := open(t, s.url, desktop)
	v.ask("Make a card for the trip")
	v.wait(inPanel + `.height > 100 && ` + inPanel + `.left >= document.querySelector("main").getBoundingClientRect().right`)
	d := v.inside(s)
	v.use(d, "More") // while it is written
	v.sees(d, `document.body.innerText.includes("Seats: 3") && !document.body.innerText.includes("Book")`)
	close(g.gate)
	v.turns(1)
	v.sees(d, `document.body.innerText.includes("Seats: 3") && document.body.innerText.includes("Book")`)
	v.wait(of(".turn .body") + `.includes("Opened the canvas trip.") && document.querySelectorAll(".turn iframe").length === 0`)
	id := v.session()
	eventually(t, func() bool {
		return len(bodies[record.CardState](t, s, id)) > 0 && len(bodies[record.CardRendered](t, s, id)) > 0
	})

	v.use(d, "PIN")
	v.must(v.page.Insert(canary))
	v.sees(d, `document.querySelector("input").value === `+quote(canary))
	v.use(d, "Book")
	v.turns(2)
	const saw = `{"action":"book","state":{"seats":3},"surface":"canvas/trip","withheld":["pin"]}`
	if got := s.turn(t, id, 1); got.Text() != saw || got.Route == nil {
		t.Errorf("the turn says %q, by the route %v", got.Text(), got.Route)
	}
	v.wait(of(last(".gesture")) + `.includes("Used the canvas trip: book")`)

	v.ask("Use the other word")
	v.turns(3)
	v.sees(d, `document.body.innerText.includes("Places: 3") && document.querySelector("input").value === `+quote(canary))
	v.wait(of(last(".body")) + `.includes("Changed the canvas trip.") && document.querySelectorAll("iframe").length === 1`)

	// It is closed and shown, and stands as it was.
	v.click(`#canvas [aria-label="Close the canvas"]`)
	v.wait(`document.querySelector("#canvas").hidden && !document.body.classList.contains("canvas")`)
	v.click(last(".canvas-note button"))
	v.wait(inPanel + `.height > 100 && document.activeElement.ariaLabel === "Close the canvas"`)
	v.sees(d, `document.body.innerText.includes("Places: 3") && document.querySelector("input").value === `+quote(canary))

	v.must(v.page.Reload())
	v.wait(inPanel + `.height > 100`)
	again := v.inside(s)
	v.sees(again, `document.body.innerText.includes("Places: 3") && document.querySelector("input").value === ""`)

	// A patch of a canvas that is not there goes back, and changes no other.
	v.ask("Change the wrong one")
	v.turns(5)
	v.sees(again, `document.body.innerText.includes("Places: 3")`)
	if got := s.turn(t, id, 4); !strings.Contains(got.Text(), "patch-no-canvas") || !strings.Contains(got.Text(), "a patch of canvas/trip") {
		t.Errorf("the repair says %q", got.Text())
	}
	v.quiet()
	if all := everything(t, s, id); strings.Contains(all, "quince") {
		t.Error("the log has the private value")
	}
}

// reads waits until the page has read the cards as they are after a turn: before that, its Actions are
// refused, or are of the turn before.
func (v *visit) reads(turn session.Turn) {
	v.t.Helper()
	v.wait(`performance.getEntriesByType("resource").some((e) => e.name.endsWith("/v1/cards/` + turn.ID + `"))`)
}

// everything that the log has of a session, as text.
func everything(t *testing.T, s *site, id string) string {
	t.Helper()
	all, err := s.store.Records(t.Context(), auth.Local, id, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, r := range all {
		line, err := record.EncodeLine(r)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(line)
	}
	if lines.Len() == 0 {
		t.Fatal("the log has nothing")
	}
	return lines.String()
}

// Two conversations with a canvas of one name have nothing in common: neither state, nor
// numbers of Actions, nor that one holds a private value.
func TestCanvasesOfOneNameAreApart(t *testing.T) {
	g := &script{lines: map[string]string{"card for": strings.Replace(plan, " @@ ", "", 1)}}
	s := start(t, t.TempDir(), g)
	var turns []string
	for range 2 {
		v := open(t, s.url, desktop)
		v.ask("Make a card for the trip")
		v.turns(1)
		turns = append(turns, s.turn(t, v.session(), 0).ID)
	}
	act := func(turn string, sequence int, secrets string) string {
		t.Helper()
		_, answer := s.post(t, "/v1/cards/"+turn+"/actions", fmt.Sprintf(`{"action":{"id":"act_01ARZ3NDEKTSV4RRFFQ69G5FA%d","origin":{"surface":"canvas/trip","revision":"%s","node":""},"kind":"action","name":"x%d","state":{"seats":"Gravenhage"},"execution":"event","visibility":{"audience":"ai","noai":[]},"time":"2026-12-01T10:00:00Z","sequence":%d},"secrets":{"held":{%s},"sealed":{}}}`,
			sequence, revision(t, s, turn), sequence, sequence, secrets))
		return answer
	}
	// The first one holds what the second one tells: only there is it refused.
	if got := act(turns[0], 7, `"pin":"Gravenhage"`); !strings.Contains(got, `"outcome":"refused"`) {
		t.Errorf("what is private left: %s", got)
	}
	if got := act(turns[1], 1, ""); !strings.Contains(got, `"outcome":"sent"`) || !strings.Contains(got, "Gravenhage") {
		t.Errorf("the other conversation's canvas: %s", got)
	}
	if got := act(turns[0], 7, ""); !strings.Contains(got, `"reason":"replayed"`) {
		t.Errorf("the same once more: %s", got)
	}
}

// Several canvases share the panel; on a narrow page it lies over the thread, when it is
// asked for; a stopped answer's canvas says so; names are shown, not obeyed.
func TestTheCanvasPanel(t *testing.T) {
	const name = `<img src=x onerror=alert(1)> & " ظ`
	one := fenced("ui4a/tsx canvas/one", "export default () => <p>The first one stands here.</p>;")
	two := fenced("ui4a/tsx canvas/"+name, "export default () => <p>The second one stands here.</p>;")
	g := &script{lines: map[string]string{"cards": one + two, "alone": "Nothing to see."}}
	s := start(t, t.TempDir(), g)
	v := open(t, s.url, desktop)
	v.ask("Make two cards")
	v.turns(1)
	v.wait(`document.querySelectorAll("#canvas .tabs button").length === 2`)
	tabs := v.text(`[...document.querySelectorAll("#canvas .tabs button")].map((b) => b.textContent).join("|")`)
	if tabs != "one|"+name {
		t.Errorf("the tabs are %q", tabs)
	}
	v.click("#canvas .tabs button:first-child")
	v.wait(inPanel + `.height > 20`)
	if _, err := browser.Eval[bool](v.page, axe.Script+"\n;true"); err != nil {
		t.Fatal(err)
	}
	if found := v.text(`axe.run(document.querySelector("#canvas"), {iframes: false, resultTypes: ["violations"]}).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => v.id + " " + v.nodes[0].target).join(", "))`); found != "" {
		t.Errorf("axe-core finds %s", found)
	}
	// Another version of the turn has none.
	g.say("cards", "No.")
	v.click(`[data-action="again"]`)
	v.wait(of(last(".body")) + ` === "No." && document.querySelector("#canvas").hidden && document.querySelectorAll("iframe").length === 0`)
	v.click(`[data-action="prev"]`)
	v.wait(`document.querySelectorAll(".canvas-note").length === 2`)
	v.click(`.canvas-note:nth-child(1) button`)
	v.wait(inPanel + `.height > 20`)
	v.must(v.page.Look(browser.View{Width: 390, Height: 800}))
	v.wait(`document.querySelector("#canvas").getBoundingClientRect().width === 390`)
	v.press(browser.Escape)
	v.wait(`document.querySelector("#canvas").hidden`)
	v.must(v.page.Reload())
	v.wait(of(last(".body")) + ` === "No."`)
	v.click(`[data-action="prev"]`)
	v.wait(`document.querySelectorAll(".canvas-note").length === 2 && document.querySelector("#canvas").hidden`)
	v.click(`.canvas-note:nth-child(2) button`)
	v.wait(inPanel + `.height > 20`)
	v.quiet()
}

// A card that was used in another tab shows that here too, keeps what is typed, and can be
// used at once.
func TestACardThatWasUsedElsewhere(t *testing.T) {
	g := &script{lines: map[string]string{"card for": strings.Replace(trip, " @@ ", "", 1), "wider": fenced("ui4a/patch", hunk(`<Card title="Trip">`, `<Card title="Journey">`))}}
	s := start(t, t.TempDir(), g)
	first := open(t, s.url, desktop)
	first.ask("Make a card for the trip")
	first.turns(1)
	here := first.inside(s)
	id := first.session()
	first.use(here, "PIN")
	first.must(first.page.Insert("secret"))
	first.sees(here, `document.querySelector("input").value === "secret"`)

	second := open(t, s.url+"/#"+id, desktop)
	second.wait(`document.querySelector(".card iframe")?.getBoundingClientRect().height > 100`)
	there := second.inside(s)
	second.use(there, "More")
	second.sees(there, `document.body.innerText.includes("Seats: 3")`)
	eventually(t, func() bool { return strings.Contains(stateOf(t, s, s.turn(t, id, 0).ID), `"seats":3`) })

	first.sees(here, `document.body.innerText.includes("Seats: 2")`) // nobody has told it
	first.text(`dispatchEvent(new Event("focus")) && ""`)
	first.sees(here, `document.body.innerText.includes("Seats: 3") && document.querySelector("input").value === "secret"`)

	// An Action and its answer, too; the first tab is told by the other.
	second.use(there, "Book")
	second.turns(2)
	second.wait(of(last(".body")) + `.includes("You said")`)
	first.text(`new BroadcastChannel("macaron").postMessage(` + quote(id) + `) ?? ""`)
	first.turns(2)
	first.reads(s.turn(t, id, 1))
	first.use(here, "Book")
	first.turns(3)
	if acts := bodies[record.CardAction](t, s, id); len(acts) != 2 || acts[1].Receipt.Outcome != "sent" || acts[1].Action.Sequence != 2 {
		t.Errorf("the log has the Actions %+v", acts)
	}

	// Who comes too late is told, and sees what there is.
	second.use(there, "Book")
	second.wait(of(".ui4a-notices") + `.includes("somewhere else")`)
	second.turns(3)
	second.use(there, "Book")
	second.turns(4)
	first.quiet()
	second.quiet()
}

func stateOf(t *testing.T, s *site, turn string) string {
	t.Helper()
	_, answer := s.get(t, "/v1/cards/"+turn)
	var all struct {
		Cards []struct{ State json.RawMessage }
	}
	if err := json.Unmarshal([]byte(answer), &all); err != nil || len(all.Cards) == 0 {
		t.Fatalf("%v: %s", err, answer)
	}
	return string(all.Cards[0].State)
}

// What a form sends stands in the thread as a person reads it, with what the model saw.
func TestAFormIsShownInWords(t *testing.T) {
	const form = `import { Field, Form, Switch, Button, Card } from "$ui4a/ui";
import { sendMessage } from "$ui4a/chat";

export default () => (
  <Card title="Guests">
    <Form onSubmit={(values) => sendMessage(JSON.stringify(values))}>
      <Field label="Name" />
      <Switch label="Vegetarian" />
      <Button type="submit">Send</Button>
    </Form>
  </Card>
);`
	g := &script{lines: map[string]string{"card for": fenced("ui4a/tsx", form)}}
	s := start(t, t.TempDir(), g)
	v := open(t, s.url, desktop)
	v.ask("Make a card for guests")
	v.turns(1)
	d := v.inside(s)
	v.reads(s.turn(t, v.session(), 0))
	v.use(d, "Name")
	v.must(v.page.Insert("Ana <b>"))
	v.sees(d, `document.querySelector("input").value === "Ana <b>"`)
	v.use(d, "Send")
	v.turns(2)
	v.wait(of(last(".gesture > span")) + ` + "|" + ` + of(last(".gesture dl")) + ` === "Sent from the card:|NameAna <b>Vegetarianno"`)
	sent := s.turn(t, v.session(), 1)
	v.wait(of(last(".gesture code")) + ` === ` + quote(sent.Text())) // what the model saw
	if sent.Text()[0] != '{' {
		t.Errorf("the model saw %q", sent.Text())
	}
	// What a person wrote stays what it is.
	v.ask(`{"Name":"Ana"}`)
	v.turns(3)
	if got := v.text(of(last(".bubble"))); got != `{"Name":"Ana"}` {
		t.Errorf("what was written is shown as %q", got)
	}
	v.quiet()
}

// A canvas that is written again, with the private key declared as fit for a model or not at
// all, does not open what was typed under it: no model and no log learns of it.
func TestACanvasWrittenAgainOpensNothing(t *testing.T) {
	const canary = "quince-7391"
	opened := strings.NewReplacer(`usePrivateState("pin"`, `usePersistedState("pin"`, "usePersistedState, usePrivateState", "usePersistedState", `"Seats: "`, `"Open: " + pin + " Seats: "`).Replace(plan)
	g := &script{lines: map[string]string{"card for": strings.Replace(plan, " @@ ", "", 1), "open it": strings.Replace(opened, " @@ ", "", 1),
		"without": fenced("ui4a/tsx canvas/trip", `import { sendAction } from "$ui4a/chat";

export default () => <button onClick={() => sendAction({ name: "book", reads: [] })}>Plain</button>;`)}}
	s := start(t, t.TempDir(), g)
	v := open(t, s.url, desktop)
	v.ask("Make a card for the trip")
	v.turns(1)
	d := v.inside(s)
	v.use(d, "PIN")
	v.must(v.page.Insert(canary))
	v.sees(d, `document.querySelector("input").value === `+quote(canary))
	v.ask("Now open it") // what is written fails, and the canvas stays as it was
	v.wait(of("main") + `.includes("Repair 1 of 2")`)
	v.turns(3)
	v.sees(d, `document.body.innerText.includes("Seats: 2") && !document.body.innerText.includes("Open:")`)
	v.ask("Do without")
	v.turns(4)
	v.reads(s.turn(t, v.session(), 3))
	v.sees(d, `document.body.innerText.includes("Plain") && !document.body.innerText.includes("quince") && !document.querySelector("input")`)
	v.use(d, "Plain")
	eventually(t, func() bool { return len(bodies[record.CardAction](t, s, v.session())) > 0 })
	if all := everything(t, s, v.session()); strings.Contains(all, "quince") {
		t.Error("the log has the private value")
	}
}
