package session_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/ownview"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/sqlite"
)

var update = flag.Bool("update", false, "write the golden log anew (only when the format has got a new version)")

const golden = "testdata/golden/"

// The golden log was written once and is committed. Every later build opens it,
// reads the same records and folds them to the same views, byte for byte.
func TestGoldenLogReplays(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	path := filepath.Join(t.TempDir(), "log.db")
	if err := os.WriteFile(path, read(t, "log.db"), 0o600); err != nil {
		t.Fatal(err)
	}
	store := openAt(t, path)
	if diff := cmp.Diff(string(read(t, "records.jsonl")), dump(t, store)); diff != "" {
		t.Errorf("records (-golden +got):\n%s", diff)
	}
	if diff := cmp.Diff(string(read(t, "views.jsonl")), views(t, rigOn(t, store))); diff != "" {
		t.Errorf("views (-golden +got):\n%s", diff)
	}
}

// This build writes what the golden log has.
func TestGoldenLogIsStillWritten(t *testing.T) {
	store := openAt(t, filepath.Join(t.TempDir(), "log.db"))
	script(t, store)
	if diff := cmp.Diff(string(read(t, "records.jsonl")), dump(t, store)); diff != "" {
		t.Errorf("records (-golden +got):\n%s", diff)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(golden + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func openAt(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func writeGolden(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(golden, 0o755); err != nil {
		t.Fatal(err)
	}
	path := golden + "log.db"
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	store := openAt(t, path)
	script(t, store)
	for name, text := range map[string]string{"records.jsonl": dump(t, store), "views.jsonl": views(t, rigOn(t, store))} {
		if err := os.WriteFile(golden+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// counting is randomness that can be had again.
type counting struct{ n byte }

func (c *counting) Read(p []byte) (int, error) {
	for i := range p {
		c.n++
		p[i] = c.n & 0x7f
	}
	return len(p), nil
}

// script holds the golden conversations: every kind of record, every rule.
func script(t *testing.T, store *sqlite.Store) {
	t.Helper()
	r := rigOn(t, store)
	r.log = session.New(store, session.Options{Clock: r.clock, IDs: ids.NewSource(r.clock, &counting{})})
	tick := func() { r.clock.Add(1500 * time.Millisecond) }

	first := []chat.Message{chat.Text(chat.System, "Be brief."), user("Grüße <b>&\u2028 日本"), said("imported"), {
		Role: chat.User, Parts: []chat.Part{{Kind: "text", Text: "look"}, {Kind: "image", Raw: json.RawMessage(`{ "url" : "data:,x" }`)}},
	}}
	pos, err := r.log.Resolve(ctx, me, first)
	if err != nil {
		t.Fatal(err)
	}
	turn, err := r.log.Begin(ctx, pos, session.Opening{
		Request: "req_1", Run: "run_1", Contract: r.c.Hash(), Consent: record.ConsentTrain, Forced: "L2",
		Tools: []chat.ToolDef{{Name: "find", Parameters: json.RawMessage(`{"type": "object", "a": 1}`)}}, Choice: chat.ToolChoice{Mode: "auto"},
	})
	if err != nil {
		t.Fatal(err)
	}
	tick()
	route := record.Hop{Hop: record.HopRoute, Adapter: revision("L0"), Route: &record.RouteDecision{Label: "L2", Reason: "model", Probabilities: map[string]float64{"L2": 0.75, "L0": 0.25}}}
	if err := r.log.RecordHop(ctx, turn, session.Served{Hop: route, Blob: &record.Blob{Tokens: []int32{7}, Logps: []float32{-0.25}}}); err != nil {
		t.Fatal(err)
	}
	a1 := said("I see.")
	a1.Reasoning = "hm"
	served := answer("L2", a1)
	served.Hop.Usage = chat.Usage{PromptTokens: 10, CachedTokens: 4, OutputTokens: 2, First: time.Millisecond, Total: 2 * time.Millisecond}
	served.Blob = &record.Blob{Tokens: []int32{1, -2, 49151}, Logps: []float32{-0.5, -1.25, 0}}
	if err := r.log.Close(ctx, turn, record.StatusDelivered, "", served); err != nil {
		t.Fatal(err)
	}
	r.summarize(t, turn.ID, "saw an image")
	h := with(first, said("I see."))

	tick()
	lost := r.begin(t, me, with(h, user("u2")), "L1")
	if err := r.log.Close(ctx, lost.Turn, record.StatusInterrupted, "upstream_failed", answer("L1", said("half"))); err != nil {
		t.Fatal(err)
	}
	tick()
	b := r.begin(t, me, with(h, user("u2")), "L1")
	r.finish(t, b, calls("c1", "c2"))
	asked := with(h, user("u2"), calls("c1", "c2"))
	tick()
	b = r.begin(t, me, with(asked, result("c2", "two"), result("c1", "one")), "")
	r.finish(t, b, said("done"))
	done := with(asked, result("c2", "two"), result("c1", "one"), said("done"))
	tick()
	r.say(t, with(done, user("u3")), "L2", "a3")
	tick()
	r.say(t, with(asked, result("c1", "one"), user("never mind")), "L0", "fine")
	tick()
	b = r.begin(t, me, with(asked, result("c1", "1"), result("c2", "2")), "")
	r.finish(t, b, said("done otherwise"))
	if err := r.log.Feedback(ctx, me.Owner, b.ID, record.Feedback{Score: -1, Reason: "wrong"}); err != nil {
		t.Fatal(err)
	}
	r.say(t, with(h, user("u2 edited")), "L0", "other")
}

// dump shows the whole log as docs/formats/log.md describes it, a record a line.
func dump(t *testing.T, store *sqlite.Store) string {
	t.Helper()
	var out bytes.Buffer
	for _, s := range sessions(t, store) {
		all, err := store.Records(ctx, me.Owner, s.Session, 0, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			out.WriteString(line(t, r) + "\n")
		}
	}
	return out.String()
}

func line(t *testing.T, r record.Record) string {
	t.Helper()
	var blob string
	if r.Blob != nil {
		raw, err := r.Blob.Encode()
		if err != nil {
			t.Fatal(err)
		}
		blob = base64.StdEncoding.EncodeToString(raw)
	}
	body, err := record.EncodeBody(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	r.Head.Blob = nil
	head, err := json.Marshal(r.Head)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(head), "}") + `,"kind":"` + string(r.Body.Kind()) + `","blob":"` + blob + `","body":` + string(body) + "}"
}

func sessions(t *testing.T, store *sqlite.Store) []record.SessionState {
	t.Helper()
	all, err := store.Sessions(ctx, me.Owner, time.Time{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// views shows every delivered turn as each adapter sees it once a user goes on.
// Summaries that no view has used yet are shown as if one had, and none is made.
func views(t *testing.T, r *rig) string {
	t.Helper()
	var out bytes.Buffer
	for _, s := range sessions(t, r.store) {
		_, turns, err := r.log.Load(ctx, me.Owner, s.Session)
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range turns {
			for _, label := range r.c.Labels() {
				if turn.Status == record.StatusDelivered {
					out.WriteString(`{"turn":"` + turn.ID + `","label":"` + label + `","view":` + replay(t, r, turn.ID, label) + "}\n")
				}
			}
		}
	}
	return out.String()
}

func replay(t *testing.T, r *rig, turn, label string) string {
	t.Helper()
	history, err := r.log.History(ctx, me.Owner, turn)
	if err != nil {
		t.Fatal(err)
	}
	past := session.Views(history)
	for i := range past {
		if past[i].Final = true; history[i].SummarySource == "" {
			past[i].Summary = r.extract(&history[i])
		}
	}
	view, err := ownview.Build(r.c, past, ownview.Turn{User: []chat.Message{user("next")}}, label)
	if err != nil {
		t.Fatal(err)
	}
	return encode(t, view)
}
