// Package upstreamtest has what tests of engines below share: exchanges recorded from
// real servers, the contract that every dialect keeps, and the faults that servers make.
package upstreamtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
)

// Exchange is one request and what a real server answered.
type Exchange struct {
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body,omitempty"`
	Status int             `json:"status"`
	Type   string          `json:"type"`
	Answer string          `json:"answer"` // the body, a stream whole
}

// Recording is what one server was asked, in order.
type Recording struct {
	Server    string     `json:"server"` // kind and version, and how it was started
	Exchanges []Exchange `json:"exchanges"`
}

// Recorder is a client's transport that keeps what passes.
type Recorder struct {
	Next http.RoundTripper

	mu   sync.Mutex
	list []Exchange
}

// RoundTrip implements http.RoundTripper. The answer is read whole before it is passed
// on: how a stream is cut into pieces on the way is no part of an exchange.
func (r *Recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	var sent []byte
	if q.Body != nil {
		var err error
		if sent, err = io.ReadAll(q.Body); err != nil {
			return nil, err
		}
		q.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := r.Next.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(text))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, Exchange{Method: q.Method, Path: q.URL.Path, Body: sent, Status: resp.StatusCode, Type: resp.Header.Get("Content-Type"), Answer: string(text)})
	return resp, nil
}

// Exchanges are those that have passed.
func (r *Recorder) Exchanges() []Exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Exchange(nil), r.list...)
}

// Save writes what was recorded to a file.
func (r *Recorder) Save(path, server string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(Recording{Server: placeless(server), Exchanges: r.placeless()}); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// placeless is what was recorded, without where: servers tell from which directory they
// loaded a model, and that is this machine's affair.
func (r *Recorder) placeless() []Exchange {
	out := slices.Clone(r.list)
	for i := range out {
		out[i].Answer = placeless(out[i].Answer)
	}
	return out
}

var somePath = regexp.MustCompile(`(?:/[\w.@+-]+){2,}`)

// placeless leaves of each path that is there on this machine its last part.
func placeless(text string) string {
	return somePath.ReplaceAllStringFunc(text, func(p string) string {
		if _, err := os.Stat(p); err != nil {
			return p
		}
		return filepath.Base(p)
	})
}

// Replay serves a recording: the requests must come in its order and be equal to those
// that the real server had, as JSON. It returns the address.
func Replay(t *testing.T, path string) (url string, r Recording) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	next := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		sent, err := io.ReadAll(q.Body)
		if err != nil {
			return
		}
		if next >= len(r.Exchanges) {
			t.Errorf("%s %s was not recorded", q.Method, q.URL.Path)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		e := r.Exchanges[next]
		next++
		if err := e.same(q, sent); err != nil {
			t.Errorf("exchange %d: %v", next, err)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", e.Type)
		w.WriteHeader(e.Status)
		_, _ = io.WriteString(w, e.Answer)
	}))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		if !t.Failed() && next != len(r.Exchanges) {
			t.Errorf("%d of %d recorded requests were made", next, len(r.Exchanges))
		}
	})
	return srv.URL + "/v1", r
}

// same compares a request with the recorded one.
func (e Exchange) same(q *http.Request, sent []byte) error {
	if q.Method != e.Method || q.URL.Path != e.Path {
		return fmt.Errorf("%s %s instead of %s %s", q.Method, q.URL.Path, e.Method, e.Path)
	}
	if len(sent) == 0 && len(e.Body) == 0 {
		return nil
	}
	one, err := canonical(sent)
	if err != nil {
		return err
	}
	two, err := canonical(e.Body)
	if err != nil {
		return err
	}
	if !bytes.Equal(one, two) {
		return fmt.Errorf("sent %s\nrecorded %s", one, two)
	}
	return nil
}

// canonical sorts the keys of a JSON document.
func canonical(text []byte) ([]byte, error) {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
