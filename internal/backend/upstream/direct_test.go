package upstream

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func newDirect() *direct {
	return &direct{dial: (&net.Dialer{}).DialContext, tls: &tls.Config{MinVersion: tls.VersionTLS12}, silence: time.Minute, most: 4}
}

// exchanged posts a text and gives the answer's, with the address that the server saw.
func exchanged(t *testing.T, tr http.RoundTripper, url, text string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.Status + " " + string(b), err
}

// What servers do is read as net/http's own Transport reads it.
func TestDirectReadsWhatTransportReads(t *testing.T) {
	secure := map[string]bool{"over TLS": true}
	for name, h := range map[string]http.HandlerFunc{
		"whole":    func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) },
		"over TLS": func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) },
		"chunked": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "a")
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, "b")
		},
		"closing": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
			_, _ = io.WriteString(w, "x")
		},
		"empty": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"hints": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = io.WriteString(w, "x")
		},
		"too soon": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			_, _ = io.WriteString(w, "half")
			panic(http.ErrAbortHandler)
		},
	} {
		srv := httptest.NewUnstartedServer(h)
		srv.Config.ErrorLog = nil
		if secure[name] {
			srv.StartTLS()
		} else {
			srv.Start()
		}
		ours, theirs := newDirect(), &http.Transport{DisableCompression: true}
		if secure[name] {
			pool := srv.Client().Transport.(*http.Transport).TLSClientConfig
			ours.tls, theirs.TLSClientConfig = pool, pool
		}
		for range 3 { // also on a connection that was used
			for _, text := range []string{"hello", strings.Repeat("long ", 400_000)} {
				got, err := exchanged(t, ours, srv.URL, text)
				want, wrong := exchanged(t, theirs, srv.URL, text)
				if (err != nil) != (wrong != nil) && name != "too soon" || err == nil && wrong == nil && got != want { // an early answer may be lost with the connection
					t.Errorf("%s: %.60q %v, not %.60q %v", name, got, err, want, wrong)
				}
			}
		}
		ours.CloseIdleConnections()
		theirs.CloseIdleConnections()
		srv.Close()
	}
}

func TestDirectUsesAConnectionAgain(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RemoteAddr) }))
	defer srv.Close()
	d := newDirect()
	defer d.CloseIdleConnections()
	first, err := exchanged(t, d, srv.URL, "x")
	second, err2 := exchanged(t, d, srv.URL, "x")
	if err != nil || err2 != nil || first != second {
		t.Errorf("%s %v, then %s %v", first, err, second, err2)
	}
	srv.CloseClientConnections() // idle, and dead now
	third, err := exchanged(t, d, srv.URL, "x")
	if err != nil || third == first {
		t.Errorf("after the server closed it: %s %v", third, err)
	}
	d.reap(time.Now())
	if len(d.idle["http://"+srv.Listener.Addr().String()]) != 0 {
		t.Error("an old connection is kept")
	}
}

// The context ends whatever goes on; a silent server ends by itself.
func TestDirectStops(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := make(chan struct{}, 2)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			r, err := http.ReadRequest(bufio.NewReader(c))
			if err != nil {
				continue
			}
			if r.URL.Path == "/body" {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe")
			}
			if r.URL.Path != "/" {
				asked <- struct{}{}
			}
		}
	}()
	d := newDirect()
	d.silence = 300 * time.Millisecond
	url := "http://" + l.Addr().String()
	var timeout net.Error
	if _, err := exchanged(t, d, url, "x"); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("a silent server gave %v", err)
	}
	d.silence = time.Minute
	for path, name := range map[string]string{"/header": "before the header", "/body": "within the body"} {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if path == "/header" {
			go func() { <-asked; cancel() }()
		}
		resp, err := d.RoundTrip(req)
		if err == nil {
			<-asked
			time.AfterFunc(20*time.Millisecond, cancel)
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

func TestDirectBoundsTheHeader(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", maxHeader)) }))
	defer srv.Close()
	if _, err := exchanged(t, newDirect(), srv.URL, "x"); !errors.Is(err, errHeader) {
		t.Errorf("got %v", err)
	}
}
