// The client's part of the wire in a browser: nothing of the server comes with it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { build } from 'esbuild';

const folder = new URL('../../', import.meta.url);

/** Modules of a bundle for browsers that have code in it, and its bytes. */
async function bundled(contents: string): Promise<{ files: string[]; bytes: number }> {
  const { metafile, outputFiles } = await build({
    stdin: { contents, resolveDir: folder.pathname, loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const [output] = Object.values(metafile.outputs);
  const files = Object.entries(output?.inputs ?? {})
    .filter(([file, { bytesInOutput }]) => bytesInOutput > 0 && file !== '<stdin>')
    .map(([file]) => file.replace(/.*src\//, ''));
  return { files: files.sort(), bytes: outputFiles[0]?.contents.length ?? 0 };
}

void test('a bundle for browsers has the data source, and no module of the server', async () => {
  const { exports } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as {
    exports: Record<string, { browser: string }>;
  };
  const entry = exports['./wire']?.browser.replace('./dist/', './src/').replace('.js', '.ts');
  const { files, bytes } = await bundled(`export { httpSource } from ${JSON.stringify(entry)};`);
  assert.deepEqual(files, ['router/errors.ts', 'wire/source.ts']);
  assert.ok(bytes < 6_000, `${bytes} bytes`);
});

void test('a router runs in browsers, too', async () => {
  const { files } = await bundled(`export { Router } from './src/router/index.ts';`);
  assert.deepEqual(
    files.filter((file) => !/^(?:router|paths|seeing)\//.test(file)),
    [],
  );
});
