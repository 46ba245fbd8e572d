package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"macaron/internal/errs"
)

// Before the model is there, that is what is said, and when to ask again.
func TestTheModelIsBeingLoaded(t *testing.T) {
	w := httptest.NewRecorder()
	(&App{}).serveTraining(w, httptest.NewRequest(http.MethodPost, "/api/v1/create_session", http.NoBody))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), "the model is being loaded") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if err := newLate().Ready(t.Context()); errs.CodeOf(err) != errs.ModelLoading {
		t.Error(err)
	}
}
