// Upstreams that fail: what is sent again, what never is, and what the client gets.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { CutShort, RawConnection } from '../support/raw.ts';
import { app } from '../support/sluice.ts';
import { ask, assertRefused, bytesOf, recordOf, running } from './scenario.ts';
import { metric, rawTarget, route, target } from './targets.ts';

const post = { method: 'POST', body: 'once' };

void test('a request goes to the next target where no connection is made, whatever its method', async (t) => {
  const [dead, well] = [await freePort(), await target(t)];
  const config = route([`http://127.0.0.1:${dead}`, `${well.url} backup`]);
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  assert.equal((await ask(sluice, '/old/post', post)).status, 200);
  for (let at = 0; at < 5; at++) assert.equal((await ask(sluice, '/old/get')).status, 200);
  assert.deepEqual(
    well.seen.map(({ method }) => method),
    ['POST', 'GET', 'GET', 'GET', 'GET', 'GET'],
  );
  const { tries } = (await recordOf(sluice, '/old/post'))['upstream'] as { tries: number };
  assert.equal(tries, 2);
  // After three failures in a row the dead one is left alone.
  const [first, second] = (await sluice.status()).upstreams?.[0]?.targets ?? [];
  assert.deepEqual([first?.health, first?.requests_total, second?.health], ['ejected', 3, 'healthy']);
  assert.match(first?.fault ?? '', /refused/);
  assert.equal(await metric(sluice, 'sluice_upstream_retries_total{upstream="legacy"}'), 3);
  await eventually(
    () => sluice.logs.some((line) => /gets no requests for a while/.test(String(line['text']))),
    { what: 'the line that the target is left alone' },
  );
});

void test('where no target takes a connection the client gets 502, and is told when to ask again', async (t) => {
  const port = await freePort();
  const config = route([`http://127.0.0.1:${port}`]);
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const answer = await ask(sluice, '/old/x');
  assertRefused(answer, 502, 'SLU-UPSTREAM-UNREACHABLE');
  assert.equal(answer.headers.get('retry-after'), '1');
  const record = await recordOf(sluice, '/old/x');
  assert.deepEqual([record['outcome'], record['error']], ['upstream_fault', 'SLU-UPSTREAM-UNREACHABLE']);
  // A target that comes back is found again.
  const back = await target(t, undefined, { port });
  assert.equal((await ask(sluice, '/old/y')).status, 200);
  assert.equal(back.seen.length, 1);
});

void test('a POST is never sent twice, and a GET is sent again, to a target that closes without an answer', async (t) => {
  const seen = { POST: 0, GET: 0 };
  const plain = await rawTarget(t, (socket) => {
    socket.destroy();
  });
  const config = route([plain.url], 'retries = 3');
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  assertRefused(await ask(sluice, '/old/x', post), 502, 'SLU-UPSTREAM-ANSWER-TRUNCATED');
  assertRefused(await ask(sluice, '/old/x'), 502, 'SLU-UPSTREAM-ANSWER-TRUNCATED');
  for (const head of plain.heads) seen[head.startsWith('POST') ? 'POST' : 'GET']++;
  assert.deepEqual(seen, { POST: 1, GET: 4 });
});

void test('a request on a kept connection that was closed meanwhile is sent on a new one', async (t) => {
  const plain = await rawTarget(t, (socket, number) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    // The next request on it is read and not answered.
    if (number === 0) socket.on('data', () => socket.destroy());
  });
  const config = route([plain.url], 'retries = 0');
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  assert.equal((await ask(sluice, '/old/1')).status, 200);
  assert.equal((await ask(sluice, '/old/2')).status, 200);
  assert.equal(plain.heads.length, 2, 'a connection each');
});

void test('a target that never answers costs its time limit: a GET goes on, a POST gets 504', async (t) => {
  const silent = await rawTarget(t, () => undefined);
  const well = await target(t);
  const config = route([silent.url, `${well.url} backup`], 'first_byte_timeout = "200ms"');
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  assertRefused(await ask(sluice, '/old/x', post), 504, 'SLU-UPSTREAM-TIMEOUT');
  assert.equal((await recordOf(sluice, '/old/x'))['outcome'], 'timed_out');
  assert.equal((await ask(sluice, '/old/y')).status, 200);
  assert.deepEqual([silent.heads.length, well.seen.length], [2, 1]);
});

void test('an answer that stops half-way, or takes too long as a whole, is cut', async (t) => {
  const slow = await target(t, (request, response) => {
    response.write('begun ');
    if (request.url === '/old/drips') {
      const timer = setInterval(() => response.write('.'), 50);
      response.once('close', () => {
        clearInterval(timer);
      });
    }
  });
  const config = route([slow.url], 'first_byte_timeout = "300ms"\ntimeout = "1s"');
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  for (const path of ['/old/stops', '/old/drips']) {
    await assert.rejects(ask(sluice, path), CutShort, path);
    assert.equal((await recordOf(sluice, path))['error'], 'SLU-UPSTREAM-TIMEOUT');
  }
});

void test('a target that is killed half-way never leaves a whole answer', async (t) => {
  const script = `
    require('node:http').createServer((request, response) => {
      if (request.url === '/old/sized') response.setHeader('Content-Length', '1000');
      response.write('half of it');
    }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;
  for (const path of ['/old/sized', '/old/chunked']) {
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    const [port] = (await once(child.stdout, 'data')) as [Buffer];
    const config = route([`http://127.0.0.1:${Number(port)}`]);
    const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
    const connection = await RawConnection.connect(sluice.port);
    connection.send(bytesOf(path));
    await connection.untilBytes('half of it');
    child.kill('SIGKILL');
    const rest = await connection.untilClosed();
    assert.ok(rest.length < 900 && !rest.includes('0\r\n\r\n'), JSON.stringify(rest.toString()));
    connection.close();
    const record = await recordOf(sluice, path);
    assert.deepEqual(
      [record['error'], record['outcome']],
      ['SLU-UPSTREAM-ANSWER-TRUNCATED', 'upstream_fault'],
    );
  }
});

void test('an answer that is not HTTP, or that two readers would read differently, is passed on to nobody', async (t) => {
  const answers: Record<string, string> = {
    garbage: 'SSH-2.0-OpenSSH\r\n\r\n',
    both: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
    lengths: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
    fold: 'HTTP/1.1 200 OK\r\nX-A: 1\r\n X-B: 2\r\nContent-Length: 0\r\n\r\n',
    control: 'HTTP/1.1 200 OK\r\nX-A: 1\rX-Injected: 2\r\nContent-Length: 0\r\n\r\n',
    coding: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    chunk: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n',
    huge: `HTTP/1.1 200 OK\r\nX-A: ${'x'.repeat(70_000)}\r\nContent-Length: 0\r\n\r\n`,
    many: `HTTP/1.1 200 OK\r\n${'X-A: 1\r\n'.repeat(300)}Content-Length: 0\r\n\r\n`,
    upgrade: 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
  };
  const plain = await rawTarget(t, (socket) => {
    const name = /^GET \/old\/(\w+) /.exec(plain.heads.at(-1) ?? '')?.[1] ?? '';
    socket.end(answers[name] ?? '', 'latin1');
  });
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config: route([plain.url]) });
  for (const name of Object.keys(answers)) {
    const connection = await RawConnection.connect(sluice.port);
    connection.send(bytesOf(`/old/${name}`) + bytesOf('/app'));
    const first = await connection.response().catch((error: unknown) => error);
    if (first instanceof CutShort) assert.equal(name, 'chunk');
    else assert.equal((first as { status: number }).status, 502, name);
    connection.close();
    assert.equal((await recordOf(sluice, `/old/${name}`))['error'], 'SLU-UPSTREAM-ANSWER-MALFORMED', name);
  }
  assert.equal(plain.heads.length, Object.keys(answers).length, 'none is asked for again');
});

void test('bytes behind an answer are nobody else’s', async (t) => {
  let forge = (): void => undefined;
  const plain = await rawTarget(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine');
    forge = () => {
      forge = () => undefined;
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged');
    };
  });
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config: route([plain.url]) });
  assert.equal((await ask(sluice, '/old/1')).body.toString(), 'mine');
  // They are there before the next request, which comes by the same loop of events.
  forge();
  assert.equal((await ask(sluice, '/old/2')).body.toString(), 'mine');
  assert.equal(plain.heads.length, 2);
});

void test('connections to a target have a bound: who finds none in time gets 503, and a free one goes to the next', async (t) => {
  const releases: (() => void)[] = [];
  const legacy = await target(t, (_, response) => {
    releases.push(() => response.end('ok'));
  });
  const config = route([legacy.url], 'connections_max = 2\nconnect_timeout = "2s"');
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
  const held = [ask(sluice, '/old/1'), ask(sluice, '/old/2')];
  await eventually(() => releases.length === 2);
  assertRefused(await ask(sluice, '/old/3'), 503, 'SLU-UPSTREAM-FULL');
  const waits = ask(sluice, '/old/4');
  await eventually(async () => (await sluice.status()).upstreams?.[0]?.waiting === 1);
  releases[0]?.();
  await eventually(() => releases.length === 3);
  releases.forEach((release) => {
    release();
  });
  for (const answer of [...held, waits]) assert.equal((await answer).status, 200);
  // Workers were free all the time.
  assert.equal((await ask(sluice, '/app')).status, 200);
});

void test('a client that leaves ends the request at its upstream, before and after the head', async (t) => {
  const closed: string[] = [];
  const legacy = await target(t, (request, response) => {
    const path = request.url ?? '';
    if (path === '/old/after') response.write('begun');
    response.once('close', () => closed.push(path));
  });
  const sluice = await running(t, { entry: app('echo.js'), workers: 1, config: route([legacy.url]) });
  for (const path of ['/old/before', '/old/after']) {
    const connection = await RawConnection.connect(sluice.port);
    connection.send(bytesOf(path));
    if (path === '/old/after') await connection.untilBytes('begun');
    else await eventually(() => legacy.seen.length === 1);
    connection.close();
    await eventually(() => closed.includes(path), { what: `the end of ${path}` });
    assert.equal((await recordOf(sluice, path))['outcome'], 'client_gone_in_service');
  }
  assert.equal(
    await metric(sluice, 'sluice_upstream_requests_total{upstream="legacy",ended="abandoned"}'),
    2,
  );
});
