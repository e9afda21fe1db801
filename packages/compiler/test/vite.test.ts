/** An app built by Vite: its server's bundle is compiled, its client's is not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type InlineConfig, type Plugin, type Rolldown, build, createBuilder, createServer } from 'vite';
import sluice from '../src/vite.js';
import { APP, load } from './support/output.js';

const TEMPLATE = /\("\d+\.\d+\.\d+", \["</;

const config = (plugins: Plugin[]): InlineConfig => ({
  root: APP,
  configFile: false,
  logLevel: 'error',
  plugins,
  build: { write: false, minify: false, sourcemap: true },
});
const server = (plugins: Plugin[]): InlineConfig => {
  const base = config(plugins);
  return { ...base, build: { ...base.build, ssr: 'server.tsx' }, ssr: { noExternal: true } };
};
const client = (plugins: Plugin[]): InlineConfig => {
  const base = config(plugins);
  return { ...base, build: { ...base.build, rolldownOptions: { input: `${APP}client.tsx` } } };
};

function entry(output: unknown): Rolldown.OutputChunk {
  const [first] = (Array.isArray(output) ? output : [output]) as Rolldown.RolldownOutput[];
  assert.ok(first);
  return first.output[0];
}

void test("the server's bundle is compiled, and gives the same HTML", async () => {
  const plain = entry(await build(server([])));
  const compiled = entry(await build(server([sluice()])));
  assert.doesNotMatch(plain.code, TEMPLATE);
  assert.match(compiled.code, TEMPLATE);
  assert.match(compiled.code, /<article class=\\?"card\\?" style=\\?"margin-top:4px\\?"/);

  const { html } = await load<{ html: string }>('compiled.mjs', compiled.code);
  assert.match(html, /^<main><article class="card"/);
  assert.equal(html, (await load<{ html: string }>('plain.mjs', plain.code)).html);
});

void test('its source map names the sources', async () => {
  const { map } = entry(await build(server([sluice()])));
  const index = map?.sources.findIndex((source) => source.endsWith('/Card.tsx')) ?? -1;
  assert.match(map?.sourcesContent?.[index] ?? '', /<article className="card"/);
});

void test("the client's bundle is untouched", async () => {
  const plain = entry(await build(client([])));
  const compiled = entry(await build(client([sluice()])));
  assert.equal(compiled.code, plain.code);
});

void test('with environments, that of the server is compiled and that of the client is not', async () => {
  const builder = await createBuilder({
    ...config([sluice()]),
    environments: {
      client: { build: { rolldownOptions: { input: `${APP}client.tsx` } } },
      ssr: { build: { rolldownOptions: { input: `${APP}server.tsx` } } },
    },
  });
  const { client, ssr } = builder.environments;
  assert.ok(client && ssr);
  assert.doesNotMatch(entry(await builder.build(client)).code, TEMPLATE);
  assert.match(entry(await builder.build(ssr)).code, TEMPLATE);
});

void test('the development server is left alone', async () => {
  const vite = await createServer({
    ...config([sluice()]),
    server: { middlewareMode: true, ws: false },
    appType: 'custom',
  });
  try {
    const result = await vite.environments.ssr.transformRequest('/Card.tsx');
    assert.ok(result);
    assert.doesNotMatch(result.code, /sluice/);
  } finally {
    await vite.close();
  }
});
