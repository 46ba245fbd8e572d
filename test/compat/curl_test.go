package compat

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// answer is what the tests need of an answer, whole or the last chunk of a stream.
type answer struct {
	Choices []struct {
		Message      message `json:"message"`
		Delta        message `json:"delta"`
		FinishReason string  `json:"finish_reason"`
	} `json:"choices"`
	Macaron struct {
		Turn, Session, Adapter, Reason string
		Probabilities                  map[string]float64
		Hops                           []struct{ Hop string }
	} `json:"macaron"`
}

// questions are a conversation whose turns belong to different specialists.
var questions = [5]string{
	"Hello! Who are you?",
	"Write a Python function that adds two numbers.",
	"And what is the capital of France?",
	"Remind me tomorrow at nine to call Ann.",
	"Thank you. What did we talk about?",
}

// curl posts a body and returns what came back, headers first.
func (s *server) curl(t *testing.T, body any) string {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("curl", "--silent", "--show-error", "--no-buffer", "--include", "--fail-with-body",
		"--header", "Content-Type: application/json", "--data-binary", "@-", s.base+"/v1/chat/completions")
	cmd.Stdin = bytes.NewReader(b)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("curl: %v\n%s\nthe server's log:\n%s", err, out, s.log)
	}
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

// curlConversation resends the whole history each time, as such clients do, and checks
// that the server sees one session of five turns.
func (s *server) curlConversation(t *testing.T, stream bool) {
	t.Helper()
	var history []message
	session, turns := "", map[string]bool{}
	for i, q := range questions {
		if stream { // words of its own: the same ones would be found in the other conversation
			q += " Please."
		}
		history = append(history, message{"user", q})
		raw := s.curl(t, map[string]any{"model": "macaron", "stream": stream, "max_tokens": 24, "messages": history})
		header, body, _ := strings.Cut(raw, "\n\n")
		text, last := read(t, body, stream)
		m := last.Macaron
		if i == 0 {
			session = m.Session
		}
		if text == "" || m.Session == "" || m.Session != session || turns[m.Turn] || last.Choices[0].FinishReason == "" {
			t.Fatalf("turn %d: %q in session %s (was %s), turn %s", i, text, m.Session, session, m.Turn)
		}
		turns[m.Turn] = true
		history = append(history, message{"assistant", text})
		for _, want := range []string{"X-Macaron-Adapter: " + m.Adapter, "X-Macaron-Session: " + session, "X-Macaron-Turn: " + m.Turn} {
			if !strings.Contains(header, want) {
				t.Errorf("the header %q is missing in\n%s", want, header)
			}
		}
		checkRoute(t, m.Reason, m.Probabilities)
	}
}

func checkRoute(t *testing.T, reason string, probabilities map[string]float64) {
	t.Helper()
	sum := 0.0
	for _, p := range probabilities {
		sum += p
	}
	if reason != "model" || len(probabilities) != 4 || sum < 0.999 || sum > 1.001 {
		t.Errorf("routed by %q with %v, which sums to %f", reason, probabilities, sum)
	}
}

// read takes a whole answer, or joins the pieces of a streamed one.
func read(t *testing.T, body string, stream bool) (text string, last answer) {
	t.Helper()
	if !stream {
		if err := json.Unmarshal([]byte(body), &last); err != nil || len(last.Choices) != 1 {
			t.Fatalf("%v\n%s", err, body)
		}
		return last.Choices[0].Message.Content, last
	}
	pieces, done := 0, false
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
		if done = done || data == "[DONE]"; !ok || done {
			continue
		}
		last = answer{}
		if err := json.Unmarshal([]byte(data), &last); err != nil || len(last.Choices) != 1 {
			t.Fatalf("%v\n%s", err, data)
		}
		if piece := last.Choices[0].Delta.Content; piece != "" {
			text += piece
			pieces++
		}
	}
	if !done || pieces < 2 {
		t.Fatalf("%d pieces, ended %v\n%s", pieces, done, body)
	}
	return text, last
}
