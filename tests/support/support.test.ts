// The helpers and fixture apps against plain Node: what they say must be true before a test of the gateway relies on it.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { eventually } from './eventually.ts';
import { freePort } from './ports.ts';
import { RawConnection, sendRaw } from './raw.ts';
import { app } from './sluice.ts';

const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
});

async function serve(name: string): Promise<number> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  children.push(spawn(process.execPath, [app(name)], { env, stdio: 'ignore' }));
  await eventually(
    async () => {
      (await RawConnection.connect(port)).close();
      return true;
    },
    { what: `${name} to listen` },
  );
  return port;
}

const get = (path: string, extra = '') => `GET ${path} HTTP/1.1\r\nhost: app\r\n${extra}\r\n`;

void test('eventually returns what became true and names what did not', async () => {
  let calls = 0;
  assert.equal(await eventually(() => (++calls < 3 ? undefined : calls)), 3);
  await assert.rejects(
    eventually(() => false, { deadlineMs: 50, what: 'the impossible' }),
    /the impossible did not come true within 50 ms/,
  );
});

void test('a raw connection takes one response after another in every framing', async () => {
  const connection = await RawConnection.connect(await serve('stream.js'));
  connection.send(get('/') + get('/trailers') + get('/no-content') + get('/early-hints'));
  assert.equal((await connection.response()).body.toString(), 'ok\n');
  const withTrailers = await connection.response();
  assert.equal(withTrailers.body.toString(), 'body with a trailer\n');
  assert.equal(withTrailers.trailers.get('x-checksum'), 'abc');
  assert.equal((await connection.response()).status, 204);
  const hints = await connection.response();
  assert.deepEqual([hints.status, hints.headers.has('link')], [103, true]);
  assert.equal((await connection.response()).body.toString(), 'hinted\n');
  connection.close();
});

void test('an upgraded connection of the stream app gives every byte back', async () => {
  const connection = await RawConnection.connect(await serve('stream.js'));
  connection.send(get('/ws', 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: dGVzdA==\r\n'));
  assert.equal((await connection.response()).status, 101);
  connection.send('\x81\x05hello');
  assert.equal((await connection.untilBytes('hello')).toString('latin1'), '\x81\x05hello');
  connection.close();
});

void test('the faulty app breaks as its paths say', async () => {
  const port = await serve('faulty.js');
  const garbage = (await sendRaw(port, get('/garbage'))).toString();
  assert.match(garbage, /this is not HTTP/);
  assert.equal((await sendRaw(port, get('/close'))).length, 0);
  assert.match((await sendRaw(port, get('/too-much'))).toString(), /content-length: 4\r\n\r\nfourMORE$/);
  const child = children.at(-1);
  assert.ok(child);
  const exit = once(child, 'exit');
  await sendRaw(port, get('/exit'));
  assert.deepEqual(await exit, [7, null]);
});

void test('the echo app says what it saw', async () => {
  const connection = await RawConnection.connect(await serve('echo.js'));
  connection.send('POST /a?b=c HTTP/1.1\r\nhost: app\r\ncontent-length: 4\r\nX-Case: kept\r\n\r\nbody');
  const seen = JSON.parse((await connection.response()).body.toString()) as Record<string, unknown>;
  assert.deepEqual([seen['method'], seen['url'], seen['body']], ['POST', '/a?b=c', 'body']);
  assert.ok((seen['rawHeaders'] as string[]).includes('X-Case'));
  connection.close();
});
