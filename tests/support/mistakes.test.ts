// The mistakes of the faulty app against plain Node: each has to break as its name says before a test of the gateway relies on it.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { runChaos } from './canaries.ts';
import { eventually } from './eventually.ts';
import { mistakes } from './mistakes.ts';
import { freePort } from './ports.ts';
import { RawConnection } from './raw.ts';
import { app } from './sluice.ts';

const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
});

async function serve(): Promise<{ port: number; child: ChildProcess }> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(process.execPath, [app('faulty.js')], { env, stdio: 'ignore' });
  children.push(child);
  const answers = async () => {
    (await RawConnection.connect(port)).close();
    return true;
  };
  await eventually(answers, { what: 'the faulty app to listen' });
  return { port, child };
}

const CANARY = 'canary-00000000000000aa';
const unit = Buffer.from(`${CANARY}é;`).toString('latin1');
const BYTES = 7 * unit.length;
const body = unit.repeat(7);
const answer = (status: string, sent = body) =>
  `HTTP/1.1 ${status}\r\nx-canary: ${CANARY}\r\ncontent-length: ${BYTES}\r\n\r\n${sent}`;

/** Answers of mistakes: a text that they match, or all of it, up to what is still to come. */
const sends: Record<string, RegExp | string> = {
  'late-end': new RegExp(`content-length: ${BYTES}\r\n[^]*\r\n\r\n${body}$`),
  // Eight units, announced as so many characters.
  'late-bytes': new RegExp(`content-length: ${8 * 25}\r\n[^]*\r\n\r\n${unit.repeat(8)}$`),
  'late-answer': `\r\n\r\n${body}${answer('200 OK')}`,
  'late-writes': `\r\n\r\n${body}${CANARY.repeat(5)}`,
  'late-raw-answer': `\r\n\r\n${body}${answer('200 OK')}`,
  'late-interim': `\r\n\r\n${body}HTTP/1.1 103 Early Hints\r\nlink: <${CANARY}>`,
  'write-after-end': `\r\n\r\n${body}`,
  'write-after-close': `\r\n\r\n17\r\n${CANARY}\r\n0\r\n\r\n`,
  short: new RegExp(`content-length: ${2 * BYTES}\r\n[^]*\r\n\r\n${body}$`),
  'short-late-end': new RegExp(`content-length: ${2 * BYTES}\r\n[^]*\r\n\r\n${body}$`),
  long: `\r\n\r\n${body}${body}`,
  'long-by-an-answer': `\r\n\r\n${body}${answer('200 OK')}`,
  double: `\r\n\r\n${body}`,
  'raw-twice': `${answer('200 OK')}${answer('200 OK')}`,
  'raw-then-own': new RegExp(
    `^${answer('200 OK').replaceAll('.', '\\.')}HTTP/1.1 200 OK\r\n[^]*\r\n\r\n${body}$`,
  ),
  'own-then-raw': `\r\n\r\n${body}${answer('200 OK')}`,
  raw: answer('200 OK'),
  'raw-in-body': /transfer-encoding: chunked\r\n[^]*canary-00000000000000aa0\r\n\r\n$/,
  garbage: `${CANARY} is not HTTP\r\n\r\n`,
  'two-lengths': `content-length: ${BYTES}\r\ncontent-length: 1\r\n\r\n`,
  'length-and-chunks': 'content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n17\r\n',
  'body-of-head': answer('200 OK'),
  'body-of-204': answer('204 No Content'),
  'body-of-304': answer('304 Not Modified'),
  'late-body-of-204': new RegExp(`^HTTP/1.1 204 [^]*\r\n\r\n${body}$`),
  'half-a-head': `HTTP/1.1 200 OK\r\nx-canary: ${CANARY}`,
  trailers: `0\r\nx-end: ${CANARY}\r\n\r\n`,
  none: /^$/,
  'head-only': new RegExp(`content-length: ${BYTES}\r\n[^]*\r\n\r\n$`),
  close: /^$/,
  'close-in-body': `\r\n\r\n${body}`,
  'half-close-in-body': `\r\n\r\n${body}`,
  'chunk-cut': `\r\n\r\nff\r\n${CANARY}`,
  'stops-on-close': new RegExp(`(17\r\n${CANARY}\r\n){3}`),
  unread: `\r\n\r\n${body}`,
  'upgrade-unanswered': /^$/,
  'upgrade-refused-open': 'HTTP/1.1 400 Bad Request\r\n',
  'upgrade-late-bytes': new RegExp(`^HTTP/1.1 101 [^]*\r\n\r\n${CANARY}$`),
  'throws-after-head': `\r\n\r\n${body}`,
  'exits-before-head': /^$/,
};

void test('the faulty app makes each mistake as its name says', async () => {
  let { port, child } = await serve();
  for (const { name, method = 'GET', bodyBytes = 0, isUpgrade, isDeadly } of mistakes) {
    const expected = sends[name];
    assert.ok(expected !== undefined, `nothing is said here of ${name}`);
    const connection = await RawConnection.connect(port);
    const headers = `${isUpgrade === true ? 'connection: upgrade\r\nupgrade: websocket\r\n' : ''}content-length: ${bodyBytes}\r\n`;
    const target = `/mistake/${name}?canary=${CANARY}&bytes=${BYTES}&gap_ms=4`;
    connection.send(`${method} ${target} HTTP/1.1\r\nhost: app\r\n${headers}\r\n${'x'.repeat(bodyBytes)}`);
    const text = () => connection.received.toString('latin1');
    const matches = () => {
      // Node itself sends no body to HEAD.
      if (method === 'HEAD' && name !== 'body-of-head') return text().includes('\r\n\r\n');
      return typeof expected === 'string' ? text().includes(expected) : expected.test(text());
    };
    await eventually(matches, { deadlineMs: 5_000, pauseMs: 2, what: name }).catch((error: unknown) => {
      throw new Error(`${name}: ${JSON.stringify(text())}`, { cause: error });
    });
    connection.close();
    if (isDeadly !== true) continue;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    ({ port, child } = await serve());
  }
});

void test('a client that asks for mistakes finds no canary of others in plain Node, and whole answers beside them', async () => {
  const { port } = await serve();
  const survived = mistakes.filter(({ isDeadly }) => isDeadly !== true);
  const plan = { port, answers: 400, duration_ms_max: 10_000, innocents: 4, faulty: 4, aborts: 0.1, seed: 1 };
  const tally = await runChaos({ ...plan, mistakes: survived });
  assert.equal(tally.others, 0, tally.examples.join('\n'));
  assert.deepEqual(Object.keys(tally.innocents), ['whole']);
});

void test('a client finds the canary of another where a server mixes answers up', async () => {
  // As a gateway would whose connections are one answer behind.
  let before = 'canary-ffffffffffffffff';
  const server = createServer((request, response) => {
    const canary = new URL(request.url ?? '/', 'http://app').searchParams.get('canary') ?? '';
    response.writeHead(200, { 'x-canary': canary }).end(Buffer.from(`${before}é;`));
    before = canary;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const { port } = address;
  const plan = { port, answers: 20, duration_ms_max: 5_000, innocents: 1, faulty: 1, aborts: 0, seed: 1 };
  const tally = await runChaos(plan);
  server.closeAllConnections();
  server.close();
  assert.ok(tally.others >= 15, JSON.stringify(tally));
});
