package obs

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"macaron/internal/chat"
)

func TestLogStrikesOutCredentials(t *testing.T) {
	var out bytes.Buffer
	log := NewLog(&out, "debug", "json")
	log.Info("call", "authorization", "Bearer canary-1", "header", "Authorization: Bearer canary-2",
		"url", "http://user:canary-3@host/v1?api_key=canary-4&x=1", "err", errors.New("key sk-canary5canary refused"),
		slog.Group("upstream", "api_key", "canary-6"))
	if strings.Contains(out.String(), "canary") {
		t.Errorf("a credential shows: %s", out.String())
	}
	if !strings.Contains(out.String(), "x=1") {
		t.Errorf("too much was struck out: %s", out.String())
	}
}

// Prefixes that providers give their keys, and tokens of three parts, wherever they stand.
func TestRedact(t *testing.T) {
	for _, secret := range []string{"sk-proj-canary123", "mk-canary123", "hf_canary123", "ghp_canary123", "gho_canary123", "github_pat_canary123", "glpat-canary123", "gsk_canary123",
		"xoxb-canary123", "AKIAIOSFODNN7EXAMPLE", "AIzaSyCanaryCanaryCanary12", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"} {
		for _, around := range []string{"%s", "key=%s", "it says: %s refused", `{"a":"%s"}`} {
			text := strings.ReplaceAll(around, "%s", secret)
			if got := Redact(text); strings.Contains(got, secret[len(secret)-8:]) || !strings.Contains(got, struck) {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
	for _, plain := range []string{"task-force of sk", "the desk-top computer", "v1.2.3 of a.b.c", "akiaiosfodnn7example", "https://host/path?x=1", "ses_01M8M5W4XYC8JWV959HYZBHAN5"} {
		if got := Redact(plain); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
	var out bytes.Buffer
	NewLog(&out, "info", "json").Info("x", "list", []string{"a", "sk-canary123"}, "any", map[string]string{"k": "hf_canary123"}, "refresh_token", "canary123")
	if strings.Contains(out.String(), "canary") {
		t.Errorf("a credential shows: %s", out.String())
	}
}

func TestLevelAndFormat(t *testing.T) {
	var out bytes.Buffer
	log := NewLog(&out, "warn", "text")
	log.Info("quiet")
	log.Warn("loud", "n", 1)
	if s := out.String(); strings.Contains(s, "quiet") || !strings.Contains(s, "msg=loud n=1") {
		t.Errorf("got %q", s)
	}
}

func TestMetricsServeFixedSeries(t *testing.T) {
	m := NewMetrics("v-test")
	m.Request("chat", 200, time.Second)
	m.Hop("answer", chat.Usage{PromptTokens: 7, CachedTokens: 3, OutputTokens: 2, First: time.Millisecond, Total: time.Second})
	m.Route("model")
	m.Answer("L2")
	m.Turn("delivered")
	m.Summary("model")
	m.Error("overloaded")
	m.Load(2, 1)
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`macaron_http_requests_total{api="chat",class="2xx"} 1`,
		`macaron_hop_tokens_total{hop="answer",kind="cached"} 3`,
		`macaron_routes_total{reason="model"} 1`,
		`macaron_answers_total{adapter="L2"} 1`,
		`macaron_turns_running 2`,
		`macaron_build_info{version="v-test"} 1`,
	} {
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("missing %s", want)
		}
	}
}
