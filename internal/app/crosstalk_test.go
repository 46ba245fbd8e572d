package app

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"macaron/internal/config"
)

var nonce = regexp.MustCompile(`nonce-\d+-\d+`)

// echoing is a server that answers with the last nonce of the request, one word a chunk, or
// routes to L2.
func echoing(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	text := "L2"
	if !bytes.Contains(body, []byte("structured_outputs")) {
		all := nonce.FindAllString(string(body), -1)
		text = "heard " + all[len(all)-1] + " and nothing else"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, word := range strings.SplitAfter(text, " ") {
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", word)
		w.(http.Flusher).Flush()
	}
	_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// Many conversations at once, streamed and whole, over engines' connections that are used
// again: nobody hears what another one said, the log keeps each to itself, and the last turns
// of long ones take no more room than the first.
func TestConversationsDoNotMix(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(echoing))
	defer srv.Close()
	cfg := settings(t, t.TempDir())
	cfg.Upstream = config.Upstream{URL: srv.URL + "/v1", Dialect: "vllm", Timeout: cfg.Upstream.Timeout}
	cfg.Queue.Running = 32
	s := start(t, cfg, nil)
	const clients, turns = 12, 30
	var group sync.WaitGroup
	var ids [clients]string
	for c := range ids {
		ids[c] = s.openConversation()
	}
	var sizes [2]int64
	for half := range 2 {
		for c := range clients {
			group.Go(func() { s.hold(ids[c], c, half*turns/2, turns/2) })
		}
		group.Wait()
		sizes[half] = sizeOf(t, cfg.Home)
	}
	if first, second := sizes[0], sizes[1]-sizes[0]; second > first*3/2 {
		t.Errorf("the first half of the turns takes %d bytes, the second %d", first, second)
	}
	code, text := s.get("/admin/sessions?limit=100")
	if code != http.StatusOK || strings.Count(text, `"ses_`) < clients {
		t.Fatalf("%d %.300s", code, text)
	}
	for _, id := range regexp.MustCompile(`ses_[0-9A-Z]{26}`).FindAllString(text, -1) {
		_, one := s.get("/admin/sessions/" + id)
		whose := map[string]bool{}
		for _, n := range nonce.FindAllString(one, -1) {
			whose[strings.Split(n, "-")[1]] = true
		}
		if len(whose) != 1 {
			t.Errorf("session %s has words of %v", id, whose)
		}
	}
}

// hold holds turns of one client's conversation, every third of them streamed.
func (s *site) hold(conversation string, client, from, turns int) {
	for i := from; i < from+turns; i++ {
		mine := fmt.Sprintf("nonce-%d-%d", client, i)
		q := object{"model": "macaron", "input": "say " + mine, "stream": i%3 == 0, "conversation": conversation}
		code, text := s.call(http.MethodPost, "/v1/responses", q)
		for _, n := range nonce.FindAllString(text, -1) {
			if n != mine {
				s.t.Errorf("asked with %s, heard %s", mine, n)
			}
		}
		if code != http.StatusOK || !strings.Contains(text, mine) {
			s.t.Errorf("%s: %d %.300s", mine, code, text)
		}
	}
}

// openConversation makes a conversation and gives its id.
func (s *site) openConversation() string {
	s.t.Helper()
	code, text := s.call(http.MethodPost, "/v1/conversations", object{})
	id := regexp.MustCompile(`conv_[0-9A-Za-z]+`).FindString(text)
	if code != http.StatusOK || id == "" {
		s.t.Fatalf("no conversation: %d %.300s", code, text)
	}
	return id
}

func sizeOf(t *testing.T, home string) (sum int64) {
	t.Helper()
	for _, name := range []string{"log.db", "log.db-wal"} {
		info, err := os.Stat(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}
