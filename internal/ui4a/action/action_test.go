package action

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"macaron/internal/errs"
)

const good = `{"id":"act_01J","origin":{"surface":"canvas/a","revision":"sha256:1","node":"b"},"kind":"action","name":"book",` +
	`"state":{"date":"2026-12-01"},"execution":"event","visibility":{"audience":"ai","noai":["/form/pin"]},"time":"2026-11-30T10:00:00Z","sequence":1}`

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("action.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("action.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestReadAgreesWithTheSchema compares Read with a validator of others.
func TestReadAgreesWithTheSchema(t *testing.T) {
	edit := func(old, put string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%s is not in the Action", old)
		}
		return strings.Replace(good, old, put, 1)
	}
	valid := map[string]string{
		"an action":    good,
		"a message":    edit(`"kind":"action","name":"book"`, `"kind":"message","text":"Book it"`),
		"a capability": edit(`"execution":"event"`, `"execution":"host-capability","capability":"calendar.add"`),
		"no state":     edit(`{"date":"2026-12-01"}`, `{}`),
	}
	invalid := map[string]string{
		"no id":                       edit(`"id":"act_01J",`, ``),
		"another's id":                edit(`act_01J`, `trn_01J`),
		"an unknown field":            edit(`"sequence":1`, `"sequence":1,"extra":2`),
		"an unknown field below":      edit(`"node":"b"`, `"nodes":"b"`),
		"an unknown kind":             edit(`"kind":"action"`, `"kind":"auto"`),
		"a message with a name":       edit(`"kind":"action"`, `"kind":"message"`),
		"an action with a text":       edit(`"name":"book"`, `"name":"book","text":"x"`),
		"a name that is none":         edit(`"name":"book"`, `"name":"book it"`),
		"a key that is no name":       edit(`"date"`, `"a key"`),
		"an unknown execution":        edit(`"event"`, `"eval"`),
		"a capability without a name": edit(`"event"`, `"host-capability"`),
		"a name without capability":   edit(`"execution":"event"`, `"execution":"event","capability":"x"`),
		"an unknown audience":         edit(`"ai"`, `"all"`),
		"a pointer to everything":     edit(`"/form/pin"`, `""`),
		"sequence 0":                  edit(`"sequence":1`, `"sequence":0`),
		"a sequence with a fraction":  edit(`"sequence":1`, `"sequence":1.5`),
		"no time":                     edit(`"time":"2026-11-30T10:00:00Z",`, ``),
		"a long node":                 edit(`"node":"b"`, `"node":"`+strings.Repeat("x", MaxNode+1)+`"`),
		"an array":                    "[]",
	}
	s := schema(t)
	for _, list := range []map[string]string{valid, invalid} {
		for name, text := range list {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			wrong := s.Validate(doc)
			_, err = Read([]byte(text))
			if _, ok := valid[name]; (err == nil) != ok || (wrong == nil) != ok {
				t.Errorf("%s: Read says %v, the schema %v", name, err, wrong)
			}
		}
	}
}

func TestReadIsBoundedAndQuotesNoValue(t *testing.T) {
	for name, text := range map[string]string{
		"too long":      strings.Replace(good, "2026-12-01", strings.Repeat("x", MaxAction), 1),
		"too deep":      strings.Replace(good, `"2026-12-01"`, strings.Repeat("[", 20)+strings.Repeat("]", 20), 1),
		"a key twice":   strings.Replace(good, `"date":`, `"date":"SECRET","date":`, 1),
		"a strange key": strings.Replace(good, `"sequence":1`, `"sequence":1,"SECRET value":2`, 1),
		"cut short":     good[:len(good)-5],
		"two":           good + good,
		"no UTF-8":      strings.Replace(good, "2026", "\xff", 1),
		"many keys":     strings.Replace(good, `"date":"2026-12-01"`, manyKeys(), 1),
	} {
		_, err := Read([]byte(text))
		if err == nil || errs.As(err).Code == errs.Internal || strings.Contains(err.Error()+errs.As(err).Field, "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Read([]byte(strings.Replace(good, `"sequence"`, `"sequense"`, 1))); errs.As(err).Field != "sequense" {
		t.Errorf("the unknown field is not named: %v", err)
	}
}

func manyKeys() string {
	m := map[string]int{}
	for i := range MaxKeys + 1 {
		m["k"+strings.Repeat("x", i)[:min(i, 60)]+string(rune('a'+i%26))] = i
	}
	for i := range MaxKeys {
		m["q"+string(rune('a'+i%26))+string(rune('a'+i/26))] = i
	}
	text, _ := json.Marshal(m)
	return string(text[1 : len(text)-1])
}

// booking is a card that reads a date and an account that the model must not see.
func booking() (*Guard, Action) {
	c := Contract{Surface: "canvas/a", Revision: "sha256:1", Source: `sendAction({ name: "book" }); ["small", "large"]`,
		Keys: map[string]Key{"date": {}, "note": {}, "form": {}, "account": {NoAI: true}}}
	a, err := Read([]byte(good))
	if err != nil {
		panic(err)
	}
	a.Visibility.NoAI = nil
	return NewGuard(c, &Secrets{}), a
}

func raw(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func TestTheReceiptSaysWhatTheModelSaw(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*Action)
		outcome Outcome
		reason  Reason
		saw     string
	}{
		"declared state":    {func(*Action) {}, Sent, "", `{"action":"book","state":{"date":"2026-12-01"},"surface":"canvas/a"}`},
		"an undeclared key": {func(a *Action) { a.State["other"] = raw("x") }, Sent, "", `{"action":"book","state":{"date":"2026-12-01"},"surface":"canvas/a"}`},
		"a NoAI key":        {func(a *Action) { a.State["account"] = raw("DE89 3704") }, Sent, "", `{"action":"book","state":{"date":"2026-12-01"},"surface":"canvas/a","withheld":["account"]}`},
		"a NoAI pointer": {func(a *Action) {
			a.State["form"] = raw(map[string]any{"pin": "99177", "n": 1})
			a.Visibility.NoAI = []string{"/form/pin"}
		}, Sent, "", `{"action":"book","state":{"date":"2026-12-01","form":{"n":1}},"surface":"canvas/a","withheld":["form"]}`},
		"a copy of it":         {func(a *Action) { a.State["account"] = raw("DE89 3704"); a.State["note"] = raw("see 3704-98ED") }, Refused, Tainted, ""},
		"a text, nothing NoAI": {func(a *Action) { a.Kind, a.Name, a.Text = Message, "", "3 people" }, Sent, "", "3 people"},
		"a text made up":       {func(a *Action) { a.State["account"] = raw("DE89"); a.Kind, a.Name, a.Text = Message, "", "3 people" }, Refused, DynamicText, ""},
		"a literal":            {func(a *Action) { a.State["account"] = raw("DE89"); a.Kind, a.Name, a.Text = Message, "", "small" }, Sent, "", "small"},
		"for the person":       {func(a *Action) { a.Visibility.Audience = User }, Kept, "", ""},
		"a local function":     {func(a *Action) { a.Execution = Local }, Kept, "", ""},
		"another surface":      {func(a *Action) { a.Origin.Surface = "canvas/b" }, Refused, Stale, ""},
		"an old revision":      {func(a *Action) { a.Origin.Revision = "sha256:0" }, Refused, Stale, ""},
	} {
		g, a := booking()
		c.change(&a)
		r := g.Act(a)
		if r.Outcome != c.outcome || r.Reason != c.reason || r.Saw != c.saw || r.Message == "" {
			t.Errorf("%s: %+v", name, r)
		}
		if again := g.Act(a); r.Reason != Stale && again.Reason != Replayed {
			t.Errorf("%s: the same sequence again: %+v", name, again)
		}
	}
}

func TestASurfaceThatHeldAValueStaysTainted(t *testing.T) {
	g, a := booking()
	for _, typed := range []string{"D", "DE", "DE89370", ""} {
		if err := g.Hold(raw(typed)); err != nil {
			t.Fatal(err)
		}
	}
	g.Revise(Contract{Surface: "canvas/a", Revision: "sha256:2", Keys: map[string]Key{"note": {}}})
	a.Origin.Revision = "sha256:2"
	a.State = map[string]json.RawMessage{"note": raw("de89")}
	a.Kind, a.Name, a.Text = Event, "book", ""
	if r := g.Act(a); r.Outcome != Refused {
		t.Errorf("a new revision sends what the old one held: %+v", r)
	}
	if g.Picture() || g.Height(65) != 128 || g.Text(ErrorText, "DE89370") == "DE89370" || g.Text(Title, "small") != untold[Title] {
		t.Error("an outlet is open")
	}
	if len(g.secrets.values) != 1 {
		t.Errorf("%d values are kept of one that was typed", len(g.secrets.values))
	}
}

func TestTooManyValuesCloseTheSurface(t *testing.T) {
	g, a := booking()
	for i := range MaxSecrets + 1 {
		if err := g.Hold(raw(time.Unix(int64(i)*99991, 0).String())); err != nil {
			t.Fatal(err)
		}
	}
	a.State = map[string]json.RawMessage{"note": raw("anything")}
	if r := g.Act(a); r.Reason != Tainted {
		t.Errorf("%+v", r)
	}
}

// Texts that share nothing with a NoAI value are let through.
func TestOrdinaryValuesPass(t *testing.T) {
	for _, note := range []string{"two people, window seat", "2026-12-01 18:30", "Grüße aus Köln", "https://example.org/a?b=c", "aGVsbG8gd29ybGQ=", "+49 30 1234"} {
		g, a := booking()
		if err := g.Hold(raw("DE89 3704 0044 0532 0130 00")); err != nil {
			t.Fatal(err)
		}
		a.State = map[string]json.RawMessage{"note": raw(note)}
		if r := g.Act(a); r.Outcome != Sent {
			t.Errorf("%q: %+v", note, r)
		}
	}
}

// A value that the host alone has is looked for, and leaves the card free to write texts.
func TestASealedValueLeavesTheCardFree(t *testing.T) {
	post := func(text string) (*Guard, Receipt) {
		g, a := booking()
		body := `{"action":` + good + `,"secrets":{"held":{},"sealed":{"account":"DE89 3704"}}}`
		_, secrets, err := ReadPosted(strings.NewReader(body))
		if err != nil || strings.Contains(fmt.Sprintf("%v %+v %#v %s", secrets, secrets, secrets, raw(secrets)), "3704") {
			t.Fatalf("%v, or it prints its values", err)
		}
		if err := g.Take(secrets); err != nil {
			t.Fatal(err)
		}
		a.State["account"] = raw("DE89 3704")
		a.Kind, a.Name, a.Text = Message, "", text
		return g, g.Act(a)
	}
	if g, r := post("3 people"); r.Outcome != Sent || g.Holds() {
		t.Errorf("%+v", r)
	}
	if _, r := post("from de-893704"); r.Reason != Tainted {
		t.Errorf("%+v", r)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(good))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := Read(text)
		if err != nil {
			return
		}
		g, _ := booking()
		g.Act(a)
		if again, err := json.Marshal(a); err != nil {
			t.Fatal(err)
		} else if _, err := Read(again); err != nil && len(again) <= MaxAction {
			t.Fatalf("%s: what was read cannot be read again: %v", again, err)
		}
	})
}
