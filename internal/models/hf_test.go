package models

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/errs"
)

// hub serves one file as a file server does, and breaks off when told to.
type hub struct {
	t     *testing.T
	body  []byte
	tag   string
	cut   int // bytes to send before breaking off; 0: all
	asked []string
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.asked = append(h.asked, r.URL.Path+" "+r.Header.Get("Range"))
	if !strings.HasPrefix(r.URL.Path, "/own/repo/resolve/main/dir/m.gguf") {
		http.NotFound(w, r)
		return
	}
	if h.tag != "" {
		w.Header().Set("ETag", h.tag)
	}
	if h.cut > 0 {
		w.Header().Set("Content-Length", fmt.Sprint(len(h.body)))
		if _, err := w.Write(h.body[:h.cut]); err != nil {
			h.t.Error(err)
		}
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(h.body))
}

func newHub(t *testing.T, f *Fetcher, n int) (*hub, Model) {
	t.Helper()
	b, m := content(t, n, "hf:own/repo/dir/m.gguf")
	h := &hub{t: t, body: b, tag: `"one"`}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	f.Endpoint = s.URL
	return h, m
}

func TestBrokenTransferIsResumed(t *testing.T) {
	f := newFetcher(t)
	h, m := newHub(t, f, 500_000)
	h.cut = 300_000
	e := refused(t, f, m, errs.SourceUnreachable)
	if !strings.Contains(e.Message, "broke off") {
		t.Errorf("got %q", e.Message)
	}
	h.cut = 0
	fetched(t, f, m, h.body)
	if got := h.asked[1]; got != "/own/repo/resolve/main/dir/m.gguf bytes=300000-" {
		t.Errorf("the second request was %q", got)
	}
}

func TestChangedFileIsFetchedFromItsStart(t *testing.T) {
	f := newFetcher(t)
	h, m := newHub(t, f, 500_000)
	h.cut = 300_000
	refused(t, f, m, errs.SourceUnreachable)
	h.cut, h.tag = 0, `"two"` // If-Range does not hold, so the server sends all
	fetched(t, f, m, h.body)
}

func TestWithoutATagThereIsNoResuming(t *testing.T) {
	f := newFetcher(t)
	h, m := newHub(t, f, 500_000)
	h.cut, h.tag = 300_000, `W/"weak"`
	refused(t, f, m, errs.SourceUnreachable)
	h.cut = 0
	fetched(t, f, m, h.body)
	if strings.Contains(h.asked[1], "bytes") {
		t.Errorf("the second request was %q", h.asked[1])
	}
}

func TestUnknownDigestIsTakenFromWhatCame(t *testing.T) {
	f := newFetcher(t)
	h, m := newHub(t, f, 4000)
	h.tag = ""
	fetched(t, f, Model{Name: "x", Sources: m.Sources}, h.body)
}

func TestServerFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		serve http.HandlerFunc
		code  errs.Code
		says  string
	}{
		"absent":      {http.NotFound, errs.SourceUnreachable, "no such public file"},
		"down":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, errs.SourceUnreachable, "503"},
		"too long":    {func(w http.ResponseWriter, _ *http.Request) { write(w, 2000) }, errs.ChecksumMismatch, "2000"},
		"endless":     {func(w http.ResponseWriter, _ *http.Request) { write(w, 500); w.(http.Flusher).Flush(); write(w, 600) }, errs.ChecksumMismatch, "more than the 1000 bytes"},
		"other bytes": {func(w http.ResponseWriter, _ *http.Request) { write(w, 1000) }, errs.ChecksumMismatch, "SHA-256"},
		"wrong part": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 5-999/1000")
			w.WriteHeader(http.StatusPartialContent)
		}, errs.SourceUnreachable, "another part"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFetcher(t)
			s := httptest.NewServer(tc.serve)
			defer s.Close()
			f.Endpoint = s.URL
			_, m := content(t, 1000, "hf:own/repo/m.gguf")
			if e := refused(t, f, m, tc.code); !strings.Contains(e.Message, tc.says) {
				t.Errorf("got %q", e.Message)
			}
		})
	}
}

func write(w http.ResponseWriter, n int) {
	_, _ = w.Write(make([]byte, n)) // the client hangs up on purpose
}

func TestCanceledTransferKeepsWhatCame(t *testing.T) {
	f := newFetcher(t)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	_, m := content(t, 1000, "hf:own/repo/m.gguf")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"a"`)
		write(w, 500)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer s.Close()
	f.Endpoint = s.URL
	f.Progress = func(string, int64, int64) { stop() }
	if _, _, err := f.Fetch(ctx, m); errs.CodeOf(err) != errs.Canceled {
		t.Errorf("got %v", err)
	}
	if info, err := os.Stat(filepath.Join(f.Store.Dir(), partial, m.Digest.Hex())); err != nil || info.Size() != 500 {
		t.Errorf("kept %v %v", info, err)
	}
}

func TestEndpoint(t *testing.T) {
	src, err := parseSource("hf:a/b@v1/c d/e.gguf")
	if err != nil {
		t.Fatal(err)
	}
	for endpoint, want := range map[string]string{
		"":                            "https://huggingface.co/a/b/resolve/v1/c%20d/e.gguf",
		"https://mirror.example/hf/":  "https://mirror.example/hf/a/b/resolve/v1/c%20d/e.gguf",
		"http://127.0.0.1:1":          "http://127.0.0.1:1/a/b/resolve/v1/c%20d/e.gguf",
		"http://mirror.example":       "",
		"https://u:p@mirror.example/": "",
		"nonsense":                    "",
	} {
		got, err := (&Fetcher{Endpoint: endpoint}).address(src)
		if got != want || (want == "") != (errs.CodeOf(err) == errs.InvalidRequest) {
			t.Errorf("%q gives %q %v, want %q", endpoint, got, err, want)
		}
	}
}
