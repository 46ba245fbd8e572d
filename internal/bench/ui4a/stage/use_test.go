package stage_test

import (
	"context"
	"fmt"
	"os"
	"testing"

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
