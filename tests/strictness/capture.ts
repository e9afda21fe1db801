// A gateway with one worker that writes down the bytes it gets, and what those bytes say when read strictly.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../support/eventually.ts';
import { type Sluice, startSluice } from '../support/sluice.ts';

export interface Captured {
  requestLine: string;
  /** Names as they arrived, in order. */
  fields: [string, string][];
  body: string;
  trailers?: [string, string][];
}

export class Capture {
  readonly sluice: Sluice;
  readonly #dir: string;
  #taken = 0;

  private constructor(sluice: Sluice, dir: string) {
    this.sluice = sluice;
    this.#dir = dir;
  }

  static async start(env: Record<string, string> = {}): Promise<Capture> {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-capture-'));
    const file = path.join(dir, 'bytes');
    fs.writeFileSync(file, '');
    const entry = fileURLToPath(new URL('./apps/capture.js', import.meta.url));
    const sluice = await startSluice({ entry, workers: 1, env: { CAPTURE_FILE: file, ...env } });
    return new Capture(sluice, dir);
  }

  async stop(): Promise<void> {
    await this.sluice.stop();
    fs.rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Everything that reached the worker since the last call, up to a request that is sent now and left out. */
  async take(): Promise<string> {
    const mark = `/mark-${this.#taken}`;
    const answer = await fetch(`${this.sluice.url}${mark}`);
    assert.equal(await answer.text(), 'captured\n');
    const bytes = await eventually(
      () => {
        const all = fs.readFileSync(path.join(this.#dir, 'bytes'), 'latin1').slice(this.#taken);
        return all.includes(`GET ${mark} `) ? all : undefined;
      },
      { what: 'the mark in the capture' },
    );
    this.#taken += Buffer.byteLength(bytes, 'latin1');
    return bytes.slice(0, bytes.indexOf(`GET ${mark} `));
  }

  async takeRequests(): Promise<Captured[]> {
    return readStrictly(await this.take());
  }

  /** The one request that arrived. */
  async takeOne(): Promise<Captured> {
    const requests = await this.takeRequests();
    assert.equal(requests.length, 1, `one request reached the worker: ${JSON.stringify(requests)}`);
    const [request] = requests;
    assert.ok(request);
    return request;
  }
}

export function valuesOf(request: Captured, name: string): string[] {
  return request.fields
    .filter(([known]) => known.toLowerCase() === name.toLowerCase())
    .map(([, value]) => value);
}

/** Reads requests as no lenient parser would; throws where a second reading was possible. */
export function readStrictly(bytes: string): Captured[] {
  const requests: Captured[] = [];
  let rest = bytes;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    assert.notEqual(end, -1, `a head that does not end: ${JSON.stringify(rest.slice(0, 200))}`);
    const [requestLine = '', ...lines] = rest.slice(0, end).split('\r\n');
    // eslint-disable-next-line no-control-regex
    assert.match(requestLine, /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (?:\/[\x21-\x7e]*|\*) HTTP\/1\.1$/);
    const fields = lines.map(readField);
    readAlikeByCgi(fields);
    const request: Captured = { requestLine, fields, body: '' };
    assert.ok(valuesOf(request, 'host').length <= 1, 'one Host at most');
    const codings = valuesOf(request, 'transfer-encoding');
    if (codings.length > 0) {
      assert.deepEqual([codings, valuesOf(request, 'content-length')], [['chunked'], []]);
      rest = readChunk(request, rest.slice(end + 4));
      requests.push(request);
      continue;
    }
    const lengths = valuesOf(request, 'content-length');
    assert.ok(lengths.length <= 1, 'one Content-Length or none');
    assert.match(lengths[0] ?? '0', /^\d+$/);
    const length = Number(lengths[0] ?? 0);
    request.body = rest.slice(end + 4, end + 4 + length);
    assert.equal(request.body.length, length, 'as many bytes as announced');
    rest = rest.slice(end + 4 + length);
    requests.push(request);
  }
  return requests;
}

/** A body with trailers, which is one chunk at most. Returns what follows. */
function readChunk(request: Captured, bytes: string): string {
  const [, digits = ''] = /^([1-9a-f][0-9a-f]*)\r\n/.exec(bytes) ?? [];
  const length = digits === '' ? 0 : Number.parseInt(digits, 16);
  const begin = digits === '' ? 0 : digits.length + 2;
  request.body = bytes.slice(begin, begin + length);
  let rest = bytes.slice(begin + length);
  if (length > 0) {
    assert.equal(rest.slice(0, 2), '\r\n', 'a chunk ends where it said');
    rest = rest.slice(2);
  }
  assert.equal(rest.slice(0, 3), '0\r\n', 'one chunk');
  const end = rest.indexOf('\r\n\r\n');
  assert.ok(end > 3, 'trailers, for which alone there are chunks');
  request.trailers = rest.slice(3, end).split('\r\n').map(readField);
  readAlikeByCgi(request.trailers);
  return rest.slice(end + 4);
}

/** A reader that takes `_` for `-` finds no field that another reader does not find under that name. */
function readAlikeByCgi(fields: readonly [string, string][]): void {
  const meant = new Map<string, string>();
  for (const [name] of fields) {
    const lower = name.toLowerCase();
    const asRead = lower.replaceAll('_', '-');
    assert.equal(meant.get(asRead) ?? lower, lower, 'one name for what CGI takes for one field');
    meant.set(asRead, lower);
    if (lower !== asRead)
      assert.doesNotMatch(asRead, /^(x-sluice-|x-forwarded-|(content-length|transfer-encoding)$)/);
  }
}

function readField(line: string): [string, string] {
  // eslint-disable-next-line no-control-regex
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\t\x20-\x7e\x80-\xff]*)$/.exec(line);
  assert.ok(match, `not a field line: ${JSON.stringify(line)}`);
  return [match[1] ?? '', match[2] ?? ''];
}
