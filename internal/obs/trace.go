package obs

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"macaron/internal/errs"
)

// TraceOptions say where spans go and what stands in them.
type TraceOptions struct {
	Endpoint string   // whole URL of an OTLP/HTTP receiver, such as http://127.0.0.1:4318/v1/traces
	Headers  string   // NAME=VALUE pairs for it, separated by commas; "" leaves them to OTEL_EXPORTER_OTLP_HEADERS
	Content  bool     // conversations stand in spans
	Sample   *float64 // share of the traces that begin here, 0 to 1; nil leaves it to OTEL_TRACES_SAMPLER
	Version  string
	Instance string
	Log      *slog.Logger // is told when spans cannot be delivered
}

// Tracer makes spans of turns and model calls and delivers them in the background. What
// else the standard OTEL_ variables set (time-outs, batches, compression, certificates,
// attributes of the resource) is read from them by OpenTelemetry's library.
type Tracer struct {
	tracer   trace.Tracer
	provider *sdk.TracerProvider
	pass     propagation.TraceContext
	turns    recent
	content  bool
}

// NewTracer connects to nobody yet; it fails for an address or header that cannot be.
func NewTracer(ctx context.Context, o TraceOptions) (*Tracer, error) {
	client, err := receiver(o)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, unusable(err)
	}
	here, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("macaron"), semconv.ServiceVersion(o.Version), semconv.ServiceInstanceID(o.Instance)),
		resource.WithFromEnv())
	if err != nil {
		return nil, errs.Wrap(errs.InvalidRequest, err, "the attributes of traces cannot be used", "correct OTEL_RESOURCE_ATTRIBUTES")
	}
	with := []sdk.TracerProviderOption{sdk.WithResource(here), sdk.WithBatcher(exporter)}
	if o.Sample != nil {
		with = append(with, sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(*o.Sample))))
	}
	if o.Log != nil { // of the whole process: the library has one place for errors
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { o.Log.Warn("traces", "err", err) }))
	}
	p := sdk.NewTracerProvider(with...)
	return &Tracer{
		tracer:   p.Tracer("macaron", trace.WithInstrumentationVersion(o.Version), trace.WithSchemaURL(schemaURL)),
		provider: p, content: o.Content,
	}, nil
}

// receiver is who takes the spans.
func receiver(o TraceOptions) (otlptrace.Client, error) {
	with := []otlptracehttp.Option{otlptracehttp.WithEndpointURL(o.Endpoint)}
	if o.Headers != "" {
		headers := map[string]string{}
		for _, pair := range strings.Split(o.Headers, ",") {
			name, value, ok := strings.Cut(pair, "=")
			if !ok || strings.TrimSpace(name) == "" {
				return nil, errs.New(errs.InvalidRequest, "the headers for traces are not NAME=VALUE pairs separated by commas", "correct the file that traces.headers_file names")
			}
			headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
		with = append(with, otlptracehttp.WithHeaders(headers))
	}
	return otlptracehttp.NewClient(with...), nil
}

func unusable(err error) error {
	return errs.Wrap(errs.InvalidRequest, err, "the receiver of traces cannot be used", "set traces.endpoint to a URL such as http://127.0.0.1:4318/v1/traces")
}

// Close delivers what is left, as long as ctx lasts.
func (t *Tracer) Close(ctx context.Context) error {
	if err := t.provider.Shutdown(ctx); err != nil {
		otel.Handle(err) // an absent receiver is no failure of ours
	}
	return nil
}

// Accept takes the traceparent of a request, if it has one.
func (t *Tracer) Accept(ctx context.Context, h http.Header) context.Context {
	return t.pass.Extract(ctx, propagation.HeaderCarrier(h))
}

// Mark gives the traceparent of ctx to a request to an engine.
func (t *Tracer) Mark(ctx context.Context, h http.Header) {
	t.pass.Inject(ctx, propagation.HeaderCarrier(h))
}
