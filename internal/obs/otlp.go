package obs

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"macaron/internal/errs"
	"macaron/internal/transcript"
)

// RunOTLP writes a run as one ExportTraceServiceRequest in OTLP's JSON form, which any receiver
// of OTLP over HTTP takes. The same records give the same bytes.
func RunOTLP(r *transcript.Run, o RunOptions) (json.RawMessage, error) {
	m := &collector.ExportTraceServiceRequest{ResourceSpans: exported(r, o)}
	for _, s := range m.ResourceSpans[0].ScopeSpans[0].Spans {
		s.TraceId, s.SpanId, s.ParentSpanId = asHex(s.TraceId), asHex(s.SpanId), asHex(s.ParentSpanId)
	}
	b, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(m)
	return b, errs.Wrap(errs.Internal, err, "the spans of the run "+r.Head.Run+" cannot be written", "")
}

// SendRun delivers the spans of a run to the receiver of to, and returns when they are there.
func SendRun(ctx context.Context, r *transcript.Run, o RunOptions, to TraceOptions) error {
	client, err := receiver(to)
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return unusable(err)
	}
	err = client.UploadTraces(ctx, exported(r, o))
	return errs.Wrap(errs.UpstreamFailed, errors.Join(err, client.Stop(ctx)), "the receiver of traces has not taken the run", "see whether it listens at traces.endpoint")
}

func exported(r *transcript.Run, o RunOptions) []*tracepb.ResourceSpans {
	return []*tracepb.ResourceSpans{{
		Resource:  &resource.Resource{Attributes: written([]attribute.KeyValue{semconv.ServiceName("macaron"), semconv.ServiceVersion(o.Version)})},
		SchemaUrl: schemaURL,
		ScopeSpans: []*tracepb.ScopeSpans{{
			Scope: &common.InstrumentationScope{Name: "macaron", Version: o.Version}, SchemaUrl: schemaURL, Spans: spansOf(r, o.Content),
		}},
	}}
}

// asHex gives the bytes whose base64, which protobuf's JSON writes, is the hex of id, which OTLP's
// JSON wants: hex digits are letters of base64, and ids have 16 or 32 of them, a multiple of four.
func asHex(id []byte) []byte {
	b, err := base64.StdEncoding.DecodeString(hex.EncodeToString(id))
	if err != nil {
		return nil // not for ids of whole groups
	}
	return b
}

// derived is an id of n bytes that depends on what it is of alone.
func derived(n int, of ...string) []byte {
	sum := sha256.Sum256([]byte("macaron.otel\x00" + strings.Join(of, "\x00")))
	return sum[:n]
}

func nanos(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(t.UnixNano(), 0))
}

// valid is a text that protobuf can carry.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// written gives attributes in OTLP's form.
func written(list []attribute.KeyValue) []*common.KeyValue {
	var out []*common.KeyValue
	for _, a := range list {
		out = append(out, &common.KeyValue{Key: string(a.Key), Value: anyValue(a.Value)})
	}
	return out
}

func anyValue(v attribute.Value) *common.AnyValue {
	switch v.Type() {
	case attribute.INT64:
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: v.AsInt64()}}
	case attribute.FLOAT64:
		return &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: v.AsFloat64()}}
	case attribute.STRINGSLICE:
		list := &common.ArrayValue{}
		for _, s := range v.AsStringSlice() {
			list.Values = append(list.Values, anyValue(attribute.StringValue(s)))
		}
		return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: list}}
	}
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: valid(v.AsString())}}
}
