package compat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"macaron/internal/browser"
)

// everyPart has one of each part that is carried, and of each that is not.
const everyPart = `import { usePersistedState, PrivateField } from "$ui4a/state";
import { sendAction, sendMessage } from "$ui4a/chat";
import { Button, Card, Checkbox, Field, Slider, Select, RadioGroup, Tabs, Tab, Row } from "$ui4a/ui";
import { Chart } from "$ui4a/charts";
import { Plane } from "$ui4a/icons";
import { LaTeX } from "$ui4a/katex";

export default function Trip() {
  const [guests, setGuests] = usePersistedState("guests", 2);
  const [name, setName] = usePersistedState("name", "Ada");
  const [late, setLate] = usePersistedState("late", false);
  const [room, setRoom] = usePersistedState("room", "Double");
  const [open, setOpen] = useState(0);
  return (
    <Card title="Lisbon" subtitle="Three nights" icon={<Plane />}>
      <p className="text-accent">{guests * 120} euros</p>
      <Slider label="Guests" min={1} max={6} value={guests} onChange={setGuests} />
      <Field label="Name" value={name} onChange={setName} />
      <Checkbox label="Late arrival" checked={late} onChange={setLate} />
      <RadioGroup label="Room" options={["Single", "Double"]} value={room} onChange={setRoom} />
      <Select label="Meal" options={["None", "Breakfast"]} />
      <PrivateField name="iban" label="Account" />
      <ul><li>Near the river</li><li>Quiet street</li></ul>
      <Tabs label="Parts">
        <Tab label="Plan"><p>Walk the hills</p></Tab>
        <Tab label="Costs"><Button onClick={() => sendMessage("Show cheaper places")}>Cheaper</Button></Tab>
      </Tabs>
      <LaTeX tex="a^2" />
      <Chart label="Prices" kind="bar" data={[{ x: "a", y: 1 }, { x: "b", y: 2 }]} x="x" y="y" />
      <Row>
        <Button onClick={() => sendAction({ name: "book", reads: ["guests", "name", "room", "iban"] })}>Book</Button>
        <Button onClick={() => setOpen(open + 1)}>Opened {open}</Button>
      </Row>
    </Card>
  );
}
`

type exported struct {
	Messages []any
	Loss     []struct{ Kind, Name string }
}

// A card as A2UI is what A2UI's own schemas allow, has all that can be carried, and names
// all that cannot.
func TestACardAsA2UI(t *testing.T) {
	program, file := build(t), filepath.Join(t.TempDir(), "card.tsx")
	write(t, file, everyPart)
	cmd := exec.Command(program, "ui4a", "export", file, "--to", "a2ui", "--json", "--strict")
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 5 {
		t.Fatalf("--strict with a loss: %v\n%s", err, out)
	}
	var got exported
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&got); err != nil { // the error comes behind it
		t.Fatal(err)
	}
	schema := a2uiSchema(t)
	for _, m := range got.Messages {
		if err := schema.Validate(m); err != nil {
			t.Errorf("%v", err)
		}
	}
	text := fmt.Sprint(got.Messages[1:]...)
	if schema.Validate(mustJSON(t, strings.Replace(quotedJSON(t, got.Messages[1]), `"component":"Slider"`, `"component":"Chart"`, 1))) == nil {
		t.Error("the schema allows anything")
	}
	for _, part := range []string{
		"text:Lisbon variant:h2", "text:Three nights", "label:Guests max:6 min:1 value:map[path:/guests]", "label:Name value:map[path:/name]", "label:Late arrival value:map[path:/late]",
		"component:ChoicePicker", "text:Near the river", "component:Tabs", "title:Plan", "text:Walk the hills", "name:message", "text:Show cheaper places",
		"context:map[guests:map[path:/guests] name:map[path:/name] room:map[path:/room]] name:book", "guests:2", "name:Ada", "room:[Double]",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not there", part)
		}
	}
	var lost []string
	for _, l := range got.Loss {
		lost = append(lost, l.Kind+" "+l.Name)
	}
	for _, want := range []string{"chart Prices: bar chart", "formula a2", "icon icon", "local Opened 0", "private Account", "private iban", "unbound Meal", "computed 240 euros", "choice Room"} {
		if !slices.Contains(lost, want) {
			t.Errorf("%s is not named as lost: %v", want, lost)
		}
	}
	drawsA2UI(t, got.Messages)
	if !strings.HasPrefix(lost[len(lost)-2], "style ") || len(lost) != 10 || strings.Contains(text, "iban") || strings.Contains(text, "Account") {
		t.Errorf("lost %v of %s", lost, text)
	}
}

// The official renderer draws the messages, and its button sends the event with the values at the time.
func drawsA2UI(t *testing.T, messages []any) {
	t.Helper()
	page := httptest.NewServer(hostPage(t, bundled(t, nodeFolder(t), "a2uihost.mjs"), map[string]any{"messages": messages}))
	defer page.Close()
	b, err := browser.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	p, err := b.Page(browser.View{Width: 500, Height: 1500})
	if err != nil {
		t.Fatal(err)
	}
	h := &shownCard{Page: p, t: t}
	h.must(p.Open(page.URL))
	for _, word := range []string{"Lisbon", "Three nights", "Near the river", "Walk the hills", "Late arrival", "Single"} {
		h.wait(fmt.Sprintf("window.words && words().includes(%q)", word))
	}
	h.text(`(drawn().filter((e) => e.matches("button")).find((b) => b.innerText.includes("Book") || b.textContent.includes("Book") || (b.querySelector("slot") && b.getRootNode().host?.textContent.includes("Book"))) ?? drawn().filter((e) => e.matches("button")).at(-1)).click(), ""`)
	h.wait(`told.actions.length === 1`)
	if sent := h.text(`JSON.stringify([told.actions[0].name, told.actions[0].context])`); sent != `["book",{"guests":2,"name":"Ada","room":["Double"]}]` {
		t.Errorf("the event is %s", sent)
	}
}

// a2uiSchema is that of the package @a2ui/web_core.
func a2uiSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir := filepath.Join(installed(t, "compat-node"), "node_modules", "@a2ui", "web_core", "src", "v0_9", "schemas")
	c := jsonschema.NewCompiler()
	const at = "https://a2ui.org/specification/v0_9/"
	for url, file := range map[string]string{
		"server_to_client.json": "server_to_client.json", "common_types.json": "common_types.json",
		"catalog.json": "catalogs/basic/catalog.json", "catalogs/basic/catalog.json": "catalogs/basic/catalog.json",
	} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource(at+url, mustJSON(t, string(b))); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Compile(at + "server_to_client.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustJSON(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func quotedJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
