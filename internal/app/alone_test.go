package app

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"macaron/internal/backend/backendtest"
	"macaron/internal/obs"
)

// The training service alone has its protocol and its curves, and speaks of nothing that it has not.
func TestTheTrainingServiceAlone(t *testing.T) {
	a, err := New(settings(t, t.TempDir()), Options{Version: "test", Log: obs.Discard(), Generator: &backendtest.Scripted{}, Training: true})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, a)
	for path, want := range map[string]struct {
		status int
		says   string
	}{
		"/": {200, "training.js"}, "/training": {200, "training.js"}, "/assets/training.js": {200, ""}, "/v1/training/runs": {400, "engine of its own"},
		"/v1/models": {404, "training service alone"}, "/runs": {404, "/api/v1/"}, "/admin/sessions": {404, "/training"}, "/api/v1/healthz": {400, "engine of its own"},
	} {
		resp, err := s.http.Get(s.base + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.Body.Close() != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != want.status || !strings.Contains(string(body), want.says) || resp.StatusCode == http.StatusNotFound && strings.Contains(string(body), "chat page") {
			t.Errorf("GET %s: %d %.200s", path, resp.StatusCode, body)
		}
	}
}
