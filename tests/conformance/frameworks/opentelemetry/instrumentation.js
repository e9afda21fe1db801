const { NodeSDK } = require('@opentelemetry/sdk-node');
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-http');
const { PrometheusExporter } = require('@opentelemetry/exporter-prometheus');
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http');
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express');

const sdk = new NodeSDK({
  serviceName: 'shop',
  traceExporter: new OTLPTraceExporter(),
  // Listens at once, long before the app does.
  metricReader: new PrometheusExporter({ port: Number(process.env.METRICS_PORT) }),
  instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation()],
});
sdk.start();

process.on('SIGTERM', () => {
  void sdk.shutdown().then(() => process.exit(0));
});
