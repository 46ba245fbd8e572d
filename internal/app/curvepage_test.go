package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/errs"
	"macaron/internal/obs"
	"macaron/internal/train/curve"
	"macaron/internal/web"
	"macaron/internal/wire/curves"
)

// onePage serves the page of a recipe's run that has taken two steps of three.
func onePage(t *testing.T) (p *CurvePage, base string) {
	t.Helper()
	metrics := filepath.Join(t.TempDir(), "my work", curve.File)
	for step := range 2 {
		if err := curve.Append(metrics, curve.Line{"step": float64(step + 1), "planned": 3, "time": 1e9 + float64(step), "loss": 2}); err != nil {
			t.Fatal(err)
		}
	}
	p = NewCurvePage(RecipeRun(metrics, 0), Options{Log: obs.Discard()})
	s := httptest.NewServer(p.Handler())
	t.Cleanup(s.Close)
	return p, s.URL
}

// asked is what a page answers to a request that was changed.
func asked(t *testing.T, method, url string, change func(*http.Request)) (status int, body []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	change(r)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // read to its end
	body, err = io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

func unchanged(*http.Request) {}

// The page of one run has the files and the interface of /training, and nothing else; nobody
// changes anything there, and no page or name of another site reaches it.
func TestThePageOfOneRun(t *testing.T) {
	_, base := onePage(t)
	for path, want := range map[string]int{
		"/": 302, "/training": 200, "/assets/training.js": 200, "/v1/training/runs": 200, "/v1/training/runs/my%20work": 200, "/v1/training/runs/my%20work?at=-1": 400,
		"/v1/training/runs/other": 404, "/v1/training/runs/other/events": 404, "/runs": 404, "/admin/sessions": 404, "/v1/models": 404, "/healthz": 404,
	} {
		if got, body := asked(t, "GET", base+path, unchanged); got != want {
			t.Errorf("GET %s: %d %.200s", path, got, body)
		}
		for _, method := range []string{"POST", "PUT", "DELETE"} {
			if got, body := asked(t, method, base+path, unchanged); got != 404 || !bytes.Contains(body, []byte("only read")) {
				t.Errorf("%s %s: %d %.200s", method, path, got, body)
			}
		}
		for name, change := range map[string]func(*http.Request){
			"another host":   func(r *http.Request) { r.Host = "rebound.example.org" },
			"another origin": func(r *http.Request) { r.Header.Set("Origin", "https://example.org") },
			"another's page": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		} {
			if got, body := asked(t, "GET", base+path, change); got != 403 {
				t.Errorf("%s of %s: %d %.200s", path, name, got, body)
			}
		}
	}
	_, page := asked(t, "GET", base+"/training", unchanged)
	w := httptest.NewRecorder()
	web.Handler(web.Deps{}).ServeHTTP(w, httptest.NewRequest("GET", "/training", http.NoBody))
	if d := cmp.Diff(w.Body.String(), string(page)); d != "" {
		t.Errorf("it is another page: %s", d)
	}
}

func TestWhatThePageTellsOfItsRun(t *testing.T) {
	p, base := onePage(t)
	var got struct {
		Run  curves.Run
		Data []curve.Line
	}
	_, body := asked(t, "GET", base+"/v1/training/runs/my%20work", unchanged)
	if err := json.Unmarshal(body, &got); err != nil || len(got.Data) != 2 {
		t.Fatal(err, string(body))
	}
	if r := got.Run; r.ID != "my work" || r.Steps != 2 || r.Planned != 3 || !r.Over || r.Created.Unix() != 1e9 || r.Used.Unix() != 1e9+1 {
		t.Errorf("%+v", r)
	}
	if m, err := RecipeRun(p.run.Metrics, 7).Model(t.Context()); err != nil || m.Planned() != 7 { // what a person says goes before
		t.Errorf("%+v %v", m, err)
	}
	if err := os.WriteFile(p.run.Metrics, []byte(`{"step":1e300,"time":1e300,"planned":-1e300}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, body := asked(t, "GET", base+"/v1/training/runs", unchanged); status != 200 {
		t.Errorf("numbers that nothing has: %d %.200s", status, body)
	}
}

func TestAPageIsForThisMachineAlone(t *testing.T) {
	taken := listener(t).Addr().String()
	for address, want := range map[string]errs.Code{
		"": errs.InvalidRequest, "8090": errs.InvalidRequest, "127.0.0.1:x": errs.InvalidRequest, "127.0.0.1:65536": errs.InvalidRequest, "127.0.0.1:-1": errs.InvalidRequest,
		":8090": errs.Forbidden, "0.0.0.0:8090": errs.Forbidden, "[::]:8090": errs.Forbidden, "192.0.2.1:8090": errs.Forbidden, "example.org:8090": errs.Forbidden,
		taken: errs.AddressInUse,
	} {
		_, err := ListenHere(t.Context(), address)
		if e := errs.As(err); e == nil || e.Code != want || !strings.Contains(e.Next, "free port") || strings.Contains(e.Next, "PORT=") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{FreePort, "localhost:0"} {
		l, err := ListenHere(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Who follows a run whose process ends is sent its last line, and then the end.
func TestAStreamEndsWithTheLastLine(t *testing.T) {
	p, _ := onePage(t)
	l, err := ListenHere(t.Context(), FreePort)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx, l) }()
	resp, err := http.Get("http://" + l.Addr().String() + "/v1/training/runs/my%20work/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // read to its end
	in := bufio.NewReader(resp.Body)
	if first, err := in.ReadString('\n'); err != nil || !strings.Contains(first, `"step":1`) {
		t.Fatal(first, err)
	}
	if err := curve.Append(p.run.Metrics, curve.Line{"step": 3, "planned": 3}); err != nil {
		t.Fatal(err)
	}
	end()
	rest, err := io.ReadAll(in)
	if err != nil || !strings.Contains(string(rest), `"step":3}`) {
		t.Errorf("%q %v", rest, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
