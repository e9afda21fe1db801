// Bodies that clients make to break the process: each is refused, and the next request is answered.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test, type TestContext } from 'node:test';
import { brotliCompressSync, constants, deflateRawSync, gzipSync } from 'node:zlib';
import { createFragments } from '../../src/fragments/fragments.js';
import { createPages } from '../../src/pages/pages.js';
import { pageHandler } from '../../src/pages/http.js';
import { createServer } from '../../src/http/handler.js';
import { createRegistry } from '../../src/registry/registry.js';
import { eventually } from '../../../../tests/support/eventually.js';
import { hostiles } from '../support/hostile.js';
import { listen, send } from '../support/serve.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const BYTES_MAX = 100_000;
const GOOD = { '/batch': '{}', '/page': '{"tree":{"boxes":[]}}' } as const;
type Path = keyof typeof GOOD;
const PATHS: readonly Path[] = ['/batch', '/page'];

interface Ends {
  readonly url: string;
  /** What handlers threw. */
  readonly errors: readonly unknown[];
  /** Requests whose clients have left. */
  left: number;
  begun: number;
}

/** Both ends that take bodies. */
async function bothEnds(t: TestContext): Promise<Ends> {
  const registry = createRegistry();
  const errors: unknown[] = [];
  const server = createServer(
    [
      createFragments({ registry, bytesMax: BYTES_MAX }).handle,
      pageHandler(createPages({ registry }), { bytesMax: BYTES_MAX }),
    ],
    { onError: (error) => errors.push(error) },
  );
  const ends = { url: await listen(t, server), errors, left: 0, begun: 0 };
  server.on('request', (_request, response) => {
    ends.begun += 1;
    response.once('close', () => (ends.left += 1));
  });
  return ends;
}

/** A gzip of 1 KB that inflates past the limit, and goes on with a block of a type that there is not. */
function bombThenRubbish(): Buffer {
  const header = gzipSync('').subarray(0, 10);
  const bomb = deflateRawSync(Buffer.alloc(10 * BYTES_MAX), { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([header, bomb, Buffer.alloc(64, 0x07)]);
}

for (const path of PATHS) {
  const good = GOOD[path];

  test(`${path} refuses encodings that are properties of every object`, async (t) => {
    const { url, errors } = await bothEnds(t);
    const words = [...Object.getOwnPropertyNames(Object.prototype), 'lzma', '', ' ', 'gzip2'];
    for (const word of words) {
      const headers = { ...JSON_TYPE, 'content-encoding': word };
      assert.equal((await send(`${url}${path}`, 'POST', headers, good)).status, 415, word);
    }
    assert.equal((await send(`${url}${path}`, 'POST', JSON_TYPE, good)).status, 200);
    assert.deepEqual(errors, []);
  });

  test(`${path} refuses two encodings, in one header or in two`, async (t) => {
    const { url } = await bothEnds(t);
    const twice = gzipSync(gzipSync(good));
    for (const word of ['gzip, gzip', 'gzip,br', 'identity, gzip']) {
      const headers = { ...JSON_TYPE, 'content-encoding': word };
      assert.equal((await send(`${url}${path}`, 'POST', headers, twice)).status, 415, word);
    }
    const headers = { ...JSON_TYPE, 'content-encoding': ['gzip', 'gzip'] as unknown as string };
    assert.equal((await send(`${url}${path}`, 'POST', headers, twice)).status, 415);
  });

  test(`${path} refuses a gzip that is too large and then broken, or cut off, and goes on`, async (t) => {
    const { url, errors } = await bothEnds(t);
    const whole = gzipSync(good);
    const cases: readonly (readonly [string, Buffer, number])[] = [
      ['gzip', bombThenRubbish(), 413],
      ['gzip', whole.subarray(0, -6), 400],
      ['gzip', Buffer.alloc(0), 400],
      ['gzip', Buffer.from('rubbish'), 400],
      ['br', brotliCompressSync(Buffer.alloc(10 * BYTES_MAX)), 413],
      ['br', brotliCompressSync(good).subarray(0, -1), 400],
      ['x-gzip', whole, 200],
      ['GZIP', whole, 200],
    ];
    for (let round = 0; round < 20; round += 1) {
      for (const [encoding, body, status] of cases) {
        const headers = { ...JSON_TYPE, 'content-encoding': encoding };
        const answer = await send(`${url}${path}`, 'POST', headers, body);
        assert.equal(answer.status, status, `${encoding}: ${answer.text}`);
      }
    }
    assert.deepEqual(errors, []);
  });

  test(`${path} survives clients that leave in the middle of a body`, async (t) => {
    const ends = await bothEnds(t);
    const { port, hostname } = new URL(ends.url);
    let count = 0;
    for (const encoding of ['identity', 'gzip', 'br', 'constructor']) {
      for (const framing of ['content-length: 100', 'transfer-encoding: chunked']) {
        count += 1;
        const socket = net.connect(Number(port), hostname);
        await once(socket, 'connect');
        socket.on('error', () => {});
        const head = `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n`;
        const part = framing.includes('chunked') ? '5\r\n{"a":\r\n' : '{"a":';
        socket.write(`${head}content-encoding: ${encoding}\r\n${framing}\r\n\r\n${part}`);
        await eventually(() => ends.begun === count);
        socket.destroy();
        await eventually(() => ends.left === count);
      }
    }
    assert.equal((await send(`${ends.url}${path}`, 'POST', JSON_TYPE, good)).status, 200);
    assert.deepEqual(ends.errors, []);
  });
}

test('a check of the app that throws what cannot be read refuses the body, and so does a reviver', async (t) => {
  for (const [name, create] of Object.entries(hostiles)) {
    const fail = (): never => {
      // oxlint-disable-next-line typescript/only-throw-error -- what is tried
      throw create();
    };
    for (const [rule, status] of [
      ['verify', 403],
      ['reviver', 400],
    ] as const) {
      const url = await listen(
        t,
        createServer(createFragments({ registry: createRegistry(), [rule]: fail }).handle),
      );
      const answer = await send(`${url}/batch`, 'POST', JSON_TYPE, '{}');
      assert.equal(answer.status, status, `${rule}: ${name}`);
      assert.ok(answer.text.length < 100_000, `${rule}: ${name}`);
    }
  }
});
