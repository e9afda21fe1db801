// An app with several servers: clients reach its main one, whichever listens first, at the start and at each reload.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { runSluice, type Sluice, startSluice } from '../support/sluice.ts';
import { end, ownApp, running } from './scenario.ts';
import { reload } from './versions.ts';

const entry = ownApp('metrics-first.js');
const text = async (url: string): Promise<string> => (await fetch(url)).text();

async function metricsAnswer(port: number): Promise<void> {
  await eventually(async () => (await text(`http://127.0.0.1:${port}/`)) === 'metrics\n', {
    what: 'metrics on their own port',
  });
}

async function noteOf(sluice: Sluice, words: string): Promise<Record<string, unknown>> {
  return eventually(() => sluice.logs.find((line) => String(line['text']).includes(words)), { what: words });
}

/** Every body that clients got while the gateway came up, was reloaded, and until `done`. */
async function bodiesFromTheStart(
  t: TestContext,
  sluice: Sluice,
  done: () => Promise<void>,
): Promise<Set<string>> {
  const bodies = new Set<string>();
  let isDone = false;
  const asking = (async () => {
    while (!isDone) {
      const answer = await fetch(sluice.url, { signal: AbortSignal.timeout(20_000) }).catch(() => undefined);
      if (answer?.status === 200) bodies.add(await answer.text());
    }
  })();
  try {
    await done();
  } finally {
    isDone = true;
    await asking;
  }
  t.diagnostic(`bodies: ${JSON.stringify([...bodies])}`);
  return bodies;
}

void test('a server for metrics that listens first gets no request of a client, at the start and at a reload', async (t) => {
  const port = await freePort();
  const env = { METRICS_PORT: String(port), APP_AFTER_MS: '1000' };
  const sluice = await startSluice({ entry, workers: 2, env, waitUntilReady: false });
  t.after(() => end(sluice));
  const bodies = await bodiesFromTheStart(t, sluice, async () => {
    await eventually(async () => (await fetch(`${sluice.url}/.sluice/ready`)).status === 200, {
      deadlineMs: 30_000,
    });
    await metricsAnswer(port);
    await reload(sluice);
  });
  assert.deepEqual([...bodies], ['app\n']);
  assert.equal(await text(`${sluice.url}/inner`), 'inner\n');
  await metricsAnswer(port);
  assert.ok(!sluice.stdout.includes('counts as its main server'));
});

void test('an app that boots for longer than is waited for is known at its reload', async (t) => {
  const port = await freePort();
  const env = { METRICS_PORT: String(port), APP_AFTER_MS: '4500' };
  const sluice = await running(t, { entry, workers: 1, env });
  await eventually(async () => (await text(sluice.url)) === 'app\n', { what: 'the app', deadlineMs: 60_000 });
  await eventually(() => sluice.stdout.includes('is now its main server'), {
    what: 'the note',
    deadlineMs: 60_000,
  });
  assert.match(
    sluice.stdout,
    new RegExp(`on 127\\.0\\.0\\.1:${port} counts as its main server, because none listened`),
  );
  assert.match(sluice.stdout, /others on 127\.0\.0\.1:0|others on any free port/);
  const bodies = await bodiesFromTheStart(t, sluice, async () => {
    await reload(sluice);
  });
  assert.deepEqual([...bodies], ['app\n']);
});

void test('an app whose only fixed port is another one is found, told of, and found at once by app.port', async (t) => {
  const appPort = String(await freePort());
  const env = { METRICS_PORT: '0', APP_PORT: appPort };
  const sluice = await running(t, { entry, workers: 1, env });
  assert.equal(await text(sluice.url), 'app\n');
  const note = await noteOf(sluice, 'counts as its main server');
  assert.match(
    String(note['text']),
    new RegExp(`port ${appPort} .*app\\.port \\(sluice start --app-port\\)`),
  );

  const named = await running(t, { entry, workers: 1, env, flags: ['--app-port', appPort] });
  assert.equal(await text(named.url), 'app\n');
  assert.ok(!named.stdout.includes('counts as its main server'));
});

void test('app.port keeps every other server from clients, and a start without it says why it fails', async (t) => {
  const port = await freePort();
  const config = `[app]\nport = ${port}\n[workers]\nstart_timeout_ms = 5000\n`;
  const env = { METRICS_PORT: String(await freePort()), APP_PORT: String(await freePort()) };
  const sluice = await startSluice({ entry, workers: 1, env, config, waitUntilReady: false });
  t.after(() => end(sluice));
  const { code, stderr } = await sluice.finished(30_000);
  assert.equal(code, 4);
  assert.match(stderr, new RegExp(`and not yet on port ${port}, which app\\.port names`));
});

void test('the metrics of a cluster’s primary do not keep its worker from being the main server', async (t) => {
  const port = await freePort();
  const env = { METRICS_PORT: String(port), METRICS_IN: 'primary', APP_AFTER_MS: '300' };
  const sluice = await running(t, { entry, workers: 1, env });
  assert.equal(await text(sluice.url), 'app\n');
  await metricsAnswer(port);
});

void test('an app that is an HTTPS server is served, and the log says where TLS ends', async (t) => {
  const sluice = await running(t, { entry: ownApp('own-tls.js'), workers: 1 });
  assert.equal((await fetch(sluice.url)).status, 200);
  const note = await noteOf(sluice, 'is an HTTPS server');
  assert.equal(note['level'], 'warn');
  assert.match(String(note['text']), /clients get plain HTTP.*server\.tls_cert/);
});

for (const [kind, cause] of [
  ['h2c', /an HTTP\/2 server without TLS/],
  ['h2', /an HTTP\/2 server without allowHTTP1/],
  ['net', /a plain net\.Server/],
] as const) {
  void test(`a start with an app that is ${kind} fails soon and says why`, async () => {
    const flags = ['--port', String(await freePort()), '--admin', 'off', '--workers', '1'];
    const started = performance.now();
    const env = { SERVER_KIND: kind };
    const { code, stderr } = await runSluice(['start', ownApp('own-tls.js'), ...flags], { env });
    assert.equal(code, 4);
    assert.match(stderr, cause);
    // The default of workers.start_timeout_ms, after which nobody knows the reason.
    assert.ok(performance.now() - started < 30_000);
  });
}
