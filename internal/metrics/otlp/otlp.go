// Package otlp sends spans to a collector of OpenTelemetry, in OTLP over HTTP. It
// stands apart from package metrics for its weight: its dependencies are three
// quarters of both together.
package otlp

import (
	"context"
	"fmt"
	"net/url"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/trace"
)

// tracesPath is where a collector takes spans when its address names no path.
const tracesPath = "/v1/traces"

// Exporter returns an exporter for metrics.Config. It sends to the endpoint, an
// address with scheme, host and perhaps a path; "" is what the environment says in
// OpenTelemetry's own variables (OTEL_EXPORTER_OTLP_ENDPOINT and the like), which
// also give headers, certificates and time-outs. It connects when there is
// something to send.
func Exporter(ctx context.Context, endpoint string) (trace.SpanExporter, error) {
	var options []otlptracehttp.Option
	if endpoint != "" {
		at, err := url.Parse(endpoint)
		if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
			return nil, fmt.Errorf("send spans to %q: want http://HOST:PORT or https://HOST:PORT", endpoint)
		}
		if at.Path == "" || at.Path == "/" {
			at.Path = tracesPath
		}
		options = append(options, otlptracehttp.WithEndpointURL(at.String()))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("send spans to %q: %w", endpoint, err)
	}
	return exporter, nil
}
