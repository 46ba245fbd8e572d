package vllm

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"macaron/internal/backend/local"
	"macaron/internal/clock"
	"macaron/internal/engine"
	"macaron/internal/engine/enginetest"
	"macaron/internal/engineserver"
	"macaron/internal/obs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is the API over a tiny model with two adapters, one and two, and a third, three, that
// is not loaded.
type rig struct {
	t     *testing.T
	url   string
	http  *http.Client
	eng   *engine.Engine
	names *engineserver.Names
	dir   string // where the adapters lie
}

func newRig(t *testing.T, change func(*Deps, *engine.Options)) *rig {
	t.Helper()
	var d Deps
	o := engine.Options{Model: enginetest.Model(t, 1), Name: "tiny", Threads: 2, KVBytes: 4 << 20}
	if change != nil {
		change(&d, &o)
	}
	eng, err := engine.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, eng: eng, dir: t.TempDir(), http: &http.Client{Transport: &http.Transport{}}}
	b, err := local.New(eng, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.Clock = &clock.Fixed{T: time.Unix(1700000000, 0)}
	r.names = engineserver.New(engineserver.Options{Base: []string{"tiny", "alias"}, Dirs: []string{r.dir}, Check: b.Take, Drop: b.Drop, Clock: d.Clock})
	for i, name := range []string{"one", "two", "three"} {
		if err := os.Rename(enginetest.Adapter(t, uint64(i+1)), filepath.Join(r.dir, name)); err != nil {
			t.Fatal(err)
		}
		if name != "three" {
			if err := r.names.Load(name, name, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.Engine, d.Tokens, d.Names, d.Log, d.Root, d.Version, d.Runtime, d.Tools = b, eng.Tokenizer(), r.names, obs.Discard(), "tiny.gguf", "test", true, engineserver.ToolText()
	if d.Width = 8; d.Meter == nil {
		d.Meter = obs.NewEngineMetrics("test", func() obs.EngineState { return obs.EngineState{} })
	}
	srv := httptest.NewServer(Handler(d))
	r.url = srv.URL
	t.Cleanup(func() {
		srv.Close()
		r.http.CloseIdleConnections()
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// post sends a body and gives the status and the answer.
func (r *rig) post(path, body string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Request-Id", "r1")
	return r.send(req)
}

func (r *rig) get(path string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.send(req)
}

func (r *rig) send(req *http.Request) (int, string) {
	r.t.Helper()
	resp, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// answer is what tests read of any answer.
type answer struct {
	ID      string
	Model   string
	Choices []struct {
		Index   int
		Text    string
		Message struct {
			Content   *string
			ToolCalls []struct {
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Delta struct {
			Role    string
			Content *string
		}
		Logprobs       json.RawMessage
		FinishReason   *string                    `json:"finish_reason"`
		StopReason     any                        `json:"stop_reason"`
		TokenIDs       []int32                    `json:"token_ids"`
		PromptTokenIDs []int32                    `json:"prompt_token_ids"`
		PromptLogprobs []map[string]promptLogprob `json:"prompt_logprobs"`
		Macaron        *struct {
			Probabilities map[string]float64 `json:"choice_probabilities"`
		}
	}
	PromptLogprobs []map[string]promptLogprob `json:"prompt_logprobs"`
	PromptTokenIDs []int32                    `json:"prompt_token_ids"`
	Usage          *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		TotalTokens      int `json:"total_tokens"`
		Details          struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	Macaron struct{ Ignored []string }
	Error   *errorDetail
}

// ask posts a body that must be answered.
func (r *rig) ask(path, body string) answer {
	r.t.Helper()
	status, text := r.post(path, body)
	if status != http.StatusOK {
		r.t.Fatalf("%s %s: %d %s", path, body, status, text)
	}
	return read(r.t, []byte(text))
}

func read(t *testing.T, b []byte) answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return a
}

// chunks posts a body whose answer is a stream, and gives its chunks.
func (r *rig) chunks(path, body string) []answer {
	r.t.Helper()
	status, text := r.post(path, body)
	if status != http.StatusOK || !strings.HasSuffix(text, "data: [DONE]\n\n") {
		r.t.Fatalf("%s %s: %d %s", path, body, status, text)
	}
	var out []answer
	for _, e := range strings.Split(strings.TrimSuffix(text, "data: [DONE]\n\n"), "\n\n") {
		if data, ok := strings.CutPrefix(e, "data: "); ok {
			out = append(out, read(r.t, []byte(data)))
		}
	}
	return out
}

// refused posts a body that must be refused, and gives the reason.
func (r *rig) refused(path, body string, status int) *errorDetail {
	r.t.Helper()
	got, text := r.post(path, body)
	a := answer{}
	if err := json.NewDecoder(bytes.NewReader([]byte(text))).Decode(&a); err != nil || a.Error == nil || got != status || a.Error.Code != status {
		r.t.Fatalf("%s %s: %d %s, not %d", path, body, got, text, status)
	}
	return a.Error
}
