/** Servers of the package that hostile clients meet, with a service behind them that is hostile as well. */
import { once } from 'node:events';
import http, { type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import type { SchemaResult, Props } from '../../src/component.js';
import { createFragments, fragmentsOf } from '../../src/fragments/fragments.js';
import { hypernovaSource } from '../../src/fragments/hypernova-source.js';
import { HttpError } from '../../src/http/errors.js';
import { createServer } from '../../src/http/handler.js';
import { pageHandler, respondBox, styleHandler } from '../../src/pages/http.js';
import { createPages } from '../../src/pages/pages.js';
import { createRemote } from '../../src/remote/remote.js';
import { remoteAdapter } from '../../src/remote/adapter.js';
import { createRegistry, type Registry } from '../../src/registry/registry.js';
import { escapeHtml } from '../../src/state/escape.js';
import { value, word } from './words.js';

/** What the service behind answers. */
export interface Reply {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  readonly breaksOff: boolean;
}

const replyText = fc.oneof(
  value.map((data) => JSON.stringify(data) ?? ''),
  fc
    .record(
      { html: fc.oneof(word, value), success: fc.oneof(fc.boolean(), value), error: value },
      { requiredKeys: [] },
    )
    .map((result) => JSON.stringify({ results: { j0: result, j1: result, constructor: result } })),
  word,
);

export const reply: fc.Arbitrary<Reply> = fc
  .record({
    status: fc.constantFrom(200, 200, 200, 204, 302, 404, 500, 503),
    text: replyText,
    encoding: fc.constantFrom('', '', 'gzip', 'br', 'constructor', '__proto__'),
    isTrue: fc.boolean(),
    isCut: fc.boolean(),
    breaksOff: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
  })
  .map(({ status, text, encoding, isTrue, isCut, breaksOff }) => {
    const whole = encoding === 'gzip' && isTrue ? gzipSync(text) : Buffer.from(text);
    const body = isCut ? whole.subarray(0, Math.ceil(whole.length / 2)) : whole;
    const headers: [string, string][] = encoding === '' ? [] : [['content-encoding', encoding]];
    return { status, headers: [...headers, ['location', '/elsewhere']], body, breaksOff };
  });

export interface Target {
  readonly origin: URL;
  /** What handlers threw, and what would have ended the process. */
  readonly faults: unknown[];
  /** What the service behind answers from now on. */
  reply: Reply | undefined;
}

export async function target(t: TestContext): Promise<Target> {
  const faults: unknown[] = [];
  const note = (error: unknown): void => void faults.push(error);
  process.on('uncaughtException', note).on('unhandledRejection', note);
  t.after(() => process.off('uncaughtException', note).off('unhandledRejection', note));

  const behind = http.createServer((request, response) => {
    request.resume().on('end', () => answer(response, found.reply));
  });
  const service = await listening(t, behind);
  const registry = hostileRegistry(service);
  const pages = createPages({
    registry,
    onError: () => undefined,
    server: { '*': 0.7, constructor: 0.5 },
    visitor: { cookie: 'visitor', setsCookie: true },
    experiments: [
      {
        name: 'exp',
        since: '2026-01-01',
        by: 'constructor',
        arms: { a: 1, b: 1 },
        components: { Text: { b: 'Checked' } },
      },
    ],
    sources: {
      origins: [service],
      functions: {
        echo: (args) => args,
        fails: () => Promise.reject(new Error('no')),
      },
    },
  });
  const views: Record<string, (data: unknown) => string> = {
    Text: (data) => `<p>${escapeHtml(JSON.stringify(data) ?? '')}</p>`,
  };
  const holes = {
    data: { x: { source: 'echo', args: { n: 1 } }, slow: { url: `${service}/data`, timeoutMs: 50 } },
    boxes: [
      { component: 'Text', props: { title: { $path: '$.x.n' } } },
      {
        component: 'Frame',
        each: '$.list',
        slots: {
          main: [
            { component: 'Checked', id: 'named', props: { $path: '@' } },
            { component: 'Text', if: { exists: '@.n' } },
          ],
        },
      },
      { component: 'Text', props: { title: { $path: '$.slow' } } },
      { component: 'Static' },
      { component: 'Remote' },
    ],
  };
  const server = createServer(
    [
      createFragments({ registry, bytesMax: 500_000 }).handle,
      fragmentsOf(
        hypernovaSource((name) => views[name]),
        { endpoint: '/hypernova' },
        {},
      ).handle,
      pageHandler(pages, { bytesMax: 500_000, headers: { 'cache-control': 'public, max-age=60' } }),
      styleHandler(pages),
      async (request, response) => {
        if (request.url?.startsWith('/more') !== true) return false;
        await respondBox(pages, request, response, holes, { list: [{ n: 1 }, { name: 'Ada' }] });
        return true;
      },
    ],
    {
      // Data that did not come is an answer of 502 or 504.
      onError: (error) => {
        if (!(error instanceof HttpError)) note(error);
      },
    },
  );
  const found: Target = { origin: new URL(await listening(t, server)), faults, reply: undefined };
  return found;
}

function hostileRegistry(service: string): Registry {
  const registry = createRegistry({ adapters: [remoteAdapter], loadTimeoutMs: 1_000 });
  const text = (props: Props): string => `<p>${escapeHtml(Object.keys(props).join())}</p>`;
  const validate = (given: unknown): SchemaResult<Props> => {
    const { name } = given as Record<string, unknown>;
    if (typeof name !== 'string') return { issues: [{ message: 'is no text', path: ['name'] }] };
    return { value: { name, at: new Date(0) } };
  };
  registry.register('Text', text);
  registry.register('constructor', text);
  registry.register('Static', text, { rendering: 'static' });
  registry.register('Client', text, { rendering: 'client', placeholder: text });
  registry.register('Checked', text, {
    props: { '~standard': { version: 1, vendor: 'test', validate } },
    placeholder: text,
  });
  registry.register('Cached', text, { cacheKey: (props) => Object.keys(props).join() });
  registry.register(
    'Frame',
    (_props: Props, { slots }: { slots: { names: readonly string[]; html: (name: string) => string } }) =>
      slots.names.map((name) => slots.html(name)).join(''),
  );
  registry.register('Throws', () => {
    throw new Error('It threw');
  });
  registry.register('Later', async (props: Props) => {
    await new Promise((resolve) => setImmediate(resolve));
    return text(props);
  });
  registry.register('Never', () => new Promise<string>(() => undefined), { timeoutMs: 2 });
  registry.lazy('Missing', () => Promise.reject(new Error('no file')));
  const remote = createRemote({
    url: `${service}/batch`,
    timeoutMs: 50,
    failuresMax: 1_000_000,
    bytesMax: 10_000,
    headers: () => ({ authorization: 'x' }),
  });
  registry.register('Remote', remote.component('Remote', { cacheS: 1 }));
  return registry;
}

function answer(response: ServerResponse, given: Reply | undefined): void {
  if (given === undefined) {
    response.end('{}');
    return;
  }
  response.writeHead(given.status, given.headers.flat());
  if (given.breaksOff) {
    response.write(given.body);
    response.destroy();
  } else response.end(given.status === 204 ? undefined : given.body);
}

async function listening(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
