// An OpenTelemetry collector, as far as traces go: takes OTLP over HTTP and keeps the spans. The messages are read by
// OpenTelemetry's own definitions.
import { createRequire } from 'node:module';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

interface Attribute {
  readonly key: string;
  readonly value?: { stringValue?: string; intValue?: string; doubleValue?: number; boolValue?: boolean };
}

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly Attribute[];
  readonly status?: { code?: string };
}

interface WireRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly scope: { name: string }; readonly spans: readonly WireSpan[] }[];
  }[];
}

interface Definitions {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: {
        readonly trace: {
          readonly v1: {
            readonly ExportTraceServiceRequest: {
              decode(bytes: Uint8Array): unknown;
              toObject(message: unknown, options: object): WireRequest;
            };
          };
        };
      };
    };
  };
}

const require = createRequire(import.meta.url);
const definitions = require('@opentelemetry/otlp-transformer/build/src/generated/root.js') as Definitions;
const { ExportTraceServiceRequest } = definitions.opentelemetry.proto.collector.trace.v1;

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly kind: string;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly isError: boolean;
}

export interface Collector {
  readonly endpoint: string;
  readonly spans: Span[];
  /** Of the latest export. */
  headers: http.IncomingHttpHeaders;
  resource: Readonly<Record<string, unknown>>;
  /** How many exports came. */
  exports: number;
  /** What it answers; undefined for no answer at all. */
  answer: (() => { status: number; headers?: http.OutgoingHttpHeaders }) | undefined;
}

/** Starts one that takes everything, and ends it with the test. */
export async function startCollector(context: { after(clean: () => void): void }): Promise<Collector> {
  const server = http.createServer((request, response) => {
    const pieces: Buffer[] = [];
    request
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => respond(request, response, pieces));
  });
  const respond = (request: http.IncomingMessage, response: http.ServerResponse, pieces: Buffer[]): void => {
    collector.exports += 1;
    collector.headers = request.headers;
    const answer = collector.answer?.();
    if (answer === undefined) return;
    if (answer.status === 200) take(Buffer.concat(pieces));
    response.writeHead(answer.status, answer.headers).end();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const collector: Collector = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    headers: {},
    resource: {},
    exports: 0,
    answer: () => ({ status: 200 }),
  };
  const take = (bytes: Buffer): void => {
    const message = ExportTraceServiceRequest.decode(bytes);
    const options = { longs: String, enums: String, bytes: String, defaults: false };
    for (const { resource, scopeSpans } of ExportTraceServiceRequest.toObject(message, options)
      .resourceSpans) {
      collector.resource = values(resource.attributes);
      for (const { spans } of scopeSpans) collector.spans.push(...spans.map(spanOf));
    }
  };
  return collector;
}

function spanOf(span: WireSpan): Span {
  const hex = (id: string): string => Buffer.from(id, 'base64').toString('hex');
  const ms = (nanos: string): number => Number(BigInt(nanos) / 1000n) / 1000;
  return {
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parent: span.parentSpanId === undefined ? undefined : hex(span.parentSpanId),
    name: span.name,
    kind: span.kind,
    from_ms: ms(span.startTimeUnixNano),
    to_ms: ms(span.endTimeUnixNano),
    attributes: values(span.attributes ?? []),
    isError: span.status?.code === 'STATUS_CODE_ERROR',
  };
}

function values(attributes: readonly Attribute[]): Record<string, string | number | boolean | undefined> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value?.stringValue ??
        (value?.intValue === undefined ? undefined : Number(value.intValue)) ??
        value?.doubleValue ??
        value?.boolValue,
    ]),
  );
}
