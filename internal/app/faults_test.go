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
	"sync"
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
	list := upstreamtest.Faults()
	results := make([][]string, len(list)+2)
	for i := range results {
		results[i] = make([]string, len(interfaces))
	}
	t.Run("faults", func(t *testing.T) {
		var stalled sync.WaitGroup
		for i, f := range list {
			for j, a := range interfaces { // a server for each: an engine that fails too often is left alone
				if f.Stalls { // all at once
					silence := 5 * time.Second // in which what stands before the stall comes, also on a busy machine
					if strings.Contains(f.Name, "before the headers") {
						silence = time.Second // three tries must end long before the client gets a status line all the same
					}
					s := patientWith(t, silence, says("L0"), f.Serve)
					stalled.Go(func() { results[i][j] = s.told(f.Name, a) })
					continue
				}
				t.Run(f.Name+", "+a.name, func(t *testing.T) {
					results[i][j] = engineBelow(t, says("L0"), f.Serve).told(f.Name, a)
				})
			}
		}
		stalled.Wait()
	})
	plain := engineBelow(t, says("L0"), says("hello"))
	for j, a := range interfaces {
		results[len(list)][j] = siteAt(t, "http://127.0.0.1:1/v1").told("connection refused", a)
		results[len(list)+1][j] = siteAt(t, "https://"+strings.TrimPrefix(plain.cfg.Upstream.URL, "http://")).told("TLS failure", a)
	}
	var out strings.Builder
	for _, r := range results {
		out.WriteString(strings.Join(r, ""))
	}

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

// interfaceOf is how one of the APIs asks, and where in its answers the words, the end and the code of
// an error stand.
type interfaceOf struct {
	name, path, body             string
	words, pieces, reasons, code *regexp.Regexp
}

var interfaces = []interfaceOf{
	{"chat", "/v1/chat/completions", `{"model":"macaron/L0","messages":[{"role":"user","content":"x"}],"stream":%v}`,
		member("content", anything), member("content", anything), member("finish_reason", word), member("code", word)},
	{"messages", "/v1/messages", `{"model":"macaron/L0","max_tokens":50,"messages":[{"role":"user","content":"x"}],"stream":%v}`,
		member("text", anything), member("text", anything), member("stop_reason", word), member("type", `[a-z_]*_error|error_[a-z]+`)},
	{"responses", "/v1/responses", `{"model":"macaron/L0","input":"x","stream":%v}`,
		member("text", anything), member("delta", anything), member("status", `completed|failed`), member("code", word)},
}

const (
	anything = `(?:[^"\\]|\\.)*`
	word     = `[a-z_]+`
)

func member(name, value string) *regexp.Regexp {
	return regexp.MustCompile(`"` + name + `":\s*"(` + value + `)"`)
}

// told describes what a client sees of a turn, without and with stream, and how the log closed it.
func (s *site) told(name string, a interfaceOf) string {
	out := ""
	for _, mode := range []bool{false, true} {
		resp := s.post(fmt.Sprintf(a.body, mode), func(r *http.Request) { r.URL.Path = a.path })
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			s.t.Fatalf("%s: %v", name, err)
		}
		turn := s.settled()
		if turn.Status == record.StatusDelivered && strings.Contains(string(text), `"error":{`) {
			s.t.Errorf("%s, %s: a delivered turn was told as an error", name, a.name)
		}
		out += fmt.Sprintf("%s, %s, stream %v: %d%s %s | %s\n", name, a.name, mode, resp.StatusCode, wait(resp.Header), a.seen(string(text), mode), turn.Status)
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
	messages = member("message", anything)
	hosts    = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)
)

// seen is the words, the end and the error of an answer.
func (a interfaceOf) seen(text string, stream bool) string {
	where, words := a.words, ""
	if stream {
		where = a.pieces
	}
	for _, m := range where.FindAllStringSubmatch(text, -1) {
		if w, err := strconv.Unquote(`"` + m[1] + `"`); err == nil {
			words += w
		}
	}
	out := fmt.Sprintf("%q", words)
	for _, what := range []*regexp.Regexp{a.reasons, a.code, messages} {
		if all := what.FindAllStringSubmatch(text, -1); len(all) > 0 {
			out += " " + hosts.ReplaceAllString(all[len(all)-1][1], "ENGINE")
		}
	}
	return out
}
