package app

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/backend/upstream/upstreamtest"
	"macaron/internal/record"
)

var renew = flag.Bool("renew", false, "write the golden results of the faults anew")

// Each fault of an engine, streamed and not, gives one golden result at each API: what
// the client sees is as much a promise as an answer that goes well.
func TestFaultsOfAnEngineAreGoldenResults(t *testing.T) {
	var out strings.Builder
	for _, f := range upstreamtest.Faults() {
		silence := 30 * time.Second
		if f.Stalls {
			silence = 300 * time.Millisecond
		}
		s := patientWith(t, silence, says("L0"), f.Serve)
		out.WriteString(s.both(f.Name))
	}
	closed := listener(t)
	closed.Close()
	for name, url := range map[string]string{"connection refused": "http://" + closed.Addr().String()} {
		out.WriteString(siteAt(t, url+"/v1").both(name))
	}
	plain := engineBelow(t, says("L0"), says("hello"))
	out.WriteString(siteAt(t, "https://"+strings.TrimPrefix(plain.cfg.Upstream.URL, "http://")).both("TLS failure"))

	const path = "testdata/faults.golden"
	if *renew {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(out.String(), "\n")); d != "" {
		t.Error(d)
	}
}

// siteAt is a server over an engine at an address.
func siteAt(t *testing.T, url string) *site {
	t.Helper()
	cfg := settings(t, t.TempDir())
	cfg.Upstream.URL, cfg.Upstream.Dialect, cfg.Upstream.Timeout = url, "openai", 30*time.Second
	return start(t, cfg, nil)
}

// both describes what a client sees of a turn, without and with stream, and how the log
// closed it.
func (s *site) both(name string) string {
	out := ""
	for _, mode := range []bool{false, true} {
		q := ask(user("x"))
		q["model"], q["stream"] = "macaron/L0", mode
		resp := s.post(q)
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			s.t.Fatalf("%s: %v", name, err)
		}
		turn := s.settled()
		if turn.Status == record.StatusDelivered && strings.Contains(string(text), `"error"`) {
			s.t.Errorf("%s: a delivered turn was told as an error", name)
		}
		out += fmt.Sprintf("%s, stream %v: %d%s %s | %s\n", name, mode, resp.StatusCode, wait(resp.Header), seen(string(text)), turn.Status)
	}
	return out
}

func wait(h http.Header) string {
	n, err := strconv.Atoi(h.Get("Retry-After"))
	switch {
	case err != nil:
		return ""
	case n > 1000:
		return ", retry after long"
	}
	return fmt.Sprint(", retry after ", n)
}

var (
	contents = regexp.MustCompile(`"content":\s*("(?:[^"\\]|\\.)*")`)
	codes    = regexp.MustCompile(`"code":\s*"([a-z_]+)"`)
	reasons  = regexp.MustCompile(`"finish_reason":\s*"([a-z_]+)"`)
	messages = regexp.MustCompile(`"message":\s*("(?:[^"\\]|\\.)*")`)
	hosts    = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)
)

// seen is the words, the end and the error of an answer.
func seen(text string) string {
	words := ""
	for _, m := range contents.FindAllStringSubmatch(text, -1) {
		if w, err := strconv.Unquote(m[1]); err == nil {
			words += w
		}
	}
	out := fmt.Sprintf("%q", words)
	for _, m := range reasons.FindAllStringSubmatch(text, -1) {
		out += " " + m[1]
	}
	for _, m := range codes.FindAllStringSubmatch(text, -1) {
		out += " " + m[1]
	}
	for _, m := range messages.FindAllStringSubmatch(text, -1) {
		out += " " + hosts.ReplaceAllString(m[1], "ENGINE")
	}
	return out
}
