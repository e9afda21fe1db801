/** A bundle built by webpack, with this loader in front of one that compiles JSX, as in Next. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import webpack from 'webpack';
import { APP, OUTPUT } from './support/output.js';

// As built: webpack loads it by its path.
const SLUICE = fileURLToPath(new URL('../dist/webpack.js', import.meta.url));
const JSX = fileURLToPath(new URL('fixtures/jsx-loader.cjs', import.meta.url));
const TEMPLATE = /\("\d+\.\d+\.\d+", \["</;

interface Build {
  readonly entry?: string;
  readonly target?: 'node' | 'web';
  readonly mode?: 'production' | 'development';
  readonly isCompiled?: boolean;
}

async function built(name: string, { entry, target, mode, isCompiled }: Build): Promise<string> {
  const compiler = webpack({
    context: APP,
    entry: { [name]: entry ?? './server.tsx' },
    target: target ?? 'node',
    mode: mode ?? 'production',
    devtool: 'source-map',
    output: { path: OUTPUT, filename: '[name].cjs', library: { type: 'commonjs2' } },
    resolve: { extensions: ['.tsx', '.js'] },
    // Other ids are made of the names of loaders too.
    optimization: { minimize: false, concatenateModules: false, moduleIds: 'named' },
    performance: false,
    module: {
      rules: [
        { test: /\.tsx$/, use: JSX },
        ...(isCompiled === false ? [] : [{ test: /\.tsx$/, enforce: 'pre' as const, use: SLUICE }]),
      ],
    },
  });
  await new Promise<void>((resolve, reject) => {
    compiler.run((error, stats) => {
      if (error !== null) reject(error);
      else if (stats?.hasErrors() === true) reject(new Error(stats.toString('errors-only')));
      else compiler.close((closing) => (closing ? reject(closing) : resolve()));
    });
  });
  return readFile(join(OUTPUT, `${name}.cjs`), 'utf8');
}

const html = (name: string): string =>
  (createRequire(import.meta.url)(join(OUTPUT, `${name}.cjs`)) as { html: string }).html;

void test("the server's bundle is compiled, and gives the same HTML", async () => {
  const plain = await built('plain', { isCompiled: false });
  const compiled = await built('compiled', {});
  assert.doesNotMatch(plain, TEMPLATE);
  assert.match(compiled, TEMPLATE);
  assert.equal(html('compiled'), html('plain'));
});

void test('its source map leads back to the source', async () => {
  await built('mapped', {});
  const map = JSON.parse(await readFile(join(OUTPUT, 'mapped.cjs.map'), 'utf8')) as {
    sources: string[];
    sourcesContent: string[];
  };
  const index = map.sources.findIndex((source) => source.endsWith('Card.tsx'));
  assert.match(map.sourcesContent[index] ?? '', /<article className="card"/);
});

void test("the client's bundle and development builds are untouched", async () => {
  for (const build of [{ target: 'web', entry: './client.tsx' }, { mode: 'development' }] as const) {
    const plain = await built('untouched', { ...build, isCompiled: false });
    assert.equal(await built('untouched', build), plain);
  }
});
