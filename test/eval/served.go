// Package eval is what the measurements of the served product share: a server of the built
// program on a contract of their own, requests to it, and intervals.
package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Server is a running program in a home of its own.
type Server struct {
	URL  string
	home string
	run  *exec.Cmd
	out  bytes.Buffer
}

// Start serves the default contract, changed by edit, with the default set's adapters.
func Start(ctx context.Context, program string, edit func(string) string, flags ...string) (*Server, error) {
	text, err := os.ReadFile("macaron.toml")
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "macaron-eval-")
	if err != nil {
		return nil, err
	}
	s := &Server{home: home}
	adapters, err := filepath.Abs("adapters")
	if err == nil {
		err = os.Symlink(adapters, filepath.Join(home, "adapters"))
	}
	contract := filepath.Join(home, "macaron.toml")
	var base string
	if err == nil {
		base, err = model(ctx, program)
	}
	if err == nil {
		err = os.WriteFile(contract, []byte(edit(string(text))), 0o600)
	}
	port, err2 := free()
	if err != nil || err2 != nil {
		return nil, errors.Join(err, err2)
	}
	s.URL = fmt.Sprintf("http://127.0.0.1:%d", port)
	args := append([]string{"serve", "--home", filepath.Join(home, "state"), "--contract", contract, "--listen", fmt.Sprintf("127.0.0.1:%d", port), "--log-level", "warn", "--model", base}, flags...)
	s.run = exec.CommandContext(ctx, program, args...)
	s.run.Stdout, s.run.Stderr = &s.out, &s.out
	if err := s.run.Start(); err != nil {
		return nil, err
	}
	return s, s.ready(ctx)
}

// model is the file of the model that the program has by default.
func model(ctx context.Context, program string) (string, error) {
	out, err := exec.CommandContext(ctx, program, "model", "show", "smollm2-135m-instruct", "--json").Output()
	if err != nil {
		return "", fmt.Errorf("the default model is not there, make model fetches it: %w", err)
	}
	var shown struct {
		Path string `json:"path"`
	}
	return shown.Path, json.Unmarshal(out, &shown)
}

func free() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

func (s *Server) ready(ctx context.Context) error {
	for range 300 {
		r, err := http.Get(s.URL + "/readyz")
		if err == nil {
			_, _ = io.Copy(io.Discard, r.Body)
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	return fmt.Errorf("the server did not become ready: %s", s.out.String())
}

// Close stops the server and removes its home.
func (s *Server) Close() error {
	_ = s.run.Process.Signal(os.Interrupt)
	_ = s.run.Wait() // it was told to end
	return os.RemoveAll(s.home)
}

// Hop is one model call as an answer tells of it.
type Hop struct {
	Hop          string  `json:"hop"`
	Adapter      string  `json:"adapter"`
	PromptTokens int     `json:"prompt_tokens"`
	CachedTokens int     `json:"cached_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Overlay      int     `json:"overlay_tokens"`
	FirstMS      float64 `json:"first_ms"`
	TotalMS      float64 `json:"total_ms"`
}

// Report is the macaron object of an answer.
type Report struct {
	Turn          string             `json:"turn"`
	Session       string             `json:"session"`
	Adapter       string             `json:"adapter"`
	Reason        string             `json:"reason"`
	Cause         string             `json:"cause"`
	Probabilities map[string]float64 `json:"probabilities"`
	Hops          []Hop              `json:"hops"`
	Parts         []struct {
		Turn, Adapter, Request string
	} `json:"parts"`
}

// Answer is a chat completion.
type Answer struct {
	Choices []struct {
		Message struct {
			Content string `json:"content"`
		} `json:"message"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Macaron Report `json:"macaron"`
}

// Text is what was answered.
func (a *Answer) Text() string { return a.Choices[0].Message.Content }

// Message is one of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Chat asks for a chat completion. Body's fields are added to model "macaron".
func (s *Server) Chat(ctx context.Context, messages []Message, body map[string]any) (*Answer, error) {
	all := map[string]any{"model": "macaron", "messages": messages}
	for k, v := range body {
		all[k] = v
	}
	var a Answer
	if err := s.Post(ctx, "/v1/chat/completions", all, &a); err != nil {
		return nil, err
	}
	if len(a.Choices) != 1 {
		return nil, fmt.Errorf("%d choices", len(a.Choices))
	}
	return &a, nil
}

// Post sends JSON and reads JSON.
func (s *Server) Post(ctx context.Context, path string, body, into any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	return s.do(q, into)
}

// Get reads JSON.
func (s *Server) Get(ctx context.Context, path string, into any) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		return err
	}
	return s.do(q, into)
}

func (s *Server) do(q *http.Request, into any) error {
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer r.Body.Close() // read to its end
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", q.URL.Path, r.Status, text)
	}
	return json.Unmarshal(text, into)
}

// Before puts a section in front of the adapters of a contract.
func Before(text, section string) string {
	return strings.Replace(text, "[[adapters]]", section+"\n[[adapters]]", 1)
}
