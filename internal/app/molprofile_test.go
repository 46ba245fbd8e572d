package app

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/contract"
	"macaron/internal/contract/molprofile"
)

// The harness itself in the place of what it was recorded to do: make mol-profiles gives these.
var (
	theirs = flag.String("harness", "", "a clone of the Python harness, whose own profiles are served too")
	python = flag.String("harness-python", "", "a python that has what it requires")
)

const deployed = "../contract/molprofile/testdata/deployed"

// heldByHarness is a conversation that the harness held, and what its engine got.
type heldByHarness struct {
	Instructions string
	Turns        []struct {
		Input string
		Hops  []sentHop
	}
}

// sentHop is what of a request decides what a model sees and may say.
type sentHop struct {
	Hop         string          `json:"hop"`
	Model       string          `json:"model"`
	Messages    []plainMessage  `json:"messages"`
	MaxTokens   int             `json:"max_tokens"`
	Temperature *float64        `json:"temperature"`
	Continue    *bool           `json:"continue_final_message"`
	Begin       *bool           `json:"add_generation_prompt"`
	Structured  json.RawMessage `json:"structured_outputs"`
	Template    map[string]bool `json:"chat_template_kwargs"`
}

type plainMessage struct{ Role, Content string }

// told is the hop that a request is, and what the engine says: as in peer.py.
func (q *sentHop) told(before []sentHop) string {
	switch q.Hop = "answer"; {
	case q.Structured != nil:
		q.Hop = "route"
		return strings.TrimSpace(q.Messages[0].Content)[:2]
	case q.MaxTokens == 192:
		q.Hop = "summary"
	}
	n := 1
	for _, h := range before {
		if h.Hop == q.Hop {
			n++
		}
	}
	return fmt.Sprintf("%s %d", map[string]string{"answer": "answer", "summary": "sum"}[q.Hop], n)
}

// recordingEngine is the engine of peer.py, which streams if it is asked to.
type recordingEngine struct {
	mu   sync.Mutex
	hops []sentHop
}

func (e *recordingEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var q struct {
		sentHop
		Stream bool
	}
	if err != nil || r.Method != "POST" || json.Unmarshal(body, &q) != nil {
		_, _ = io.WriteString(w, `{"object":"list","data":[]}`)
		return
	}
	e.mu.Lock()
	text := q.told(e.hops)
	e.hops = append(e.hops, q.sentHop)
	e.mu.Unlock()
	if q.Stream {
		says(text)(w, r)
		return
	}
	fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, text)
}

// after gives the hops from the n-th on, once there are so many of them.
func (e *recordingEngine) after(t *testing.T, n, many int) []sentHop {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		e.mu.Lock()
		hops := append([]sentHop(nil), e.hops[n:]...)
		e.mu.Unlock()
		if len(hops) >= many {
			return hops
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d hops", len(hops), many)
		}
	}
}

// Deployments of the Python harness are served unchanged: with the imported profile every route
// and answer prompt is that which the harness builds, byte for byte, with its model names,
// bounds and constraint; so is the summary's of a first turn. Later ones are behind the
// specialist's own view here, whose keys and values are there already, and behind the turn alone there.
func TestProfilesAreServedAsTheirHarnessDoes(t *testing.T) {
	like, err := contract.Load("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	type profile struct{ dir, base, held string }
	all := []profile{{deployed + "/Macaron-V1-Tall", "Qwen3.6-35B-A3B", deployed + "/golden.json"}}
	if *theirs != "" {
		if live, golden := holdWith(t, deployed, "Macaron-V1-Tall"), all[0].held; cmp.Diff(heldIn(t, golden), heldIn(t, live)) != "" {
			t.Errorf("%s is not what the harness does; write it anew with peer.py", golden)
		}
		for name, base := range map[string]string{"Macaron-V1-Tall": "Qwen3.6-35B-A3B", "Macaron-V1-Venti": "GLM-5.2"} {
			profiles := filepath.Join(*theirs, "mol_harness")
			all = append(all, profile{filepath.Join(profiles, name), base, holdWith(t, profiles, name)})
		}
	}
	for _, p := range all {
		text, _, err := molprofile.Import(p.dir, molprofile.Options{Base: p.base, Default: "L2", Like: like})
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(p.dir), func(t *testing.T) { servedLike(t, text, p.held) })
	}
}

// holdWith has the harness itself hold the conversations.
func holdWith(t *testing.T, profiles, name string) string {
	t.Helper()
	out, err := exec.Command(*python, "../contract/molprofile/testdata/peer.py", *theirs, profiles, name).Output()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "held.json")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func heldIn(t *testing.T, path string) (all []heldByHarness) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil || len(all) != 2 {
		t.Fatalf("%d conversations in %s, %v", len(all), path, err)
	}
	return all
}

func servedLike(t *testing.T, text []byte, held string) {
	t.Helper()
	want := heldIn(t, held)
	engine := &recordingEngine{}
	below := httptest.NewServer(engine)
	cfg := settings(t, t.TempDir())
	cfg.Upstream.URL, cfg.Upstream.Dialect = below.URL+"/v1", "vllm"
	if err := os.WriteFile(cfg.Contract, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, cfg, nil)
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		below.CloseClientConnections()
		below.Close()
	})
	n := 0
	for _, c := range want {
		previous := any(nil)
		for i, turn := range c.Turns {
			o := s.respond(object{"model": "macaron", "input": turn.Input, "instructions": c.Instructions, "previous_response_id": previous})
			got := engine.after(t, n, len(turn.Hops))
			n, previous = n+len(got), o["id"]
			if i > 0 {
				compareTail(t, &got[2], &turn.Hops[2])
			}
			if d := cmp.Diff(asSent(turn.Hops), asSent(got)); d != "" {
				t.Errorf("the turn %q differs (-there +here):\n%s", turn.Input, d)
			}
		}
	}
}

// compareTail wants two summary prompts to begin and end alike, and then makes them equal.
func compareTail(t *testing.T, got, want *sentHop) {
	t.Helper()
	n, m := len(got.Messages), len(want.Messages)
	if n < m || cmp.Diff(want.Messages[1:], got.Messages[n-m+1:]) != "" || got.Messages[0] != want.Messages[0] {
		t.Errorf("summary: %v, there %v", got.Messages, want.Messages)
	}
	got.Messages = want.Messages
}

// asSent leaves out what differs by name only: an answer that may think says so in no field here.
func asSent(hops []sentHop) []sentHop {
	out := append([]sentHop(nil), hops...)
	for i := range out {
		if out[i].Hop == "answer" {
			out[i].Template = nil
		}
		var b any
		if json.Unmarshal(out[i].Structured, &b) == nil {
			out[i].Structured, _ = json.Marshal(b)
		}
	}
	return out
}
