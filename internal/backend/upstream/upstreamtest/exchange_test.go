package upstreamtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A recording has neither the directory that a server names, nor one in how it was started;
// what only looks like a path stays.
func TestARecordingHasNoDirectory(t *testing.T) {
	dir := t.TempDir()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"root":"`+dir+`","url":"/v1/chat/completions"}`)
	}))
	defer srv.Close()
	r := &Recorder{Next: http.DefaultTransport}
	resp, err := (&http.Client{Transport: r}).Get(srv.URL + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(got), dir) {
		t.Errorf("the client gets %s, %v", got, err)
	}
	path := filepath.Join(t.TempDir(), "x.json")
	if err := r.Save(path, "server --model "+dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), dir) || strings.Count(string(text), filepath.Base(dir)) != 2 || !strings.Contains(string(text), "/v1/chat/completions") {
		t.Errorf("%s %v", text, err)
	}
}
