package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"macaron/internal/backend/backendtest"
	"macaron/internal/obs"
)

// BenchmarkTurn measures what Macaron itself adds to a turn: HTTP, decoding, log,
// routing and encoding around an engine that answers at once. Every turn is a
// conversation of its own, with its summary in the background.
func BenchmarkTurn(b *testing.B) {
	for _, mode := range []string{"whole", "stream"} {
		b.Run(mode, func(b *testing.B) {
			s, url := benchSite(b)
			body, err := json.Marshal(object{"model": "macaron", "stream": mode == "stream", "messages": []any{user("L2: write a loop that counts")}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				resp, err := s.Post(url, "application/json", strings.NewReader(string(body)))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 {
					b.Fatal(resp.StatusCode, err)
				}
				resp.Body.Close()
			}
		})
	}
}

func benchSite(b *testing.B) (*http.Client, string) {
	b.Helper()
	a, err := New(settings(b, b.TempDir()), Options{Log: obs.Discard(), Generator: &backendtest.Scripted{}})
	if err != nil {
		b.Fatal(err)
	}
	srv := httptest.NewServer(a.Handler())
	client := &http.Client{Transport: &http.Transport{}}
	b.Cleanup(func() {
		client.CloseIdleConnections()
		srv.Close()
		if err := a.Close(); err != nil {
			b.Error(err)
		}
	})
	return client, srv.URL + "/v1/chat/completions"
}
