package turn_test

import (
	"os"
	"testing"

	"macaron/internal/chat"
	"macaron/internal/session"
	"macaron/internal/turn"
)

var where = session.Where{Owner: "local"}

func turnRequest(text string) turn.Request {
	return turn.Request{ID: "req", Owner: "local", Messages: []chat.Message{chat.Text(chat.User, text)}}
}

func opening(t *testing.T) session.Opening {
	return session.Opening{Request: "req", Contract: defaultContract(t).Hash()}
}

func mustRead(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	return b
}
