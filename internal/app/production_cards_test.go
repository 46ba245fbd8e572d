package app

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"macaron/internal/auth"
	"macaron/internal/mint/filter"
	"macaron/internal/session"
	"macaron/internal/ui4a/album"
	"macaron/internal/ui4a/surface"
)

const booking = "L3: draw it\n````ui4a/tsx\n" + `import { usePersistedState, usePrivateState } from "$ui4a/state";
import { sendAction } from "$ui4a/chat";
export default function Trip() {
  const [seats] = usePersistedState("seats", 2);
  const [pin, setPin] = usePrivateState("pin", "");
  return <div><input aria-label="PIN" value={pin} onChange={(e) => setPin(e.target.value)} /><button onClick={() => sendAction({ name: "book", reads: ["seats", "pin"] })}>Book {seats}</button></div>;
}` + "\n````\n"

// What became of a card is a label of the rows of its answer, and selects them; a private
// value is in no file of a dataset, and what a turn without consent said is in none either.
func TestOutcomesOfCardsAreLabels(t *testing.T) {
	const canary = "quince-7391"
	s, _ := scriptedSite(t)
	turn := at[string](at[object](s.object(s.post(ask(user(booking)), consenting)), "macaron"), "turn")
	other := strings.NewReplacer("draw it", "and draw one for the boat", "Trip", "Boat").Replace(booking)
	s.object(s.post(ask(user(other)), consenting))
	s.object(s.post(ask(user("L0: which river is the longest of them?")), consenting))
	s.settled()
	_, body := s.send("GET", "/v1/cards/"+turn, "")
	var all struct {
		Cards []struct{ Surface, Revision string }
	}
	if err := json.Unmarshal([]byte(body), &all); err != nil || len(all.Cards) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	card := all.Cards[0]
	const id = "act_01KDZZZZZZZZZZZZZZZZZZZZZZ"
	act := `{"action":{"id":"` + id + `","origin":{"surface":"` + card.Surface + `","revision":"` + card.Revision + `","node":"button: Book"},"kind":"action","name":"book","state":{"seats":47110001,"pin":null},
		"execution":"event","visibility":{"audience":"ai","noai":[]},"time":"2026-03-01T12:00:00Z","sequence":1},"secrets":{"held":{"pin":"` + canary + `"},"sealed":{}}}`
	resp, body := s.send("POST", "/v1/cards/"+turn+"/actions", act)
	var receipt struct{ Outcome, Saw string }
	if err := json.Unmarshal([]byte(body), &receipt); err != nil || receipt.Outcome != "sent" || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v: %d %s", err, resp.StatusCode, body)
	}
	s.object(s.post(ask(user(booking), object{"role": "assistant", "content": "L3 heard " + booking}, user(receipt.Saw)), func(r *http.Request) { r.Header.Set("X-Request-Id", id) })) // nobody consents to this one
	s.settled()

	set := filter.Defaults()
	set.HeldOut = 0
	out := t.TempDir()
	d := s.dataset(set, out)
	rows, _ := rowsOf(t, d)
	var labels []string
	for _, r := range rows {
		for _, c := range r.Cards {
			labels = append(labels, c.Outcome)
			if c.Outcome == "completed" && (c.Surface != card.Surface || string(c.Revision) != card.Revision || c.Actions["sent"] != 1) {
				t.Errorf("the label is %+v", c)
			}
		}
	}
	if slices.Sort(labels); len(rows) != 3 || !slices.Equal(labels, []string{"completed", "none"}) {
		t.Errorf("%d rows with the labels %q, dropped %v", len(rows), labels, d.Manifest.Dropped)
	}
	files, err := filepath.Glob(filepath.Join(d.Dir, "*"))
	if err != nil || len(files) < 5 {
		t.Fatal(err, files)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil || strings.Contains(string(text), "quince") || strings.Contains(string(text), "47110001") || strings.Contains(string(text), "button: Book") {
			t.Errorf("%s has what nobody may learn: %v", name, err)
		}
	}

	set.Cards = filter.Cards{Outcomes: []string{"completed"}, Only: true}
	d = s.dataset(set, out)
	if rows, _ = rowsOf(t, d); len(rows) != 1 || d.Manifest.Dropped["card_outcome"] != 1 || d.Manifest.Dropped["no_card"] != 1 {
		t.Errorf("%d rows, dropped %v", len(rows), d.Manifest.Dropped)
	}
}

// A conversation leaves with its cards and what a model saw of Actions on them, and with
// nothing else of those: no private value, no state of an Action that stayed with the
// person, no name of what was withheld. What is done on a canvas is told of its own branch.
func TestAConversationAsATIF(t *testing.T) {
	const canary = "quince-7391"
	s, _ := scriptedSite(t)
	canvas := strings.Replace(booking, "````ui4a/tsx", "````ui4a/tsx canvas/trip", 1)
	first := at[object](s.object(s.post(ask(user(canvas)))), "macaron")
	turn, id := at[string](first, "turn"), at[string](first, "session")
	other := at[string](at[object](s.object(s.post(ask(user(strings.Replace(canvas, "draw it", "draw the same", 1))), func(r *http.Request) { r.Header.Set("X-Macaron-Session", id) })), "macaron"), "turn")
	s.settled()
	act := func(turn, name string, sequence int, visibility string) string {
		t.Helper()
		_, body := s.send("GET", "/v1/cards/"+turn, "")
		var all struct {
			Cards []struct{ Surface, Revision string }
		}
		if err := json.Unmarshal([]byte(body), &all); err != nil || len(all.Cards) != 1 {
			t.Fatalf("%v: %s", err, body)
		}
		resp, body := s.send("POST", "/v1/cards/"+turn+"/actions", `{"action":{"id":"`+name+`","origin":{"surface":"canvas/trip","revision":"`+all.Cards[0].Revision+`","node":"button: Book"},"kind":"action","name":"book","state":{"seats":`+strconv.Itoa(47110000+sequence)+`,"pin":null},
			"execution":"event","visibility":{"audience":"`+visibility+`","noai":[]},"time":"2026-03-01T12:00:00Z","sequence":`+strconv.Itoa(sequence)+`},"secrets":{"held":{"pin":"`+canary+`"},"sealed":{}}}`)
		if resp.StatusCode != http.StatusOK {
			t.Fatal(body)
		}
		return at[string](decoded(t, body), "saw")
	}
	const sent, kept = "act_01KDZZZZZZZZZZZZZZZZZZZZZZ", "act_01KDZZZZZZZZZZZZZZZZZZZZZY"
	saw := act(turn, sent, 1, "ai")
	act(turn, kept, 2, "user")
	s.object(s.post(ask(user(canvas), object{"role": "assistant", "content": "L3 heard " + canvas}, user(saw)), func(r *http.Request) { r.Header.Set("X-Request-Id", sent) }))
	s.settled()

	talks, err := NewProduction(s.store, t.TempDir()).Talks(t.Context(), auth.Local, id)
	if err != nil || len(talks) != 2 {
		t.Fatal(err, talks)
	}
	for _, talk := range talks {
		text, err := json.Marshal(talk.ATIF("1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, no := range []string{"quince", "47110002", "button: Book", `"withheld":["pin","seats"]`} {
			if strings.Contains(string(text), no) {
				t.Errorf("the document has %q", no)
			}
		}
		used := talk.Turns[len(talk.Turns)-1].Turn != other
		for _, want := range []string{`"action":{"id":"` + sent + `","surface":"canvas/trip"`, `"outcome":"completed"`, `"outcome":"kept"`, `47110001`} {
			if strings.Contains(string(text), want) != used {
				t.Errorf("the branch that was used: %t; it has %s: %t\n%s", used, want, !used, text)
			}
		}
	}
}

// Two processes over one log, or two tabs, tell of the same end: it is recorded once.
func TestAnOutcomeIsRecordedOnce(t *testing.T) {
	s, _ := scriptedSite(t)
	turn := at[string](at[object](s.object(s.post(ask(user(booking)))), "macaron"), "turn")
	s.settled()
	var desks []*surface.Desk
	for range 2 {
		desks = append(desks, surface.New(session.New(s.store, session.Options{}), album.New(t.TempDir()), s.ids))
	}
	cards, err := desks[0].Cards(t.Context(), auth.Local, turn)
	if err != nil || len(cards.Cards) != 1 {
		t.Fatal(err, cards)
	}
	e := surface.Event{Surface: cards.Cards[0].Surface, Revision: cards.Cards[0].Revision}
	done := make(chan error)
	for i := range 12 {
		go func() { done <- desks[i%2].Left(t.Context(), auth.Local, turn, e) }()
	}
	for range 12 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	turns, err := session.New(s.store, session.Options{}).History(t.Context(), auth.Local, turn)
	if err != nil || turns[0].CardRecords() != 1 {
		t.Errorf("%d records, %v", turns[0].CardRecords(), err)
	}
}
