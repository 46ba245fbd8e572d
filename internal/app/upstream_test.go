package app

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"macaron/internal/record"
	"macaron/internal/wire/sse"
)

// engineBelow is a server that routes to L2 and answers as a test says.
func engineBelow(t *testing.T, route, answer http.HandlerFunc) *site {
	t.Helper()
	return patientWith(t, 30*time.Second, route, answer)
}

// patientWith is engineBelow with a longest silence of the engine.
func patientWith(t *testing.T, silence time.Duration, route, answer http.HandlerFunc) *site {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client left
		}
		switch {
		case bytes.Contains(body, []byte(`"content":"Request: `)) || bytes.Contains(body, []byte(`Request: \"`)):
			route(w, r)
		default:
			answer(w, r)
		}
	}))
	cfg := settings(t, t.TempDir())
	cfg.Upstream.URL = srv.URL + "/v1"
	cfg.Upstream.Key = "sk-canary-0123456789"
	cfg.Upstream.Dialect, cfg.Upstream.Timeout = "openai", silence
	s := start(t, cfg, nil)
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		srv.CloseClientConnections()
		srv.Close()
	})
	return s
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", text)
	}
}

func fails(status int, header string, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set("Retry-After", header)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// B11, B19: whatever the engine does to the route hop, the turn goes to the default.
func TestRouteFaultsOfAnUpstreamFallBackB11B19(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"429":       fails(429, "60", ""),
		"404":       fails(404, "", `{"object":"error","message":"The model L0 does not exist."}`),
		"401":       fails(401, "", ""),
		"500":       fails(500, "", "boom"),
		"no label":  says("I would rather chat"),
		"bad label": says("L9"),
		"empty":     says(""),
		"html":      fails(200, "", "<html>"),
	} {
		t.Run(name, func(t *testing.T) {
			s := engineBelow(t, h, says("hello"))
			for _, mode := range []bool{false, true} {
				q := ask(user("x"))
				q["stream"] = mode
				resp := s.post(q)
				if resp.StatusCode != 200 || resp.Header.Get("X-Macaron-Adapter") != "L0" || resp.Header.Get("X-Macaron-Reason") != "fallback" {
					t.Errorf("stream %v: %d %v", mode, resp.StatusCode, resp.Header)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
			}
		})
	}
}

// What the engine does to the answer hop looks the same in both modes, and its key
// shows nowhere.
func TestAnswerFaultsOfAnUpstream(t *testing.T) {
	for name, tc := range map[string]struct {
		h      http.HandlerFunc
		status int
		code   string
	}{
		"401":            {fails(401, "", `{"error":{"message":"key sk-canary-0123456789 is wrong"}}`), 502, "upstream_failed"},
		"404":            {fails(404, "", ""), 502, "upstream_failed"},
		"429":            {fails(429, "7", ""), 429, "overloaded"},
		"context":        {fails(400, "", `{"error":{"message":"maximum context length is 10 tokens"}}`), 400, "context_length_exceeded"},
		"bad request":    {fails(400, "", `{"error":{"message":"sk-canary-0123456789: no such option"}}`), 400, "invalid_request"},
		"500":            {fails(500, "", ""), 502, "upstream_failed"},
		"200 with error": {fails(200, "", `{"error":{"message":"dead","code":503}}`), 502, "upstream_unavailable"},
		"200, nothing":   {fails(200, "", ""), 502, "upstream_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := engineBelow(t, says("L2"), tc.h)
			for _, mode := range []bool{false, true} {
				q := ask(user("x"))
				q["stream"] = mode
				resp := s.post(q)
				body, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				if resp.StatusCode != tc.status || !bytes.Contains(body, []byte(`"code":"`+tc.code+`"`)) || bytes.Contains(body, []byte("canary")) {
					t.Errorf("stream %v: %d %s", mode, resp.StatusCode, body)
				}
				if tc.status == 429 && resp.Header.Get("Retry-After") != "7" {
					t.Error("Retry-After was dropped")
				}
				if turn := s.settled(); turn.Status != record.StatusInterrupted || turn.Reason != tc.code {
					t.Errorf("the turn is %s, %s", turn.Status, turn.Reason)
				}
			}
		})
	}
}

// After the first word an error is the last event, never a second end.
func TestAnUpstreamThatBreaksOff(t *testing.T) {
	for name, end := range map[string]string{
		"cut":         "",
		"error event": "data: {\"error\":{\"message\":\"out of memory\"}}\n\n",
		"garbage":     "data: {\"cho\n\n",
	} {
		s := engineBelow(t, says("L2"), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n"+end)
		})
		chunks, last := s.chunks(s.post(streamed(ask(user("x")))))
		if said(chunks) != "half" || !strings.Contains(last, `"error"`) {
			t.Errorf("%s: %q, then %s", name, said(chunks), last)
		}
		if turn := s.settled(); turn.Status != record.StatusInterrupted {
			t.Errorf("%s: the turn is %s", name, turn.Status)
		}
	}
}

// The arguments of a call reach the client in the pieces in which the engine sends them.
func TestToolArgumentsStreamAsTheyCome(t *testing.T) {
	next := make(chan struct{})
	piece := func(text string) string {
		return "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0," + text + "}]}}]}\n\n"
	}
	s := engineBelow(t, says("L1"), func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusNotFound) // a look at its health
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range []string{
			piece(`"id":"call_1","type":"function","function":{"name":"f","arguments":""}`), piece(`"function":{"arguments":"{\"x\":"}`), piece(`"function":{"arguments":"12"}`), piece(`"function":{"arguments":"}"}`),
		} {
			_, _ = io.WriteString(w, p)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-next: // the client has seen this piece
			case <-r.Context().Done():
				return
			}
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n")
	})
	q := streamed(ask(user("x")))
	q["model"] = "macaron/L1"
	q["tools"] = []any{object{"type": "function", "function": object{"name": "f", "parameters": object{"type": "object"}}}}
	events, got := sse.NewReader(s.post(q).Body, 1<<20), []string{}
	for {
		e, err := events.Next()
		if err != nil {
			break
		}
		for _, m := range regexp.MustCompile(`"arguments":("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(string(e.Data), -1) {
			got = append(got, m[1])
			next <- struct{}{}
		}
	}
	if strings.Join(got, "|") != `""|"{\"x\":"|"12"|"}"` {
		t.Errorf("the pieces came as %q", got)
	}
}
