/** One request of a hostile client: its headers, how its body is encoded and broken, and whether it stays for the answer. */
import http from 'node:http';
import net from 'node:net';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { bodies, word } from './words.js';

export interface Attack {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  readonly manner: 'whole' | 'leaves' | 'raw';
}

const BOMB = Buffer.concat([
  gzipSync('').subarray(0, 10),
  deflateRawSync(Buffer.alloc(2_000_000), { finishFlush: constants.Z_FULL_FLUSH }),
  Buffer.alloc(64, 0x07),
]);
const ENCODERS: ReadonlyMap<string, (text: string) => Buffer> = new Map<string, (text: string) => Buffer>([
  ['identity', (text) => Buffer.from(text)],
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['bomb', () => BOMB],
]);

const headerValue = fc
  .oneof(word, fc.string({ unit: 'binary', maxLength: 20 }))
  .map((text) => text.replaceAll(/[^\t\x20-\x7E\x80-\xFF]/g, '').slice(0, 3_000));
const headerName = fc
  .oneof(
    fc.constantFrom(
      '__proto__',
      'constructor',
      'expect',
      'accept',
      'x-forwarded-for',
      'range',
      'te',
      'upgrade-insecure-requests',
    ),
    word,
  )
  .map((text) => text.replaceAll(/[^\w-]/g, '').slice(0, 100))
  .filter(
    (name) =>
      name !== '' && !/^(?:content-length|transfer-encoding|connection|host|upgrade|expect)$/i.test(name),
  );

const cookie = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom('visitor', 'constructor', '__proto__'), word), word), {
    maxLength: 4,
  })
  .map((pairs) => pairs.map(([name, text]) => `${name}=${text}`).join('; '))
  .map((text) => text.replaceAll(/[^\t\x20-\x7E]/g, ''));

const contentType = fc.oneof(
  { weight: 8, arbitrary: fc.constant('application/json') },
  fc.constantFrom(
    'application/json; charset=latin1',
    'application/json;charset="utf-8"',
    'text/plain',
    'application/x+json; constructor=1',
    ';;;',
  ),
  headerValue,
);

const headers = fc
  .record({
    type: contentType,
    cookie: fc.option(cookie),
    agent: fc.option(fc.oneof(fc.constantFrom('Googlebot/2.1', 'Mozilla/5.0 (iPhone)'), headerValue)),
    others: fc.array(fc.tuple(headerName, headerValue), { maxLength: 3 }),
  })
  .map(({ type, cookie: sent, agent, others }): [string, string][] => [
    ['content-type', type],
    ...(sent === null ? [] : [['cookie', sent] as [string, string]]),
    ...(agent === null ? [] : [['user-agent', agent] as [string, string]]),
    ...others,
  ]);

const encoding = fc.oneof(
  { weight: 3, arbitrary: fc.constant('identity') },
  { weight: 3, arbitrary: fc.constantFrom('gzip', 'deflate', 'br', 'bomb') },
);
/** What the header says of it: mostly the truth. */
const saidEncoding = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  fc.constantFrom(
    'gzip',
    'br',
    'constructor',
    '__proto__',
    'toString',
    'valueOf',
    'gzip, gzip',
    'identity',
    'x-gzip',
    'GZIP',
  ),
  headerValue,
);
const damage = fc.oneof(
  { weight: 4, arbitrary: fc.constant(null) },
  fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), how: fc.constantFrom('cut', 'flip', 'add') }),
);

const post = fc
  .record({
    to: fc.constantFrom('batch', 'batch', 'hypernova', 'page', 'page'),
    batch: bodies.batch,
    page: bodies.page,
    encoding,
    saidEncoding,
    damage,
    headers,
    manner: fc.oneof(
      { weight: 8, arbitrary: fc.constant('whole' as const) },
      fc.constantFrom('leaves' as const, 'raw' as const),
    ),
  })
  .map(({ to, manner, ...given }): Attack => {
    const text = to === 'page' ? given.page : given.batch;
    const encoded = ENCODERS.get(given.encoding)?.(text) ?? Buffer.from(text);
    const truth = given.encoding === 'bomb' ? 'gzip' : given.encoding;
    const said = given.saidEncoding ?? truth;
    const body = given.damage === null ? encoded : damaged(encoded, given.damage.at, given.damage.how);
    const others: [string, string][] = said === 'identity' ? [] : [['content-encoding', said]];
    return { method: 'POST', path: `/${to}`, headers: [...given.headers, ...others], body, manner };
  });

const get = fc
  .record({
    path: fc.oneof(
      word.map((id) => `/more?box=${escaped(id)}`),
      fc
        .constantFrom('b0', 'b1-0', 'b1-1-0', 'named-0', 'b2', 'b3', 'b4')
        .map((id) => `/more?box=${id}&constructor=1`),
      word.map((key) => `/_css/${escaped(key)}.css`),
      word.map((query) => `/variants?${escaped(query)}`),
      word.map((rest) => `/${escaped(rest)}`),
    ),
    method: fc.constantFrom('GET', 'GET', 'HEAD', 'OPTIONS', 'DELETE', 'PUT'),
    headers,
  })
  .map(({ path, method, headers: sent }): Attack => ({
    method,
    path: path.slice(0, 4_000),
    headers: sent,
    body: Buffer.alloc(0),
    manner: 'whole',
  }));

export const attack: fc.Arbitrary<Attack> = fc.oneof(
  { weight: 4, arbitrary: post },
  { weight: 1, arbitrary: get },
);

/** Half a surrogate pair has no escape. */
function escaped(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

function damaged(bytes: Buffer, at: number, how: string): Buffer {
  const place = Math.floor(at * bytes.length);
  if (how === 'cut') return bytes.subarray(0, place);
  if (how === 'add') return Buffer.concat([bytes, Buffer.from('rubbish')]);
  const copy = Buffer.from(bytes);
  if (place < copy.length) copy[place] = (copy[place] ?? 0) ^ 0xff;
  return copy;
}

/** The status of the answer; undefined where the attack does not stay for it. Rejects where none comes. */
export function launch(origin: URL, agent: http.Agent, given: Attack): Promise<number | undefined> {
  if (given.manner === 'raw') return launchRaw(origin, given);
  return new Promise((resolve, reject) => {
    const request = http.request(
      { host: origin.hostname, port: origin.port, path: given.path, method: given.method, agent },
      (response) => {
        response.on('error', reject).on('end', () => resolve(response.statusCode));
        response.resume();
      },
    );
    for (const [name, text] of given.headers) request.setHeader(name, text);
    if (given.method === 'POST') request.setHeader('content-length', given.body.length);
    request.setTimeout(20_000, () => request.destroy(new Error(`no answer to ${describe(given)}`)));
    if (given.manner === 'whole') {
      request.on('error', reject);
      request.end(given.body);
      return;
    }
    request.on('error', () => resolve(undefined));
    request.on('close', () => resolve(undefined));
    request.write(given.body.subarray(0, Math.ceil(given.body.length / 2)), () => request.destroy());
  });
}

/** Frames that no client library sends: the length is a lie, and what follows is no chunk. */
function launchRaw(origin: URL, { method, path, headers: sent, body }: Attack): Promise<undefined> {
  return new Promise((resolve) => {
    const socket = net.connect(Number(origin.port), origin.hostname);
    const lines = sent.map(([name, text]) => `${name}: ${text}\r\n`).join('');
    const framing =
      body.length % 2 === 0 ? 'transfer-encoding: chunked' : `content-length: ${body.length + 10}`;
    socket.on('error', () => undefined).on('close', () => resolve(undefined));
    socket.on('data', () => socket.destroy());
    socket.write(`${method} ${path} HTTP/1.1\r\nhost: a\r\n${lines}${framing}\r\n\r\n`, 'latin1');
    socket.write(body, () => socket.end());
  });
}

export function describe({ method, path, headers: sent, body, manner }: Attack): string {
  return `${manner} ${method} ${path} ${JSON.stringify(sent)} ${body.toString('base64').slice(0, 2_000)}`;
}
