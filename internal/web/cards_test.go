package web_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/browser"
	"macaron/internal/record"
	"macaron/internal/ui4a/action"
)

// trip is an answer with a card; the engine halts at the mark until the test says so.
const trip = "Here it is:\n\n````ui4a/tsx\n" + `import { Button, Card, Field } from "$ui4a/ui";
import { usePersistedState, usePrivateState } from "$ui4a/state";
import { sendAction } from "$ui4a/chat";

export default function Trip() {
  const [seats, setSeats] = usePersistedState("seats", 2);
  const [pin, setPin] = usePrivateState("pin", "");
  return (
    <Card title="Trip">
      <p id="seats">{"Seats: " + seats}</p>
      <Button onClick={() => setSeats(seats + 1)}>More</Button>
      <Field label="PIN" value={pin} onChange={setPin} />
 @@ ` + `     <Button onClick={() => sendAction({ name: "book", reads: ["seats", "pin"] })}>Book</Button>
    </Card>
  );
}
` + "````\nTell me when."

// inside looks into the one card that a page shows.
func (v *visit) inside(s *site) *browser.Document {
	v.t.Helper()
	d, err := v.page.Frame(s.url + "/ui4a/frame")
	v.must(err)
	v.t.Cleanup(d.Close)
	return d
}

// sees waits until an expression holds in a card.
func (v *visit) sees(d *browser.Document, expression string) {
	v.t.Helper()
	eventually(v.t, func() bool {
		ok, err := browser.Look[bool](d, expression)
		if err != nil {
			v.t.Fatal(err)
		}
		return ok
	})
}

// use clicks a control of a card by the text that it has, once the card stands still and
// nothing covers it.
func (v *visit) use(d *browser.Document, control string) {
	v.t.Helper()
	var last []float64
	eventually(v.t, func() bool {
		at, err := browser.Look[[]float64](d, `(() => { const e = [...document.querySelectorAll("button,input")].find((e) => e.textContent === `+quote(control)+` || e.labels?.[0]?.textContent === `+quote(control)+`);
			if (!e) return [];
			const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
		v.must(err)
		if len(at) != 2 { // not drawn yet
			return false
		}
		x, y := strconv.FormatFloat(at[0], 'f', 2, 64), strconv.FormatFloat(at[1], 'f', 2, 64)
		free, err := browser.Eval[bool](v.page, `new Promise((done) => setTimeout(() => {
			const f = document.querySelector("iframe");
			f.scrollIntoView({block: "center", behavior: "instant"});
			const r = f.getBoundingClientRect();
			done(document.elementFromPoint(r.x + `+x+`, r.y + `+y+`) === f);
		}, 100))`)
		v.must(err)
		still := free && slices.Equal(at, last)
		last = at
		return still
	})
	v.must(v.page.ClickIn(last[0], last[1], "iframe"))
}

// buffer is a log that is written from several places.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// of gives the bodies of one kind that the log has of a session.
func bodies[T record.Body](t *testing.T, s *site, id string) (out []T) {
	t.Helper()
	all, err := s.store.Records(t.Context(), auth.Local, id, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if b, ok := r.Body.(T); ok {
			out = append(out, b)
		}
	}
	return out
}

// A card is there before its answer has ended; what is done on it is a turn with what the
// model may see; it is opened again with its state; what is private is nowhere.
func TestACardInAConversation(t *testing.T) {
	const canary = "quince-7391"
	var told buffer
	g := &script{lines: map[string]string{"card": trip}, gate: make(chan struct{})}
	s := serveWith(t, t.TempDir(), g, app.Options{Log: slog.New(slog.NewTextHandler(&told, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	v := open(t, s.url, desktop)
	v.ask("Make a card for the trip")
	v.wait(`document.querySelector(".card iframe")?.getBoundingClientRect().height > 100`)
	d := v.inside(s)
	v.sees(d, `document.body.innerText.includes("Seats: 2") && !document.body.innerText.includes("Book")`)
	v.use(d, "More") // while it is written
	v.sees(d, `document.body.innerText.includes("Seats: 3")`)
	close(g.gate)
	v.turns(1)
	v.sees(d, `document.body.innerText.includes("Seats: 3") && document.body.innerText.includes("Book")`)
	v.wait(of(".turn .body") + `.includes("Tell me when.") && !` + of(".turn .body") + `.includes("import")`)
	id := v.session()
	eventually(t, func() bool {
		return len(bodies[record.CardState](t, s, id)) > 0 && len(bodies[record.CardRendered](t, s, id)) > 0
	})

	v.use(d, "PIN")
	v.must(v.page.Insert(canary))
	v.sees(d, `document.querySelector("input").value === `+quote(canary))
	v.use(d, "Book")
	v.turns(2)
	first := s.turn(t, id, 0)
	saw := `{"action":"book","state":{"seats":3},"surface":"inline/` + first.ID + `/0","withheld":["pin"]}`
	if got := s.turn(t, id, 1); got.Text() != saw || got.Parent != first.ID || got.Route == nil {
		t.Errorf("the turn says %q behind %q, by the route %v", got.Text(), got.Parent, got.Route)
	}
	v.wait(of(".ui4a-receipt") + `.includes("The model saw")`)
	v.wait(of(last(".gesture")) + `.includes("Used the card: book")`)
	acts := bodies[record.CardAction](t, s, id)
	if len(acts) != 1 || acts[0].Receipt.Outcome != action.Sent || acts[0].Action.ID != s.turn(t, id, 1).Request || !acts[0].Private {
		t.Errorf("the log has the Actions %+v", acts)
	}
	if ends := bodies[record.CardOutcome](t, s, id); len(ends) != 1 || ends[0].Outcome != record.CardCompleted {
		t.Errorf("the log has the outcomes %+v", ends)
	}

	v.must(v.page.Reload())
	v.wait(`document.querySelector(".card iframe")?.getBoundingClientRect().height > 100`)
	again := v.inside(s)
	v.sees(again, `document.body.innerText.includes("Seats: 3") && document.querySelector("input").value === ""`)
	v.quiet()

	asked, err := json.Marshal(g.answers())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"log": everything(t, s, id), "engine": string(asked), "program's log": told.String()} {
		if strings.Contains(text, "quince") || text == "" {
			t.Errorf("the %s has the private value, or nothing", name)
		}
	}
}

func fenced(info, text string) string { return "````" + info + "\n" + text + "\n````\n" }

func hunk(old, now string) string {
	return "<<<<<<< SEARCH\n" + old + "\n=======\n" + now + "\n>>>>>>> REPLACE"
}

const counting = `import { Button } from "$ui4a/ui";

export default function Count() {
  const [n, setN] = useState(0);
  const steps = null;
  return (
    <div>
      <p>{"Count: " + (n + steps.length)}</p>
      <Button onClick={() => setN(n + 1)}>More</Button>
    </div>
  );
}`

// What does not compile, and what fails when it runs, goes back to the specialist, twice at
// most; a patch changes the card where it stands, and its state stays.
func TestACardIsRepairedAndEdited(t *testing.T) {
	g := &script{lines: map[string]string{
		"broken":        fenced("ui4a/tsx", strings.Replace(counting, "Button }", "Buton }", 1)),
		"Repair 1 of 2": fenced("ui4a/tsx", counting),
		"Repair 2 of 2": fenced("ui4a/patch", hunk("  const steps = null;", "  const steps = [1, 2];")),
		"other word":    "Of course.\n" + fenced("ui4a/patch", hunk(`      <p>{"Count: " + (n + steps.length)}</p>`, `      <p>{"Total: " + (n + steps.length)}</p>`)),
	}}
	s := start(t, t.TempDir(), g)
	v := open(t, s.url, desktop)
	v.ask("Make a broken card")
	v.turns(3)
	v.wait(of(".turn .card-note") + ` === "Works after 2 repairs."`)
	d := v.inside(s)
	v.sees(d, `document.body.innerText.includes("Count: 2")`)
	id := v.session()
	eventually(t, func() bool { return len(bodies[record.CardRendered](t, s, id)) >= 1 })
	ends := bodies[record.CardOutcome](t, s, id)
	if len(ends) != 2 || ends[0].Round != 1 || ends[1].Round != 2 || ends[1].Repair != s.turn(t, id, 2).Request {
		t.Fatalf("the log has the outcomes %+v", ends)
	}
	for i, want := range []string{"unknown-export", "null"} {
		got := s.turn(t, id, i+1)
		if !strings.Contains(got.Text(), want) || got.Forced != "L3" {
			t.Errorf("repair %d says %q to %s", i+1, got.Text(), got.Forced)
		}
	}

	v.use(d, "More")
	v.sees(d, `document.body.innerText.includes("Count: 3")`)
	v.ask("Use the other word")
	v.turns(4)
	v.sees(d, `document.body.innerText.includes("Total: 3")`)
	v.wait(of(last(".body")) + `.includes("Changed the card above.") && document.querySelectorAll("iframe").length === 1`)
	v.ask("Hello")
	v.turns(5)
	eventually(t, func() bool {
		ends = bodies[record.CardOutcome](t, s, id)
		return len(ends) == 4 && ends[2].Outcome == record.CardEdited && ends[3].Outcome == record.CardAbandoned
	})

	// A third repair is not asked for.
	tip := s.turn(t, id, 4).ID
	_, answer := s.get(t, "/v1/cards/"+tip)
	var all struct {
		Cards []struct{ Surface, Revision string }
	}
	if err := json.Unmarshal([]byte(answer), &all); err != nil || len(all.Cards) != 1 {
		t.Fatalf("%v: %s", err, answer)
	}
	status, answer := s.post(t, "/v1/cards/"+tip+"/events", `{"event":"failed","surface":"`+all.Cards[0].Surface+`","revision":"`+all.Cards[0].Revision+`","errors":["it fails"]}`)
	if ends = bodies[record.CardOutcome](t, s, id); status != 200 || answer != "{}\n" || len(ends) != 5 || ends[4].Round != 0 {
		t.Errorf("%d %s, %+v", status, answer, ends)
	}
	v.quiet()
}

// revision is that of the first card of a turn.
func revision(t *testing.T, s *site, turn string) string {
	t.Helper()
	_, answer := s.get(t, "/v1/cards/"+turn)
	var all struct{ Cards []struct{ Revision string } }
	if err := json.Unmarshal([]byte(answer), &all); err != nil || len(all.Cards) == 0 {
		t.Fatalf("%v: %s", err, answer)
	}
	return all.Cards[0].Revision
}

// What the interface of cards refuses, and that it tells nothing of what it was sent.
func TestCardsAreRefused(t *testing.T) {
	s := start(t, t.TempDir(), &script{lines: map[string]string{"card": fenced("ui4a/tsx", counting)}})
	s.complete(t, "Make a card")
	_, list := s.get(t, "/admin/sessions")
	var l struct{ Data []struct{ ID string } }
	if err := json.Unmarshal([]byte(list), &l); err != nil || len(l.Data) != 1 {
		t.Fatal(err, list)
	}
	turn := s.turn(t, l.Data[0].ID, 0).ID
	on := "inline/" + turn + "/0"
	for name, c := range map[string]struct {
		path, body string
		want       int
	}{
		"no turn":          {"/v1/cards/x/events", `{}`, 400},
		"unknown field":    {"/v1/cards/" + turn + "/events", `{"event":"left","hidden":"canary"}`, 400},
		"no surface":       {"/v1/cards/" + turn + "/events", `{"event":"left","surface":"canary"}`, 400},
		"another's card":   {"/v1/cards/" + turn + "/events", `{"event":"left","surface":"inline/` + turn + `/1"}`, 404},
		"another revision": {"/v1/cards/" + turn + "/events", `{"event":"left","surface":"` + on + `","revision":"sha256:0"}`, 410},
		"no finding":       {"/v1/cards/" + turn + "/events", `{"event":"failed","surface":"` + on + `","revision":"` + revision(t, s, turn) + `","findings":[{"rule":"canary","kind":"button","n":1,"of":1}]}`, 400},
		"no place":         {"/v1/cards/" + turn + "/events", `{"event":"failed","surface":"` + on + `","revision":"` + revision(t, s, turn) + `","findings":[{"rule":"name","kind":"button","n":2,"of":1}]}`, 400},
		"no event":         {"/v1/cards/" + turn + "/events", `{"event":"gone","surface":"` + on + `"}`, 400},
		"no Action":        {"/v1/cards/" + turn + "/actions", `{"action":{},"secrets":{"held":{"a":"canary"}}}`, 400},
		"no draft":         {"/v1/cards", `{"turn":"x"}`, 400},
	} {
		status, answer := s.post(t, c.path, c.body)
		if status != c.want || name != "no surface" && strings.Contains(answer, "canary") {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	for body, want := range map[string]string{
		`{"turn":"` + turn + `","answer":"","hidden":"canary"}`: `there is no field \"hidden\": the fields are after, turn, request, answer, final`,
		`{"turn":"` + turn + `","ca nary":1}`:                   `a field that is not known: the fields are after, turn, request, answer, final`,
		`{"turn":1}`:                                            `a field is of the wrong kind: the fields are after, turn, request, answer, final`,
		`{"turn":"` + turn + `"}{"canary":1}`:                   `behind the body's JSON object`,
	} {
		if status, answer := s.post(t, "/v1/cards", body); status != 400 || !strings.Contains(answer, want) || strings.Contains(answer, "canary") {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	if status, answer := s.get(t, "/v1/cards/"+turn); status != 200 || !strings.Contains(answer, `"surface":"`+on+`"`) || !strings.Contains(answer, "__ui4a.define") {
		t.Errorf("%d %s", status, answer)
	}
}
