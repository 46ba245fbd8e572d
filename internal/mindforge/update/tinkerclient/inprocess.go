package tinkerclient

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// Within is a transport to a handler of this process: no address is listened at. Its
// requests go through the same handler as those of others.
type Within struct{ Handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (w Within) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.RequestURI, in.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:0"
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	body, pipe := io.Pipe()
	out := &writer{header: http.Header{}, pipe: pipe, told: make(chan struct{})}
	go func() {
		defer func() {
			if p := recover(); p != nil { // as a server: the connection breaks
				out.begin(http.StatusInternalServerError)
				pipe.CloseWithError(io.ErrUnexpectedEOF)
			}
		}()
		w.Handler.ServeHTTP(out, in)
		out.begin(http.StatusOK)
		pipe.CloseWithError(nil)
	}()
	select {
	case <-out.told:
	case <-r.Context().Done():
		body.CloseWithError(context.Cause(r.Context()))
		return nil, context.Cause(r.Context())
	}
	return &http.Response{StatusCode: out.status, Status: http.StatusText(out.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: out.sent, Body: body, ContentLength: -1, Request: r}, nil
}

// writer is the handler's side of an answer.
type writer struct {
	header, sent http.Header
	status       int
	pipe         *io.PipeWriter
	once         sync.Once
	told         chan struct{}
}

// Header implements http.ResponseWriter.
func (w *writer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) { w.begin(status) }

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (int, error) {
	w.begin(http.StatusOK)
	return w.pipe.Write(p)
}

func (w *writer) begin(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.told)
	})
}
