// server.load_report: answers to trusted peers say how loaded the gateway is, in ORCA's format; nobody else learns of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app } from '../support/sluice.ts';
import { ask, Hold, ownApp, running, sent, statusWhen } from './scenario.ts';
import { ask as askHttp2, connected } from './with-http2.ts';
import { missing, startTls } from './with-tls.ts';

const config = '[server]\ntrusted_peers = ["127.0.0.0/8", "::1"]\n';
const TEXT =
  /^TEXT application_utilization=[\d.]+,rps_fractional=[\d.]+,named_metrics\.queue_length=\d+,named_metrics\.wait_ms=\d+$/;
const forged = '?h=Endpoint-Load-Metrics:forged&h=endpoint-load-metrics-bin:forged';

void test('headers of HTTP/1.1 in each format, and none for strangers', async (t) => {
  const env = { SLUICE_SERVER_LOAD_REPORT: 'header' };
  const sluice = await running(t, { entry: ownApp('pages.js'), workers: 1, env, config });
  const of = async (target: string, headers = '') => (await ask(sluice, target, { headers })).headers;
  assert.match((await of(`/${forged}`)).get('endpoint-load-metrics') ?? '', TEXT);
  assert.equal((await of(`/${forged}`)).get('endpoint-load-metrics-bin'), undefined);
  const json = (await of('/', 'Endpoint-Load-Metrics-Format: JSON\r\n')).get('endpoint-load-metrics') ?? '';
  assert.match(json, /^JSON \{/);
  const report = JSON.parse(json.slice('JSON '.length)) as Record<string, unknown>;
  assert.deepEqual(Object.keys(report), ['application_utilization', 'rps_fractional', 'named_metrics']);
  const binary = (await of('/', 'Endpoint-Load-Metrics-Format: BIN\r\n')).get('endpoint-load-metrics-bin');
  assert.ok(Buffer.from(binary ?? '', 'base64').includes('queue_length'));
  // Answers of the gateway's own are of use too.
  assert.match((await of('/.sluice/ping')).get('endpoint-load-metrics') ?? '', TEXT);

  const other = await running(t, { entry: ownApp('pages.js'), workers: 1, env });
  for (const target of [`/${forged}`, '/.sluice/ping']) {
    const names = [...(await ask(other, target)).headers.keys()];
    assert.deepEqual(
      names.filter((name) => name.startsWith('endpoint-load')),
      [],
      target,
    );
  }
});

void test('without the key the report of an app passes', async (t) => {
  const sluice = await running(t, { entry: ownApp('pages.js'), workers: 1, config });
  assert.equal((await ask(sluice, `/${forged}`)).headers.get('endpoint-load-metrics'), 'forged');
});

void test('a cached page has the report of its answer, not of its render', async (t) => {
  const env = { SLUICE_SERVER_LOAD_REPORT: 'header', SLUICE_CACHE_ENABLED: 'true' };
  const sluice = await running(t, { entry: ownApp('pages.js'), workers: 1, env, config });
  const page = async () => ask(sluice, `/page${forged}&cc=public,max-age=60`);
  const report = (text: string | undefined) => Number(/rps_fractional=([\d.]+)/.exec(text ?? '')?.[1]);
  const first = await page();
  const told = first.headers.get('endpoint-load-metrics');
  assert.match(told ?? '', TEXT);
  await eventually(
    async () => {
      for (let index = 0; index < 10; index++) await ask(sluice, '/.sluice/ping');
      const again = await page();
      assert.equal(again.body.toString(), first.body.toString(), 'it comes from the cache');
      const fresh = again.headers.get('endpoint-load-metrics');
      assert.match(fresh ?? '', TEXT);
      return report(fresh) !== report(told);
    },
    { what: 'another report' },
  );
});

void test('a report says that requests wait', async (t) => {
  const hold = new Hold(t);
  const env = { ...hold.env, SLUICE_SERVER_LOAD_REPORT: 'header' };
  const sluice = await running(t, { entry: hold.app, workers: 1, env, config });
  const clients = [await sent(sluice, '/hold/first'), await sent(sluice, '/a'), await sent(sluice, '/b')];
  await statusWhen(sluice, ({ queue }) => queue.length === 2, 'two queued requests');
  const text = (await ask(sluice, '/.sluice/ping')).headers.get('endpoint-load-metrics') ?? '';
  assert.match(text, /named_metrics\.queue_length=2,/);
  assert.ok(Number(/application_utilization=([\d.]+)/.exec(text)?.[1]) >= 1, text);
  hold.release('first');
  for (const client of clients) assert.equal((await client.response()).status, 200);
});

void test('trailers where the length is unknown, headers elsewhere', { skip: missing }, async (t) => {
  const env = { SLUICE_SERVER_LOAD_REPORT: 'trailer' };
  const gateway = await startTls(t, { entry: app('stream.js'), env, config });
  const session = await connected(t, gateway);
  const streamed = await askHttp2(session, '/trailers');
  assert.equal(streamed.headers['endpoint-load-metrics'], undefined);
  assert.deepEqual([streamed.body, streamed.trailers['x-checksum']], ['body with a trailer\n', 'abc']);
  assert.match(String(streamed.trailers['endpoint-load-metrics']), TEXT);
  const whole = await askHttp2(session, '/.sluice/ping');
  assert.match(String(whole.headers['endpoint-load-metrics']), TEXT);
  assert.deepEqual(Object.keys(whole.trailers), []);
  const head = await askHttp2(session, { ':path': '/stream', ':method': 'HEAD' });
  assert.match(String(head.headers['endpoint-load-metrics']), TEXT);

  const sluice = await running(t, { entry: app('stream.js'), workers: 1, env, config });
  const one = await ask(sluice, '/trailers');
  assert.equal(one.headers.get('endpoint-load-metrics'), undefined);
  assert.equal(one.headers.get('trailer'), 'x-checksum, endpoint-load-metrics');
  assert.deepEqual([one.body.toString(), one.trailers.get('x-checksum')], ['body with a trailer\n', 'abc']);
  assert.match(one.trailers.get('endpoint-load-metrics') ?? '', TEXT);
});
