// Package obstest is a receiver of traces for tests: it takes OTLP over HTTP and decodes it with
// OpenTelemetry's own protobufs.
package obstest

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is one span that came, with the attributes of its resource.
type Span struct {
	*tracepb.Span
	Resource map[string]any
	Schema   string
}

// Attr is an attribute's value: string, int64, float64, bool or []any; nil if absent.
func (s Span) Attr(key string) any { return attributes(s.Attributes)[key] }

// Receiver keeps what comes.
type Receiver struct {
	URL string // for traces

	mu      sync.Mutex
	spans   []Span
	headers []http.Header
	raw     []byte
}

// Start serves until the test ends.
func Start(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{}
	srv := httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(srv.Close)
	r.URL = srv.URL + "/v1/traces"
	return r
}

func (r *Receiver) take(w http.ResponseWriter, req *http.Request) {
	var in io.Reader = req.Body
	if req.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(in)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		in = z
	}
	b, err := io.ReadAll(in)
	var m collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(b, &m)
	}
	if err != nil || req.URL.Path != "/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	r.keep(&m, req.Header, b)
	answer, err := proto.Marshal(&collector.ExportTraceServiceResponse{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(answer) // a client that left is no failure here
}

func (r *Receiver) keep(m *collector.ExportTraceServiceRequest, h http.Header, raw []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers, r.raw = append(r.headers, h), append(r.raw, raw...)
	for _, res := range m.ResourceSpans {
		for _, scope := range res.ScopeSpans {
			for _, s := range scope.Spans {
				r.spans = append(r.spans, Span{s, attributes(res.Resource.GetAttributes()), scope.SchemaUrl})
			}
		}
	}
}

// Spans are those that came.
func (r *Receiver) Spans() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Span(nil), r.spans...)
}

// Headers are those of the deliveries.
func (r *Receiver) Headers() []http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]http.Header(nil), r.headers...)
}

// Bytes is everything that came, undecoded.
func (r *Receiver) Bytes() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.raw)
}

func attributes(list []*common.KeyValue) map[string]any {
	out := map[string]any{}
	for _, kv := range list {
		out[kv.Key] = value(kv.Value)
	}
	return out
}

func value(v *common.AnyValue) any {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_IntValue:
		return v.IntValue
	case *common.AnyValue_DoubleValue:
		return v.DoubleValue
	case *common.AnyValue_BoolValue:
		return v.BoolValue
	case *common.AnyValue_ArrayValue:
		var list []any
		for _, e := range v.ArrayValue.Values {
			list = append(list, value(e))
		}
		return list
	}
	return nil
}
