// Errors of the gateway in the form that their client prefers, and pages of one's own in place of the gateway's.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { app, runSluice } from '../support/sluice.ts';
import { ask, Hold, running, sent, STRICT, statusWhen } from './scenario.ts';
import { ask as askH2, connected } from './with-http2.ts';
import { missing, startTls } from './with-tls.ts';
import { reload } from './versions.ts';

const BROWSER = 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n';
const SCRIPT = 'Accept: application/json, text/plain, */*\r\n';
const DENIED = '[access]\ndeny = ["127.0.0.0/8", "::1"]\n';

const forms = [
  ['a browser gets a page', BROWSER, 'text/html; charset=utf-8', /^<!doctype html>/],
  [
    'a program that asks for JSON gets a problem',
    SCRIPT,
    'application/problem+json',
    /^\{"title":"Forbidden"/,
  ],
  ['others get plain text', 'Accept: */*\r\n', 'text/plain; charset=utf-8', /^403 Forbidden\n/],
] as const;

for (const [what, headers, type, start] of forms) {
  void test(`${what}, with the same status and fields`, async (t) => {
    const sluice = await running(t, { entry: app('spin.js'), config: DENIED, waitUntilReady: false });
    await statusWhen(sluice, ({ state }) => state === 'serving', 'a gateway', 60_000);
    const response = await ask(sluice, '/', { headers: `${headers}X-Request-Id: r-17\r\n` });
    const id = response.headers.get('x-request-id') ?? '';
    const fields = ['content-type', 'x-sluice-error', 'cache-control', 'vary'];
    assert.deepEqual(
      [response.status, ...fields.map((name) => response.headers.get(name))],
      [403, type, 'SLU-ACCESS-DENIED', 'no-store', 'Accept'],
    );
    const body = response.body.toString();
    assert.match(body, start);
    assert.ok(id !== '' && body.includes(id) && body.includes('SLU-ACCESS-DENIED'), body);
    const head = await ask(sluice, '/', { headers, method: 'HEAD' });
    assert.equal(head.status, 403);
    assert.equal(head.headers.get('content-type'), type);
    assert.equal(head.body.length, 0);
    assert.ok(Number(head.headers.get('content-length')) > 0);
  });
}

void test('over HTTP/2 a browser gets the page too', { skip: missing }, async (t) => {
  const tls = await startTls(t, {
    entry: app('spin.js'),
    config: '[queue]\nlength_max = 1\n',
    flags: STRICT,
    workers: 1,
  });
  const session = await connected(t, tls);
  const answers = await Promise.all(
    Array.from({ length: 6 }, async () => askH2(session, { ':path': '/spin?ms=300', accept: 'text/html' })),
  );
  const refused = answers.filter(({ status }) => status === 503);
  assert.ok(refused.length > 0, String(answers.map(({ status }) => status)));
  for (const { headers, body } of refused) {
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    assert.match(body, /<b>503<\/b> Service Unavailable/);
  }
});

void test("pages of one's own stand in place of the gateway's, and a reload reads them anew", async (t) => {
  const hold = new Hold(t);
  const pages = path.join(hold.dir, 'errors');
  fs.mkdirSync(pages);
  const write = (name: string, text: string) => {
    fs.writeFileSync(path.join(pages, name), text);
  };
  write('busy.html', '<p>Shop is busy: {{status}} {{request}}');
  write('5xx.html', '<p>class');
  const config = `[app]\nentry = "${hold.app}"\n[queue]\nlength_max = 1\n[errors]\npages = { "503" = "${pages}/busy.html", "5xx" = "${pages}/5xx.html" }\n`;
  const sluice = await running(t, { config, workers: 1, env: hold.env });
  const clients = [await sent(sluice, '/hold/a')];
  await hold.began('/hold/a');
  clients.push(await sent(sluice, '/waits'));
  await statusWhen(sluice, ({ queue }) => queue.length === 1, 'a full queue');
  const refused = async (headers: string) => {
    const response = await ask(sluice, '/refused', { headers });
    assert.equal(response.status, 503);
    assert.match(response.headers.get('retry-after') ?? '', /^\d+$/);
    return { body: response.body.toString(), id: response.headers.get('x-request-id') };
  };
  const { body, id } = await refused(BROWSER);
  assert.equal(body, `<p>Shop is busy: 503 ${id}`);
  assert.match((await refused(SCRIPT)).body, /"code":"SLU-QUEUE-FULL"/);
  hold.release('a');
  for (const client of clients) assert.equal((await client.response()).status, 200);

  write('busy.html', '<p>anew');
  await reload(sluice);
  clients.push(await sent(sluice, '/hold/b'));
  await hold.began('/hold/b');
  clients.push(await sent(sluice, '/waits'));
  await statusWhen(sluice, ({ queue }) => queue.length === 1, 'a full queue');
  assert.equal((await refused(BROWSER)).body, '<p>anew');
  hold.release('b');

  fs.rmSync(path.join(pages, '5xx.html'));
  const check = await runSluice(['check', '--config', path.join(sluice.dir, 'sluice.toml')]);
  assert.equal(check.code, 2);
  assert.match(check.stderr, /errors\.pages.*5xx\.html for 5xx, which cannot be used/);
});
