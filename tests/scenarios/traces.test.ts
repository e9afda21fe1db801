// Spans of requests: what a collector gets of them, what the app gets, and what a collector in trouble costs.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app, runSluice, type Sluice } from '../support/sluice.ts';
import { type Collector, type Span, startCollector } from './collector.ts';
import { ask, bytesOf, ownApp, running } from './scenario.ts';
import { RawConnection } from '../support/raw.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';
const SAMPLED = `traceparent: 00-${traceId}-${parentId}-01\r\ntracestate: vendor=1\r\n`;

async function traced(
  context: TestContext,
  collector: Pick<Collector, 'endpoint'>,
  entry = app('echo.js'),
  env: Record<string, string> = {},
): Promise<Sluice> {
  return running(context, {
    entry,
    workers: 1,
    env: { SLUICE_TRACES_ENABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ...env },
  });
}

/** The spans of requests for this path, once there are so many requests. */
async function requests(collector: Collector, path: string, count: number): Promise<Span[][]> {
  return eventually(
    () => {
      const servers = collector.spans.filter((span) => span.attributes['url.path'] === path);
      if (servers.length < count) return undefined;
      return servers.map((server) => [
        server,
        ...collector.spans.filter(({ parent }) => parent === server.spanId),
      ]);
    },
    { deadlineMs: 20_000, what: `${count} requests for ${path} at the collector` },
  );
}

async function headersOf(sluice: Sluice, target: string, headers = ''): Promise<Record<string, string>> {
  const { body } = await ask(sluice, target, { headers });
  return (JSON.parse(body.toString()) as { headers: Record<string, string> }).headers;
}

async function exported(sluice: Sluice, kind: string): Promise<number> {
  const page = await (await fetch(`${sluice.admin}/metrics`)).text();
  const found = new RegExp(`^sluice_trace_spans_total\\{export="${kind}"\\} (\\d+)$`, 'm').exec(page);
  return Number(found?.[1]);
}

void test('a request is a tree of spans, with the app below the time in its worker', async (t) => {
  const collector = await startCollector(t);
  const env = { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b', OTEL_RESOURCE_ATTRIBUTES: 'service.name=shop' };
  const sluice = await traced(t, collector, app('echo.js'), env);
  const seen = await headersOf(sluice, '/items/1?secret=2', SAMPLED);
  const [[server, ...parts] = []] = await requests(collector, '/items/1', 1);
  assert.ok(server);
  assert.deepEqual(
    [server.traceId, server.parent, server.kind, server.isError],
    [traceId, parentId, 'SPAN_KIND_SERVER', false],
  );
  assert.match(server.name, /^GET /);
  assert.deepEqual(
    [
      'http.request.method',
      'http.response.status_code',
      'url.scheme',
      'server.address',
      'client.address',
    ].map((key) => server.attributes[key]),
    ['GET', 200, 'http', 'app', '127.0.0.1'],
  );
  assert.ok(!JSON.stringify(collector.spans).includes('secret'), 'a query may hold secrets');
  assert.deepEqual(
    parts.map(({ name }) => name).filter((name) => name !== 'respond'),
    ['receive', 'queue', 'service'],
  );
  for (const part of parts)
    assert.ok(part.from_ms >= server.from_ms && part.to_ms <= server.to_ms + 0.001, part.name);
  const service = parts.find(({ name }) => name === 'service');
  assert.equal(seen['traceparent'], `00-${traceId}-${service?.spanId}-01`);
  assert.equal(seen['tracestate'], 'vendor=1');
  assert.equal(service?.attributes['sluice.worker'], 1);
  assert.equal(typeof service?.attributes['sluice.cpu_ms'], 'number');
  assert.deepEqual(
    [collector.headers['content-type'], collector.headers['x-key'], collector.resource['service.name']],
    ['application/x-protobuf', 'a b', 'shop'],
  );
  const line = sluice.logs.find(
    ({ event, target }) => event === 'access' && target === '/items/1?secret=***',
  );
  assert.equal(line?.['trace_id'], traceId);
  const probed = collector.spans.some((span) => String(span.attributes['url.path']).startsWith('/.sluice/'));
  assert.ok(!probed, 'balancers ask for readiness all the time');
});

void test('a caller decides about its trace, and the ratio about all others', async (t) => {
  const collector = await startCollector(t);
  const sluice = await traced(t, collector, app('echo.js'), {
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.000001',
  });
  const unsampled = await headersOf(
    sluice,
    '/unsampled',
    `traceparent: 00-${traceId}-${parentId}-00\r\ntracestate: vendor=1\r\n`,
  );
  assert.match(unsampled['traceparent'] ?? '', new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  assert.equal(unsampled['tracestate'], 'vendor=1');
  const fresh = await headersOf(sluice, '/fresh', 'tracestate: vendor=1\r\n');
  assert.match(fresh['traceparent'] ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  assert.equal(fresh['tracestate'], undefined, 'it belongs to no trace');
  await headersOf(sluice, '/sampled', SAMPLED);
  await requests(collector, '/sampled', 1);
  assert.ok(collector.spans.every((span) => span.traceId === traceId));
  assert.equal(collector.spans.filter(({ kind }) => kind === 'SPAN_KIND_SERVER').length, 1);
});

void test('without traces the context of callers passes as it came', async (t) => {
  const sluice = await running(t, { entry: app('echo.js'), workers: 1 });
  const seen = await headersOf(sluice, '/', SAMPLED);
  assert.equal(seen['traceparent'], `00-${traceId}-${parentId}-01`);
  assert.equal((await headersOf(sluice, '/'))['traceparent'], undefined);
});

void test('what the app or the gateway failed at is an error in the trace, and what a client gave up is none', async (t) => {
  const collector = await startCollector(t);
  const sluice = await traced(t, collector, ownApp('traced.js'));
  assert.equal((await ask(sluice, '/fails')).status, 500);
  const connection = await RawConnection.connect(sluice.port);
  connection.send(bytesOf('/events'));
  await eventually(() => connection.received.includes('data: 1'), { deadlineMs: 5_000, what: 'an event' });
  connection.close();
  const crashed = await ask(sluice, '/exits', { method: 'POST' });
  assert.equal(crashed.status, 502);
  const [[fails] = []] = await requests(collector, '/fails', 1);
  assert.deepEqual([fails?.isError, fails?.attributes['error.type']], [true, '500']);
  const [[events] = []] = await requests(collector, '/events', 1);
  assert.equal(events?.isError, false);
  const [[exits] = []] = await requests(collector, '/exits', 1);
  assert.equal(exits?.isError, true);
  assert.match(String(exits?.attributes['error.type']), /^SLU-/);
});

void test('spans of the last requests leave before the gateway does', async (t) => {
  const collector = await startCollector(t);
  const sluice = await traced(t, collector);
  await ask(sluice, '/last');
  assert.equal((await sluice.stop()).code, 0);
  assert.equal((await requests(collector, '/last', 1)).length, 1);
});

void test('a collector that is busy for a moment gets the spans a moment later', async (t) => {
  const collector = await startCollector(t);
  let answers = 0;
  collector.answer = () =>
    answers++ === 0 ? { status: 503, headers: { 'retry-after': '0' } } : { status: 200 };
  const sluice = await traced(t, collector);
  await ask(sluice, '/later');
  await requests(collector, '/later', 1);
  assert.equal(collector.exports, 2);
  await eventually(async () => (await exported(sluice, 'exported')) >= 4, {
    deadlineMs: 5_000,
    what: 'the count',
  });
  assert.equal(await exported(sluice, 'failed'), 0);
});

void test('a collector that refuses costs its spans, one line of the log and no request', async (t) => {
  const collector = await startCollector(t);
  collector.answer = () => ({ status: 401 });
  const sluice = await traced(t, collector);
  assert.equal((await ask(sluice, '/')).status, 200);
  await eventually(async () => (await exported(sluice, 'failed')) >= 4, {
    deadlineMs: 20_000,
    what: 'the count',
  });
  const notes = await eventually(
    () => {
      const found = sluice.logs.filter(({ text }) => String(text).startsWith('traces: '));
      return found.length > 0 ? found : undefined;
    },
    { deadlineMs: 5_000, what: 'the line' },
  );
  assert.equal(notes.length, 1);
  assert.match(String(notes[0]?.['text']), /spans were not exported: the collector answered 401/);
});

void test('a collector that never answers holds up neither requests nor the end', async (t) => {
  const collector = await startCollector(t);
  collector.answer = undefined;
  const sluice = await traced(t, collector);
  const all = await Promise.all(Array.from({ length: 200 }, () => ask(sluice, '/')));
  assert.ok(all.every(({ status }) => status === 200));
  await eventually(() => collector.exports > 0, { deadlineMs: 20_000, what: 'an export' });
  assert.equal((await ask(sluice, '/')).status, 200);
  sluice.signal('SIGTERM');
  assert.equal((await sluice.finished(20_000)).code, 0);
  const told = sluice.logs.filter(({ text }) => String(text).startsWith('traces: '));
  assert.match(String(told.at(-1)?.['text']), /the spans of 201 requests were not exported/);
});

void test('more spans than a stuck collector takes are dropped and counted', async (t) => {
  const collector = await startCollector(t);
  collector.answer = undefined;
  const sluice = await traced(t, collector, app('trivial.js'));
  const connection = await RawConnection.connect(sluice.port);
  t.after(() => connection.close());
  // 128 are with the exporter, 2,048 wait.
  for (let asked = 0; asked < 2_600; asked += 1) {
    connection.send(bytesOf('/'));
    await connection.response();
  }
  await eventually(async () => (await exported(sluice, 'dropped')) > 0, {
    deadlineMs: 10_000,
    what: 'drops',
  });
});

void test('an endpoint that is none is told before anything starts', async () => {
  const env = { SLUICE_TRACES_ENABLED: 'true', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'collector:4317' };
  const { code, stderr } = await runSluice(['start', app('echo.js')], { env });
  assert.equal(code, 2);
  assert.match(
    stderr,
    /OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "collector:4317" is not an http or https URL.*http:\/\/127\.0\.0\.1:4318\/v1\/traces/s,
  );
});

void test('OpenMetrics leads from a bucket to the trace of a request in it', async (t) => {
  const collector = await startCollector(t);
  const sluice = await traced(t, collector);
  await headersOf(sluice, '/items/1', SAMPLED);
  await requests(collector, '/items/1', 1);
  const page = async (accept: string): Promise<{ type: string | null; text: string }> => {
    const answer = await fetch(`${sluice.admin}/metrics`, { headers: { accept } });
    return { type: answer.headers.get('content-type'), text: await answer.text() };
  };
  const open = await page('application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3');
  assert.equal(open.type, 'application/openmetrics-text; version=1.0.0; charset=utf-8');
  assert.match(
    open.text,
    new RegExp(
      `^sluice_service_time_seconds_bucket\\{le="[^"]+"\\} \\d+ # \\{trace_id="${traceId}"\\} [\\d.e-]+ \\d+\\.\\d{3}$`,
      'm',
    ),
  );
  assert.match(open.text, /\n# TYPE sluice_requests counter\nsluice_requests_total\{/);
  assert.ok(open.text.endsWith('\n# EOF\n'));
  const plain = await page('text/plain');
  assert.ok(!plain.text.includes(traceId) && !plain.text.includes('# EOF'));
});
