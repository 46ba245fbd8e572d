package stage_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/axe"
	"macaron/internal/bench/ui4a"
	"macaron/internal/bench/ui4a/stage"
	"macaron/internal/browser"
)

var tab *stage.Tab

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run gives all tests one page of one browser.
func run(m *testing.M) int {
	b, err := browser.Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer b.Close()
	s, err := stage.Open(b, axe.Script)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer s.Close()
	if tab, err = s.Tab(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// seen gives the evidence of a card on the phone.
func seen(t *testing.T, source string) ui4a.Evidence {
	t.Helper()
	e, err := tab.Card(t.Context(), &ui4a.Case{ID: "card", Language: "en"}, source, ui4a.Views[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	if !e.Mounted {
		t.Fatal(e.Failure, e.Findings)
	}
	return e
}

// A button that has nothing to do until another was used, and a clock has run, is no dead one.
func TestResetBesideStart(t *testing.T) {
	e := seen(t, `import { Button, Card } from "$ui4a/ui";
export default function Clock() {
  const [left, setLeft] = useState(300);
  const [on, setOn] = useState(false);
  useEffect(() => {
    if (!on) return;
    const ticking = setInterval(() => setLeft((s) => s - 1), 1000);
    return () => clearInterval(ticking);
  }, [on]);
  return (
    <Card title="Clock">
      <p>{left} seconds are left</p>
      <Button onClick={() => setOn(!on)}>{on ? "Pause" : "Start"}</Button>
      <Button onClick={() => { setOn(false); setLeft(300); }}>Reset</Button>
      <Button onClick={() => { if (left < 0) setLeft(0); }}>Dead</Button>
    </Card>
  );
}
`)
	for _, o := range e.Operated {
		if o.Effect != (o.Name != "Dead") {
			t.Errorf("%s %q: %v %s", o.Role, o.Name, o.Effect, o.Why)
		}
	}
}

// The parts of a date are stops of the Tab key, too.
func TestTabPassesThroughDates(t *testing.T) {
	e := seen(t, `import { Button, Card, Field } from "$ui4a/ui";
export default function Stay() {
  const [from, setFrom] = useState("2026-12-01");
  const [to, setTo] = useState("");
  return (
    <Card title="When do you stay with us?">
      <Field label="From" type="date" value={from} onChange={setFrom} />
      <Field label="To" type="date" value={to} onChange={setTo} />
      <Field label="Month" type="month" value="2026-12" onChange={() => undefined} />
      <input aria-label="Arrival" type="datetime-local" style={{ height: 40 }} />
      <Button onClick={() => setTo(from)}>One day only</Button>
    </Card>
  );
}
`)
	if k := e.Keyboard; k.Reached != k.Stops || k.Stops != 5 {
		t.Errorf("%+v", k)
	}
}

// Each question for a role costs the browser the more, the more elements there are: points
// of a chart and their titles are not asked.
func TestAChartOfManyPointsIsLookedAt(t *testing.T) {
	e := seen(t, `import { Card, Slider } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";
export default function Costs() {
  const [price, setPrice] = useState(0.12);
  const data = Array.from({ length: 120 }, (_, year) => ({ year, one: 16000 + 1100 * year, other: 8000 + 18000 * price * year }));
  return (
    <Card title="What both cost">
      <Slider label="Price" min={0.06} max={0.24} step={0.01} value={price} onChange={setPrice} />
      <Chart kind="line" label="Costs by year" data={data} x="year" y={["one", "other"]} />
    </Card>
  );
}
`)
	if len(e.Operated) != 1 || !e.Operated[0].Effect || e.Charts != 1 {
		t.Errorf("%d charts, operated %+v", e.Charts, e.Operated)
	}
	if len(e.Roles) > 12 {
		t.Errorf("%d roles are asked for: %+v", len(e.Roles), e.Roles)
	}
}

// A control that keys work, and that no pointer comes to, is not one for everybody.
func TestPointersMustReachControls(t *testing.T) {
	e := seen(t, `import { Button, Card, Slider } from "$ui4a/ui";
export default function Glass() {
	const [n, setN] = useState(2);
	return (
		<Card title="How many glasses?">
			<div style={{ position: "relative" }}>
				<Slider label="Glasses" min={0} max={9} value={n} onChange={setN} />
				<div style={{ position: "absolute", inset: 0 }} />
			</div>
			<div style={{ pointerEvents: "none" }}><Button onClick={() => setN(n + 1)}>One more</Button></div>
			<Button onClick={() => setN(n - 1)}>One less</Button>
		</Card>
	);
}
`)
	works := map[string]bool{}
	for _, o := range e.Operated {
		works[o.Name] = o.Effect
	}
	if d := cmp.Diff(map[string]bool{"Glasses": false, "One more": false, "One less": true}, works); d != "" {
		t.Error(d)
	}
}

// What is strained: also what comes later, what is off in the end, and a date.
func TestEverythingIsStrained(t *testing.T) {
	e := seen(t, `import { Button, Card, Field } from "$ui4a/ui";
export default function Steps() {
	const [step, setStep] = useState(1);
	const [day, setDay] = useState("2026-12-01");
	const last = useRef("");
	const once = (what: string) => {
		if (last.current === what) throw new Error(what + " twice");
		last.current = what;
	};
	return (
		<Card title={"Step " + step}>
			<Field label="Day" type="date" value={day} onChange={(d) => { if (d === "") throw new Error("no day"); setDay(d); }} />
			{step < 3 && <Button onClick={() => setStep(step + 1)}>Next</Button>}
			{step === 3 && <Button onClick={() => once("send")}>Send</Button>}
		</Card>
	);
}
`)
	if d := cmp.Diff([]string{"no day", "send twice"}, faults(e.Strain)); d != "" {
		t.Error(d, e.Strain)
	}
}

// faults are the texts of errors, without where they were thrown.
func faults(strain []string) []string {
	found := map[string]bool{}
	for _, s := range strain {
		for _, f := range []string{"no day", "send twice"} {
			if strings.Contains(s, f) {
				found[f] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
