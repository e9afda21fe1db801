// The build says which of its files are named by their contents; `serve` marks these, and no others, as immutable.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createBuilder, type Plugin } from 'vite';
import sluice, { type Assets } from '../src/vite/index.ts';
import { config } from './support/build.ts';

/** Emits files as an app's plugins do. */
const emitting: Plugin = {
  name: 'emitting',
  generateBundle() {
    if (this.environment.name !== 'client') return;
    this.emitFile({ type: 'asset', fileName: 'assets/hero-Portrait.jpg', source: 'a portrait' });
    this.emitFile({ type: 'asset', fileName: 'sw.js', source: '' });
    this.emitFile({ type: 'asset', name: 'two words.jpg', source: 'named by its contents' });
  },
};

/** Names of client files, and those that the manifest says to be immutable. */
async function built(output: object): Promise<{ files: string[]; immutable: readonly string[] }> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sluice-immutable-'));
  try {
    const manifest = path.join(folder, 'sluice-assets.json');
    const client = path.join(folder, 'client');
    const builder = await createBuilder({
      ...config(),
      plugins: [sluice({ manifest }), emitting],
      environments: {
        client: { build: { outDir: client, sourcemap: true, rollupOptions: { output } } },
        ssr: { build: { outDir: path.join(folder, 'server') } },
      },
    });
    const { client: environment } = builder.environments;
    assert.ok(environment);
    await builder.build(environment);
    const files = fs
      .readdirSync(client, { recursive: true, encoding: 'utf8' })
      .filter((file) => fs.statSync(path.join(client, file)).isFile());
    const { immutable = [] } = JSON.parse(fs.readFileSync(manifest, 'utf8')) as Assets;
    return { files, immutable };
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

for (const [what, output, length] of [
  ['as Vite makes them', {}, 8],
  [
    'with hashes of another length',
    {
      entryFileNames: 'js/[name].[hash:20].js',
      chunkFileNames: 'js/[name].[hash:20].js',
      assetFileNames: ({ names }: { names: string[] }) =>
        names.some((name) => name.endsWith('.css')) ? 'css/[hash:20][extname]' : 'img/[name]_[hash:20].[ext]',
    },
    20,
  ],
] as const) {
  void test(`files with hashes are immutable, and no others: names ${what}`, async () => {
    const { files, immutable } = await built(output);
    const set = new Set(immutable);
    const groups = files.filter((file) => /(?:components|shared)-[\w-]{8}\.js$/.test(file));
    const others = files.filter((file) => !set.has(file)).toSorted();
    assert.ok(groups.length > 0);
    assert.deepEqual(others, ['assets/hero-Portrait.jpg', 'sw.js']);
    const named = immutable.filter((file) => !groups.includes(file.replace(/\.map$/, '')));
    for (const file of named) assert.match(file, new RegExp(`[\\w-]{${length}}\\.\\w+(?:\\.map)?$`));
    for (const kind of [/\.js$/, /\.js\.map$/, /\.css$/, /two.words.*\.jpg$/])
      assert.ok(
        immutable.some((file) => kind.test(file)),
        `${kind}`,
      );
  });
}

void test('without hashes in names, no file of the build is immutable but those of several components', async () => {
  const { immutable } = await built({
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    assetFileNames: '[name][extname]',
  });
  for (const file of immutable) assert.match(file, /(?:components|shared)-[\w-]{8}\.js(?:\.map)?$/);
});
