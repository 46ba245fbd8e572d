package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"macaron/internal/config"
	"macaron/internal/store/homelock"
)

// A server that is slow to answer is a server all the same, where it holds the home: a command that
// took it for none would begin one of its own there, and be refused.
func TestABusyServerOfTheHomeIsFound(t *testing.T) {
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(Asking + Asking/2)
		fmt.Fprint(w, `{"status":"ok","version":"1"}`)
	}))
	defer busy.Close()
	c := config.Config{Home: t.TempDir(), Listen: "127.0.0.1:0"}
	lock, err := homelock.Acquire(c.Home)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := lock.Serve(strings.TrimPrefix(busy.URL, "http://")); err != nil {
		t.Fatal(err)
	}
	running, err := Serving(t.Context(), c)
	if err != nil || running == nil || running.Base != busy.URL {
		t.Errorf("%+v, %v", running, err)
	}
}
