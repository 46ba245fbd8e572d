package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"macaron/internal/auth"
	"macaron/internal/backend/backendtest"
	"macaron/internal/record"
	"macaron/internal/session"
)

// canvas is the booking as a canvas, as a model writes it.
var canvas = strings.Replace(booking, "````ui4a/tsx", "````ui4a/tsx canvas/trip", 1)

// shownCard is what a page is told of a card.
type shownCard struct {
	Surface, Revision string
	State             map[string]json.RawMessage
}

// cardOf gives the one card of a conversation.
func (s *site) cardOf(turn string, as ...func(*http.Request)) shownCard {
	s.t.Helper()
	_, body := s.send("GET", "/v1/cards/"+turn, "", as...)
	var all struct{ Cards []shownCard }
	if err := json.Unmarshal([]byte(body), &all); err != nil || len(all.Cards) != 1 {
		s.t.Fatalf("%v: %s", err, body)
	}
	return all.Cards[0]
}

// actionOn is the body of an Action on a card, with some state and what the page holds.
func actionOn(c shownCard, name string, sequence int, state, held string) string {
	return fmt.Sprintf(`{"action":{"id":"act_01KDZZZZZZZZZZZZZZZZZZZZZ%d","origin":{"surface":%q,"revision":%q,"node":""},"kind":"action","name":%q,"state":{%s},
		"execution":"event","visibility":{"audience":"ai","noai":[]},"time":"2026-03-01T12:00:00Z","sequence":%d},"secrets":{"held":{%s},"sealed":{}}}`, sequence, c.Surface, c.Revision, name, state, sequence, held)
}

// eventOf is the body of an event of a card.
func eventOf(c shownCard, event, more string) string {
	return fmt.Sprintf(`{"event":%q,"surface":%q,"revision":%q,"secrets":{"held":{},"sealed":{}}%s}`, event, c.Surface, c.Revision, more)
}

// ended waits until a turn of any tenant is in the log with its end.
func (s *site) ended(owner, turn string) session.Turn {
	s.t.Helper()
	log := session.New(s.store, session.Options{})
	var last session.Turn
	s.until("the turn ends", func() bool {
		turns, err := log.History(s.t.Context(), owner, turn)
		if err == nil {
			last = turns[len(turns)-1]
		}
		return err == nil && last.Status != record.StatusOpen
	})
	return last
}

// A tenant that knows the turn, the name and the revision of another's canvas cannot read it
// or its pictures, patch it, act on it or tell anything of it; what its own answers name
// canvas/trip is another.
func TestACanvasIsItsTenants(t *testing.T) {
	k, secrets := keyedSite(t, map[string]auth.Key{"good": {}, "other": {Tenant: "other"}})
	mine, theirs := with("Bearer", secrets["good"]), with("Bearer", secrets["other"])
	var dot bytes.Buffer
	if err := png.Encode(&dot, image.NewGray(image.Rect(0, 0, 3, 3))); err != nil {
		t.Fatal(err)
	}
	if resp, body := k.send("PUT", "/v1/pictures/beach.png", dot.String(), mine); resp.StatusCode != http.StatusOK {
		t.Fatal(body)
	}
	made := at[object](k.object(k.post(ask(user(canvas)), mine)), "macaron")
	turn, id := at[string](made, "turn"), at[string](made, "session")
	k.ended("acme", turn)
	c := k.cardOf(turn, mine)

	const patch = "````ui4a/patch canvas/trip\\n<<<<<<< SEARCH\\n  return <div>\\n=======\\n  return <p>\\n>>>>>>> REPLACE\\n````\\n"
	draft := `{"after":"` + turn + `","turn":"trn_01KDZZZZZZZZZZZZZZZZZZZZZZ","answer":"` + patch + `","final":true}`
	routes := []struct{ method, path, body string }{
		{"GET", "", ""}, {"GET", "/pictures/beach.png", ""}, {"POST", "/actions", actionOn(c, "book", 1, `"seats":2`, "")},
		{"POST", "/events", eventOf(c, "drawn", `,"paint_ms":1`)}, {"POST", "/events", eventOf(c, "state", `,"values":{"seats":9}`)},
		{"POST", "/events", eventOf(c, "failed", `,"errors":["broken"]`)}, {"POST", "/events", eventOf(c, "left", "")},
	}
	for _, r := range routes {
		if resp, body := k.send(r.method, "/v1/cards/"+turn+r.path, r.body, theirs); resp.StatusCode != http.StatusNotFound || strings.Contains(body, "seats") {
			t.Errorf("another tenant: %s %s %.40s gives %d %s", r.method, r.path, r.body, resp.StatusCode, body)
		}
	}
	if resp, body := k.send("POST", "/v1/cards", draft, theirs); resp.StatusCode != http.StatusNotFound || strings.Contains(body, "seats") {
		t.Errorf("another tenant patches it: %d %s", resp.StatusCode, body)
	}
	for _, alone := range []string{strings.Replace(draft, `"after":"`+turn+`",`, "", 1), strings.NewReplacer(`"after":"`+turn+`",`, "", "trn_01KDZZZZZZZZZZZZZZZZZZZZZZ", turn).Replace(draft)} {
		if _, body := k.send("POST", "/v1/cards", alone, theirs); !strings.Contains(body, "patch-no-canvas") || strings.Contains(body, "seats") {
			t.Errorf("another tenant's patch of a canvas of that name gives %s", body)
		}
	}
	for _, into := range []string{id, ""} {
		resp := k.post(ask(user("L3: change it\n"+strings.ReplaceAll(patch, `\n`, "\n"))), theirs, func(r *http.Request) {
			if into != "" {
				r.Header.Set("X-Macaron-Session", into)
			}
		})
		answer := k.object(resp)
		if own := at[string](answer, "macaron", "turn"); own != "" {
			k.ended("other", own)
			if resp, _ := k.send("GET", "/v1/cards/"+own+"/pictures/beach.png", "", theirs); resp.StatusCode != http.StatusNotFound {
				t.Errorf("another tenant's turn has the picture: %d", resp.StatusCode)
			}
			if _, body := k.send("GET", "/v1/cards/"+own, "", theirs); !strings.Contains(body, "patch-no-canvas") || strings.Contains(body, "seats") {
				t.Errorf("another tenant's turn has %s", body)
			}
		} else if into == "" {
			t.Errorf("another tenant has no turn: %v", answer)
		}
	}

	// Nothing has come of it, and whose it is can do all of that.
	last := k.ended("acme", turn)
	if n := last.CardRecords(); n != 0 || k.cardOf(turn, mine).Revision != c.Revision {
		t.Errorf("the canvas has %d records", n)
	}
	for _, r := range routes {
		if resp, body := k.send(r.method, "/v1/cards/"+turn+r.path, r.body, mine); resp.StatusCode != http.StatusOK {
			t.Errorf("its tenant: %s %s %.40s gives %d %s", r.method, r.path, r.body, resp.StatusCode, body)
		}
	}
	if resp, body := k.send("POST", "/v1/cards", draft, mine); resp.StatusCode != http.StatusOK || !strings.Contains(body, "canvas/trip") {
		t.Errorf("its tenant patches it: %d %s", resp.StatusCode, body)
	}
}

// A model writes a canvas again, and what was private under a name is declared as fit for
// it: the value is neither kept nor sent, no state is there under the name, and that the
// canvas has held something is known after a restart too.
func TestACanvasWrittenAgainKeepsWhatWasPrivate(t *testing.T) {
	const canary = `"quince-7391"`
	cfg := settings(t, t.TempDir())
	s := start(t, cfg, &backendtest.Scripted{})
	first := at[object](s.object(s.post(ask(user(canvas)))), "macaron")
	turn := at[string](first, "turn")
	s.settled()
	if _, body := s.send("POST", "/v1/cards/"+turn+"/actions", actionOn(s.cardOf(turn), "book", 1, `"seats":2,"pin":null`, `"pin":`+canary)); at[string](decoded(t, body), "outcome") != "sent" {
		t.Fatal(body)
	}
	open := strings.NewReplacer(`usePrivateState("pin"`, `usePersistedState("pin"`, "usePersistedState, usePrivateState", "usePersistedState").Replace(canvas)
	next := s.post(ask(user(canvas), object{"role": "assistant", "content": "L3 heard " + canvas}, user(open)))
	again := at[string](at[object](s.object(next), "macaron"), "turn")
	s.settled()
	try := func(s *site, sequence int, held string) {
		t.Helper()
		c := s.cardOf(again)
		if len(c.State["pin"]) != 0 {
			t.Errorf("there is a state %s", c.State)
		}
		refused := func(body string) {
			t.Helper()
			_, answer := s.send("POST", "/v1/cards/"+again+"/actions", body)
			if got := decoded(t, answer); at[string](got, "outcome") != "refused" || strings.Contains(answer, "quince") {
				t.Errorf("an Action gives %s", answer)
			}
		}
		refused(actionOn(c, "book-quince", sequence, `"seats":2`, "")) // no text of the source's
		if _, body := s.send("POST", "/v1/cards/"+again+"/events", strings.Replace(eventOf(c, "state", `,"values":{"pin":`+canary+`,"seats":3}`), `"held":{}`, `"held":{`+held+`}`, 1)); body != "{}\n" {
			t.Errorf("state gives %s", body)
		}
		refused(actionOn(c, "book", sequence+1, `"pin":`+canary, held))
		if c = s.cardOf(again); len(c.State["pin"]) != 0 || string(c.State["seats"]) != "3" {
			t.Errorf("the state is %s", c.State)
		}
	}
	try(s, 2, "") // the page does not tell any more, or lies
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = start(t, cfg, &backendtest.Scripted{})
	try(s, 4, `"pin":`+canary)
	all, err := s.store.Records(t.Context(), auth.Local, at[string](first, "session"), 0, 1000)
	if err != nil || len(all) < 10 {
		t.Fatal(err, len(all))
	}
	private := false
	for _, r := range all {
		if a, ok := r.Body.(record.CardAction); ok {
			private = private || a.Private
		}
		if line, err := record.EncodeLine(r); err != nil || bytes.Contains(line, []byte("quince")) {
			t.Errorf("the log has the private value, or %v", err)
		}
	}
	if !private {
		t.Error("the log does not say that the canvas has held something private")
	}
}
