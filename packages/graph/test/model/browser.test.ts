/** The model in a browser: without anything of Node.js, and small. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** Bytes with gzip that the model may have, and those of the model with the hooks of React. */
const GZIP_BYTES_MAX = 9500;
const WITH_HOOKS_BYTES_MAX = 10 * 1024;

async function bundled(code: string, format: 'iife' | 'esm' = 'iife'): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: fileURLToPath(new URL('../../src', import.meta.url)), loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    platform: 'browser',
    external: ['react'],
    format,
    target: 'es2022',
  });
  return outputFiles[0]?.text ?? '';
}

void test('an app that uses the model loads no more than 9.5 KB', async () => {
  const code = await bundled(`import { Model } from './index.ts'; globalThis.Model = Model;`);
  const { length } = gzipSync(code, { level: 9 });
  assert.ok(length > 1000 && length <= GZIP_BYTES_MAX, `${length} bytes`);
});

void test('an app that uses the model and the hooks of React loads no more than 10 KiB for both', async () => {
  const code = await bundled(
    `
    export { Model } from './index.ts';
    export { GraphProvider, useGraph, useModel } from './react/index.ts';
  `,
    'esm',
  );
  const { length } = gzipSync(code, { level: 9 });
  assert.ok(length > 5000 && length <= WITH_HOOKS_BYTES_MAX, `${length} bytes`);
});

void test('the model runs where there are only the globals of browsers', async () => {
  const code = await bundled(`
    import { Model, ref } from './index.ts';
    const get = () => Promise.resolve({ jsonGraph: { list: { 0: ref('items.a') }, items: { a: { name: 'found' } } } });
    globalThis.result = new Model({ source: { get } }).batch(1).getValue('list[0].name');
  `);
  const context = { AbortController, queueMicrotask, setTimeout, result: undefined as unknown };
  vm.runInNewContext(code, context);
  assert.equal(await context.result, 'found');
});
