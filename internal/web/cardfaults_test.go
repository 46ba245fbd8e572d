package web_test

import (
	"strings"
	"testing"

	"macaron/internal/record"
)

// A card whose answer was stopped is drawn as far as it came, also when the page is opened
// again; it says that it is unfinished, and its Actions go nowhere.
func TestACardOfAStoppedAnswerIsDrawn(t *testing.T) {
	g := &script{lines: map[string]string{"card": strings.Replace(trip, " @@ ", ` <Button onClick={() => sendAction({ name: "book", reads: ["seats"] })}>Hold</Button>`+"\n @@ ", 1)}, gate: make(chan struct{})}
	t.Cleanup(func() { close(g.gate) })
	s := start(t, t.TempDir(), g)
	v := open(t, s.url, desktop)
	v.ask("Make a card for the trip")
	v.wait(`document.querySelector(".card iframe")?.getBoundingClientRect().height > 100`)
	v.sees(v.inside(s), `document.body.innerText.includes("Hold")`)
	v.click("#stop")
	v.turns(1)
	const unfinished = ` === "This card is unfinished: its answer was stopped."`
	v.wait(of(".card-note") + unfinished)
	id := v.session()
	v.must(v.page.Reload())
	v.wait(of(".card-note") + unfinished + ` && document.querySelector(".card iframe")?.getBoundingClientRect().height > 100 && !` + of(".turn .body") + `.includes("import")`)
	d := v.inside(s)
	v.sees(d, `document.body.innerText.includes("Seats: 2") && !document.body.innerText.includes("Book")`)
	v.use(d, "Hold")
	v.wait(of(".ui4a-receipt") + `.includes("nothing was sent")`)
	v.ask("Hello")
	v.turns(2)
	v.wait(`document.querySelectorAll(".card iframe").length === 1 && ` + of(".card-note") + unfinished)
	if acts := bodies[record.CardAction](t, s, id); len(acts) > 0 {
		t.Errorf("the log has the Actions %+v", acts)
	}
	v.quiet()
}

// What the server tells of a half-written card comes late, when the whole one is drawn: it takes
// nothing of that away, and the card can be used.
func TestALateFrameOfACardIsTooLate(t *testing.T) {
	g := &script{lines: map[string]string{"card": trip}, gate: make(chan struct{})}
	s := start(t, t.TempDir(), g)
	v := open(t, s.url, desktop)
	v.number(`(() => {
		const whole = window.fetch;
		window.held = [];
		window.fetch = async (path, o) => {
			const answer = await whole(path, o);
			if (path === "/v1/cards") await new Promise((done) => held.push(done));
			return answer;
		};
		return 0;
	})()`)
	v.ask("Make a card for the trip")
	v.wait(`held.length === 1`)
	close(g.gate)
	v.turns(1)
	v.wait(`document.querySelector(".card iframe")?.getBoundingClientRect().height > 100`)
	d := v.inside(s)
	v.sees(d, `document.body.innerText.includes("Book")`)
	v.reads(s.turn(t, v.session(), 0))
	v.number(`(held[0](), 0)`)
	v.number(`new Promise((done) => setTimeout(() => done(0), 300))`)
	v.use(d, "Book")
	v.turns(2)
	v.quiet()
}

// What is measured of a card while its repair is being written is not told of the repaired one.
func TestARepairedCardIsJudgedByItself(t *testing.T) {
	const nameless = "export default () => <button onClick={() => undefined}></button>;"
	g := &script{lines: map[string]string{
		"nameless":      fenced("ui4a/tsx", nameless),
		"Repair 1 of 2": fenced("ui4a/tsx", strings.Replace(nameless, "></", ">Like</", 1)),
	}}
	s := start(t, t.TempDir(), g)
	v := open(t, s.url, desktop)
	v.number(`(() => {
		const whole = window.fetch;
		window.fetch = async (path, o) => {
			const measured = () => document.querySelector(".ui4a-notices")?.textContent.includes("has no name that");
			if (o?.body?.includes?.("Repair 1 of 2")) while (!measured()) await new Promise((done) => setTimeout(done, 20));
			return whole(path, o);
		};
		return 0;
	})()`)
	v.ask("Make a nameless card")
	v.turns(2)
	v.wait(of(".turn .card-note") + ` === "Works after 1 repair."`)
	v.sees(v.inside(s), `document.querySelector("button").textContent === "Like"`)
	v.number(`new Promise((done) => setTimeout(() => done(0), 1500))`) // in which it is measured
	if ends := bodies[record.CardOutcome](t, s, v.session()); len(ends) != 1 || ends[0].Round != 1 {
		t.Errorf("the log has the outcomes %+v", ends)
	}
	v.quiet()
}

// What not everybody can use goes back: what the compiler sees in the source, and what the
// page measures where no source shows it. Two rounds are counted, a third never runs.
func TestACardThatNotEverybodyCanUseIsRepaired(t *testing.T) {
	const measured = `export default function Like() {
  const [n, setN] = useState(0);
  const face = n > 99 ? "many" : "";
  return (
    <div>
      <p>{"Likes: " + n}</p>
      <button onClick={() => setN(n + 1)}>{face}</button>
    </div>
  );
}`
	g := &script{lines: map[string]string{
		"unlabelled":    fenced("ui4a/tsx", strings.Replace(measured, "{face}", "", 1)),
		"Repair 1 of 2": fenced("ui4a/tsx", measured),
		"Repair 2 of 2": fenced("ui4a/patch", hunk("      <button onClick={() => setN(n + 1)}>{face}</button>", "      <button onClick={() => setN(n + 1)}>Like {face}</button>")),
	}}
	s := start(t, t.TempDir(), g)
	v := open(t, s.url, desktop)
	v.ask("Make an unlabelled card")
	v.turns(3)
	v.wait(of(".turn .card-note") + ` === "Works after 2 repairs."`)
	id := v.session()
	for i, want := range []string{"missing-name", "accessibility: button 1 of 1 has no accessible name"} {
		if got := s.turn(t, id, i+1); !strings.Contains(got.Text(), want) || got.Forced != "L3" {
			t.Errorf("repair %d says %q to %s", i+1, got.Text(), got.Forced)
		}
	}
	if ends := bodies[record.CardOutcome](t, s, id); len(ends) != 2 || ends[0].Round != 1 || ends[1].Round != 2 {
		t.Errorf("the log has the outcomes %+v", ends)
	}
	v.sees(v.inside(s), `document.querySelector("button").textContent.startsWith("Like")`) // it is the repaired one

	// A card that stays as it was is told of a third time, and nothing is asked for.
	g.say("silent", fenced("ui4a/tsx", strings.Replace(measured, "Likes", "Hearts", 1)))
	g.say("Repair 1 of 2", fenced("ui4a/tsx", strings.Replace(measured, "Likes", "Hugs", 1)))
	g.say("Repair 2 of 2", fenced("ui4a/tsx", strings.Replace(measured, "Likes", "Stars", 1)))
	v = open(t, s.url, desktop)
	v.ask("Make a silent card")
	v.turns(3)
	v.wait(of(".turn .card-note") + ` === "This card failed. 2 repairs asked for."`)
	eventually(t, func() bool { return len(bodies[record.CardOutcome](t, s, v.session())) == 3 })
	if last := bodies[record.CardOutcome](t, s, v.session())[2]; last.Round != 0 || last.Repair != "" || v.number(`document.querySelectorAll(".turn").length`) != 3 {
		t.Errorf("the last outcome is %+v", last)
	}
	v.quiet()
}
