package app

import (
	"fmt"
	"strings"
	"testing"

	"macaron/internal/backend/backendtest"
	"macaron/internal/config"
	"macaron/internal/store/postgres/pgtest"
)

// Two proxies on one Postgres are one to their clients: a conversation goes on at
// whichever of them the next request comes to, and each sees what the other did.
func TestTwoProxiesOnOneDatabase(t *testing.T) {
	url := pgtest.Database(t)
	var sites [2]*site
	for i := range sites {
		cfg := settings(t, t.TempDir())
		cfg.Store.URL = config.Secret(url)
		sites[i] = start(t, cfg, &backendtest.Scripted{})
	}
	var messages []any
	session := ""
	for i := range 6 {
		s := sites[i%2]
		messages = append(messages, user(fmt.Sprintf("L%d: question %d", i%3, i)))
		resp := s.post(ask(messages...))
		if got := resp.Header.Get("X-Macaron-Session"); resp.StatusCode != 200 || session != "" && got != session {
			t.Fatalf("turn %d: %d, in session %s, not %s", i, resp.StatusCode, got, session)
		}
		session = resp.Header.Get("X-Macaron-Session")
		choices := at[[]any](s.object(resp), "choices")
		messages = append(messages, object{"role": "assistant", "content": at[string](choices[0], "message", "content")})
	}
	for _, s := range sites {
		turns := s.turnsOf()
		if len(turns) != 6 || !strings.Contains(turns[5].Text(), "question 5") {
			t.Errorf("%d turns", len(turns))
		}
		if code, body := s.get("/readyz"); code != 200 {
			t.Error(body)
		}
	}
}
