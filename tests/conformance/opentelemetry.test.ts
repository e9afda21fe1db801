/**
 * Spans that an app with OpenTelemetry exports: as many, of the same kinds and in the same traces, alone and under Sluice.
 *
 * The collector is a small OTLP receiver of this test.
 */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { ask } from './client.ts';
import type { Framework } from './frameworks.ts';
import { launch, type Mode } from './launch.ts';
import { installIfStale } from './prepare.ts';
import { ownRuntime } from './runtime.ts';

const folder = join(import.meta.dirname, 'frameworks', 'opentelemetry');
const requests_per_parent = 4;
const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';

/** What a client may say of its own span. */
const parents = {
  none: {},
  sampled: { traceparent: `00-${traceId}-${parentId}-01`, tracestate: 'vendor=1' },
  unsampled: { traceparent: `00-${traceId}-${parentId}-00` },
  malformed: { traceparent: `00-${traceId}-01` },
};

interface Span {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: unknown;
}

before(() => installIfStale(folder, ownRuntime.bin), { timeout: 10 * 60_000 });

void test('an app with OpenTelemetry exports the same spans alone and under Sluice', async (t) => {
  const alone = await spansOf(t, 'bare');
  const behind = await spansOf(t, 'sluice');
  t.diagnostic(`spans: ${alone.length} alone, ${behind.length} under Sluice`);
  assert.deepEqual(summary(behind), summary(alone));
  for (const parent of Object.keys(parents)) {
    const servers = behind.filter((span) => isServer(span) && askedAs(span) === parent);
    // An unsampled parent says that nobody wants its spans.
    assert.equal(servers.length, parent === 'unsampled' ? 0 : requests_per_parent, parent);
    for (const span of servers)
      assert.equal(span.traceId === traceId && span.parentSpanId === parentId, parent === 'sampled', parent);
  }
});

const isServer = (span: Span): boolean => span.kind === 2;

/** Which of `parents` the request of a server span was sent with. */
function askedAs(span: Span): string | undefined {
  const { name } = /\/items\/(?<name>[a-z]+)-\d/.exec(JSON.stringify(span.attributes))?.groups ?? {};
  return name;
}

/** Everything about the spans but their ids: those of a trace that begins in the app are random. */
function summary(spans: readonly Span[]): string[] {
  return spans
    .map((span) => `${span.name} kind ${span.kind}, ${span.parentSpanId === undefined ? 'root' : 'child'}`)
    .sort();
}

/** Starts the app, asks it, stops it, and returns what the collector has got by then. */
async function spansOf(t: TestContext, mode: Mode): Promise<Span[]> {
  const spans: Span[] = [];
  const collector = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      spans.push(...spansIn(JSON.parse(body)));
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((done) => collector.listen(0, '127.0.0.1', done));
  t.after(() => collector.close());
  const { port } = collector.address() as AddressInfo;
  const metricsPort = await freePort();
  const app = await launch(framework(port, metricsPort), folder, ownRuntime, mode);
  try {
    for (const [parent, headers] of Object.entries(parents)) {
      for (let index = 0; index < requests_per_parent; index += 1) {
        const slug = `${parent}-${index}`;
        const answer = await ask({ port: app.port, path: `/items/${slug}`, headers });
        assert.deepEqual([answer.status, JSON.parse(answer.body)], [200, { slug }]);
      }
    }
    // The exporter's server is the app's own and stays reachable where the app put it.
    await eventually(async () => (await ask({ port: metricsPort, path: '/metrics' })).status === 200, {
      deadlineMs: 10_000,
      what: "the exporter's /metrics",
    });
    assert.equal((await ask({ port: app.port, path: '/metrics' })).status, 404);
  } finally {
    // The app sends what it still has when it is asked to leave.
    await app.stop();
  }
  // Without the pages that were asked for until the app answered.
  const asked = new Set(spans.filter((span) => askedAs(span) !== undefined).map((span) => span.traceId));
  return spans.filter((span) => asked.has(span.traceId));
}

function spansIn(body: unknown): Span[] {
  const { resourceSpans } = body as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

function framework(collectorPort: number, metricsPort: number): Framework {
  return {
    name: 'opentelemetry',
    tier: 'quick',
    shows: '@opentelemetry/sdk-node',
    install: 'opentelemetry',
    folder: 'opentelemetry',
    start: { entry: 'server.js' },
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collectorPort}`,
      METRICS_PORT: String(metricsPort),
    },
    post: { sends: 'json', answers: 'json' },
    sees: {},
  };
}
