// Whoever gives an answer (the edge, a file, an error, a worker), its head is written in one place and in one way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RawConnection } from '../support/raw.ts';
import { ask, bytesOf, recordOf } from './scenario.ts';
import { isFromApp, script, Site } from './site.ts';

const TARGETS = ['/.sluice/ping', '/.sluice/ready', '/assets/app.js', '/limited', '/from-the-app'];

/** A gateway that has each kind of answer to give; `/limited` is over its rate from the second request on. */
async function withEveryAnswer(t: Parameters<Site['start']>[0]) {
  const sluice = await new Site(t).configure('[rate.limits]\n"/limited" = "1/h"\n').start(t);
  assert.ok(isFromApp(await ask(sluice, '/limited')));
  return sluice;
}

void test('every answer has a date and the id by which the log knows its request', async (t) => {
  const sluice = await withEveryAnswer(t);
  for (const target of TARGETS) {
    const { headers } = await ask(sluice, `${target}?looked-at`);
    const date = Date.parse(headers.get('date') ?? '');
    assert.ok(Math.abs(date - Date.now()) < 60_000, `${target}: ${headers.get('date')}`);
    const record = await recordOf(sluice, `${target}?looked-at`);
    assert.equal(headers.get('x-request-id'), record['request_id'], target);
  }
});

void test('an HTTP/1.0 client that asks for it keeps its connection, whoever answers', async (t) => {
  const sluice = await withEveryAnswer(t);
  const connection = await RawConnection.connect(sluice.port);
  // `from-the-app` comes in chunks, of which HTTP/1.0 has none.
  for (const target of TARGETS.slice(0, -1)) {
    connection.send(`GET ${target} HTTP/1.0\r\nHost: app\r\nConnection: keep-alive\r\n\r\n`);
    const response = await connection.response();
    assert.equal(response.headers.get('connection'), 'keep-alive', target);
  }
  connection.send(bytesOf('/.sluice/ping', 'Connection: close\r\n'));
  assert.equal((await connection.response()).headers.get('connection'), 'close');
  await connection.untilClosed();
  connection.close();
});

void test('what needs no worker is answered before the body is taken, and ends the connection', async (t) => {
  const sluice = await withEveryAnswer(t);
  for (const target of ['/.sluice/ping', '/assets/app.js', '/limited']) {
    const connection = await RawConnection.connect(sluice.port);
    connection.send(bytesOf(target, 'Content-Length: 100000\r\nExpect: 100-continue\r\n'));
    const response = await connection.response();
    assert.notEqual(response.status, 100, target);
    assert.equal(response.headers.get('connection'), 'close', target);
    if (target === '/assets/app.js') assert.equal(response.body.toString(), script);
    // A body that is sent all the same is not taken for the next request.
    connection.send(bytesOf('/smuggled'));
    assert.equal((await connection.untilClosed()).length, 0, target);
    connection.close();
  }
});
