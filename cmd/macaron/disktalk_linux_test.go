package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/disk/disktest"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/sqlite"
)

// echo is an engine that answers each request with what its last message says, and a label
// where it is asked for one.
func echo(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Messages []struct{ Content any }
			Stream   bool
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&q) != nil || len(q.Messages) == 0 {
			http.NotFound(w, r)
			return
		}
		text := fmt.Sprint(q.Messages[len(q.Messages)-1].Content)
		head, _, _ := strings.Cut(text, " ")
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", "re: "+head)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

// host is a server as a process, and the conversations of a client with it.
type host struct {
	t     *testing.T
	home  string
	args  []string
	cmd   *exec.Cmd
	w     *disktest.Watched // nil: it is not watched
	said  *bytes.Buffer
	base  string
	acked map[string]string // question to the answer that came whole
	talk  []map[string]string
	asked int
}

// start starts the server and reports whether it serves; if not, it has ended.
func (h *host) start(watch bool) bool {
	h.t.Helper()
	h.cmd, h.said, h.w = exec.Command(os.Args[0]), &bytes.Buffer{}, nil
	h.cmd.Args = append([]string{"macaron"}, h.args...)
	h.cmd.Stderr = h.said
	out, err := h.cmd.StdoutPipe()
	if err == nil && watch {
		h.w, err = disktest.Start(h.cmd, h.home, disktest.Plan{})
	} else if err == nil {
		err = h.cmd.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = h.cmd.Process.Kill() }) // it has ended if all was well
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if _, rest, ok := strings.Cut(line, "http://"); ok {
			h.base = "http://" + strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("; \"\n", r) })[0]
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			return true
		}
		h.said.WriteString(line)
		if err != nil {
			_ = h.cmd.Wait() // its exit code is looked at
			return false
		}
	}
}

// end ends the server as s does and checks what the log has.
func (h *host) end(s os.Signal) {
	h.t.Helper()
	if err := h.cmd.Process.Signal(s); err != nil {
		h.t.Fatal(err)
	}
	if err := h.cmd.Wait(); err != nil && s == os.Interrupt {
		h.t.Errorf("it ended with %v: %s", err, h.said)
	}
	if h.w != nil {
		if err := h.w.Close(); err != nil {
			h.t.Error(err)
		}
	}
	path := filepath.Join(h.home, "log.db")
	if err := sqlite.Check(h.t.Context(), path); err != nil {
		h.t.Fatal(err)
	}
	store, err := sqlite.Open(h.t.Context(), sqlite.Options{Path: path})
	if err != nil {
		h.t.Fatal(err)
	}
	defer store.Close() // nothing is written
	h.compare(store)
}

// compare finds every answer that came whole in the log, word for word.
func (h *host) compare(store *sqlite.Store) {
	h.t.Helper()
	log := session.New(store, session.Options{})
	list, err := store.Sessions(h.t.Context(), "local", time.Time{}, 1<<20)
	if err != nil {
		h.t.Fatal(err)
	}
	kept := map[string]bool{}
	for _, s := range list {
		_, turns, err := log.Load(h.t.Context(), "local", s.Session)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, turn := range turns {
			question := turn.User[len(turn.User)-1].Text()
			if turn.Status == record.StatusDelivered {
				kept[question+" -> "+turn.Answer()] = true
			}
		}
	}
	for question, answer := range h.acked {
		if !kept[question+" -> "+answer] {
			h.t.Errorf("the answer %q was acknowledged and is not in the log", answer)
		}
	}
}

// ask sends the conversation with one question more, of about so many bytes, and gives the
// error that comes; after an answer the conversation has both.
func (h *host) ask(size int) (status int, said string) {
	h.t.Helper()
	h.asked++
	question := fmt.Sprintf("q%d.%d %s", os.Getpid(), h.asked, strings.Repeat("x", size))
	messages := append(h.talk[:len(h.talk):len(h.talk)], map[string]string{"role": "user", "content": question})
	stream := h.asked%2 == 0
	body, err := json.Marshal(map[string]any{"model": "macaron", "stream": stream, "messages": messages})
	if err != nil {
		h.t.Fatal(err)
	}
	status, said = h.post(body)
	answer := ""
	for _, line := range strings.Split(said, "\n") {
		var part struct {
			Choices []struct{ Message, Delta struct{ Content string } }
		}
		if json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &part) == nil && len(part.Choices) > 0 {
			answer += part.Choices[0].Message.Content + part.Choices[0].Delta.Content
		}
	}
	if answer == "" || strings.Contains(said, `"error"`) || stream && !strings.Contains(said, "[DONE]") {
		return max(status, 299), said
	}
	h.acked[question] = answer
	h.talk = append(messages, map[string]string{"role": "assistant", "content": answer})
	return status, said
}

func (h *host) post(body []byte) (int, string) {
	h.t.Helper()
	ctx, stop := context.WithTimeout(h.t.Context(), time.Minute)
	defer stop()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, h.base+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		h.t.Fatal(err)
	}
	return resp.StatusCode, string(said)
}

func newHost(t *testing.T, home string) *host {
	t.Helper()
	contract := tiny(t)[3]
	args := []string{"serve", "--home", home, "--contract", contract, "--upstream", echo(t), "--upstream-dialect", "openai", "--listen", "127.0.0.1:0", "--log-level", "error"}
	return &host{t: t, home: home, args: args, acked: map[string]string{}}
}

// Every call with which a serving process changes the files of its home fails once, or from
// there on: the client is told with a code, reading goes on, nothing that it was told is lost,
// and when the disk is sound again so is the conversation, without a restart and after one.
func TestNthFaultBelowAConversation(t *testing.T) {
	h := newHost(t, t.TempDir())
	if !h.start(true) {
		t.Fatal(h.said)
	}
	h.w.Plan(disktest.Plan{})
	for range 2 {
		if status, said := h.ask(10); status != http.StatusOK {
			t.Fatal(status, said)
		}
	}
	seen, _ := h.w.Seen()
	calls, met := len(seen), 0
	trials := 0
	for i := 0; i < calls*(len(ways)-1); i += 1 + *each/50 {
		trials++
		plan := ways[i%(len(ways)-1)]
		plan.At = 1 + i/(len(ways)-1)
		met += h.trial(plan)
	}
	t.Logf("two turns make %d calls; in %d trials %d requests failed", calls, trials, met)
	if met == 0 {
		t.Error("no fault came to a client")
	}
	h.end(os.Interrupt)
	if !h.start(false) {
		t.Fatal(h.said)
	}
	if status, said := h.ask(10); status != http.StatusOK {
		t.Errorf("after a restart: %d %s", status, said)
	}
	h.end(os.Interrupt)
}

// trial has one call fail in a turn or the next, and tells how many requests failed.
func (h *host) trial(plan disktest.Plan) (met int) {
	h.t.Helper()
	if len(h.talk) > 8 {
		h.talk = nil
	}
	h.w.Plan(plan)
	for range 2 {
		if status, said := h.ask(10); status != http.StatusOK {
			met++
			if !strings.Contains(said, "storage_") {
				h.t.Errorf("%s at call %d: %d %s", plan.Fault, plan.At, status, said)
			}
		}
	}
	_, struck := h.w.Seen()
	if resp, err := http.Get(h.base + "/admin/sessions"); err != nil || resp.StatusCode != http.StatusOK && plan.Fault != disktest.Broken {
		h.t.Errorf("%s at call %d, %v: reading: %v %v", plan.Fault, plan.At, struck, resp, err)
	} else if err := resp.Body.Close(); err != nil {
		h.t.Error(err)
	}
	h.w.Plan(disktest.Plan{})
	if status, said := h.ask(10); status != http.StatusOK {
		h.t.Errorf("%s at call %d, %v: with a sound disk again: %d %s", plan.Fault, plan.At, struck, status, said)
	}
	return met
}
