/** The plugins for Vite, Rollup and esbuild, and the report that they write. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Plugin, build as esbuild } from 'esbuild';
import { rollup } from 'rollup';
import { build as vite, type InlineConfig, type Rolldown } from 'vite';
import { esbuildPlugin, vitePlugin } from '../../src/loops/index.js';
import { esbuildPlugin as screens } from '../../src/screens/index.js';

const APP = `export async function sum(rows) {
  let sum = 0;
  for (const row of rows) sum += row;
  return sum;
}
/* @breathe */
export function sync(rows) {
  while (rows.length > 0) rows.pop();
}
`;
const WARNING = /8:3 while in sync: left, because it is in a function that is not async/;
const external = ['@sluice/breathe'];

async function inDirectory(work: (directory: string, entry: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-loops-'));
  try {
    const entry = join(directory, 'app.js');
    writeFileSync(entry, APP);
    await work(directory, entry);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function assertReport(directory: string, entry: string): void {
  assert.equal(
    readFileSync(join(directory, 'report.txt'), 'utf8'),
    `${entry}
  3:3 for…of in sum: breathes
  8:3 while in sync: left, because it is in a function that is not async
1 of 2 loops breathe
`,
  );
  const { files } = JSON.parse(readFileSync(join(directory, 'report.json'), 'utf8')) as {
    files: { loops: { done: boolean }[] }[];
  };
  assert.deepEqual(
    files.map(({ loops }) => loops.map(({ done }) => done)),
    [[true, false]],
  );
}

void test('esbuild', () =>
  inDirectory(async (directory, entry) => {
    const built = await esbuild({
      entryPoints: [entry],
      bundle: true,
      write: false,
      format: 'esm',
      external,
      logLevel: 'silent',
      sourcemap: 'external',
      outdir: directory,
      plugins: [esbuildPlugin({ loops: 'all', report: join(directory, 'report.json') })],
    });
    const [map, code] = built.outputFiles;
    assert.match(code?.text ?? '', /isDue\(\)/);
    const { sourcesContent } = JSON.parse(map?.text ?? '') as { sourcesContent: string[] };
    assert.deepEqual(sourcesContent, [APP]);
    assert.match(built.warnings[0]?.text ?? '', WARNING);
    assert.equal(built.warnings[0]?.location?.line, 8);
    assertReport(directory, entry);
  }));

void test('esbuild: files of other plugins are theirs', async () => {
  const virtual: Plugin = {
    name: 'virtual',
    setup(build) {
      build.onResolve({ filter: /^virtual:/ }, () => ({ path: '/none/config.jsx', namespace: 'virtual' }));
      build.onLoad({ filter: /./, namespace: 'virtual' }, () => ({ contents: 'export default "here";' }));
    },
  };
  for (const own of [esbuildPlugin(), screens({ react: 19 })]) {
    const built = await esbuild({
      stdin: { contents: 'export { default } from "virtual:config";' },
      bundle: true,
      write: false,
      format: 'esm',
      logLevel: 'silent',
      plugins: [own, virtual],
    });
    assert.match(built.outputFiles[0]?.text ?? '', /here/);
  }
});

void test('Vite before environments: its configuration and its word for a file tell the server', async () => {
  const code = async (isServerBuild: boolean | undefined, ssr?: boolean): Promise<boolean> => {
    const plugin = vitePlugin({ loops: 'all' });
    if (isServerBuild !== undefined) plugin.configResolved({ build: { ssr: isServerBuild } });
    const compiled = await plugin.transform.call(
      { warn: () => {} },
      APP,
      '/app.js',
      ssr === undefined ? {} : { ssr },
    );
    return compiled !== undefined;
  };
  assert.deepEqual(
    [await code(true), await code(false), await code(false, true), await code(true, false)],
    [true, false, true, false],
  );
  assert.equal(await code(undefined), true);
});

void test('Rollup', () =>
  inDirectory(async (directory, entry) => {
    const warnings: string[] = [];
    const bundle = await rollup({
      input: entry,
      external,
      plugins: [vitePlugin({ loops: 'all', report: join(directory, 'report.json') })],
      onwarn: ({ message }) => void warnings.push(message),
    });
    const { output } = await bundle.generate({ format: 'esm' });
    assert.match(output[0].code, /isDue\(\)/);
    assert.match(warnings.join('\n'), WARNING);
    assertReport(directory, entry);
  }));

void test('Vite: the server’s bundle is changed, the client’s is not, and nothing is by default', () =>
  inDirectory(async (directory, entry) => {
    const code = async (isServer: boolean, loops?: 'all'): Promise<string> => {
      const config: InlineConfig = {
        root: directory,
        configFile: false,
        logLevel: 'silent',
        plugins: [vitePlugin(loops === undefined ? {} : { loops })],
        build: {
          write: false,
          minify: false,
          ...(isServer ? { ssr: entry } : { lib: { entry, formats: ['es'] } }),
          rolldownOptions: { external },
        },
      };
      const output = await vite(config);
      const [first] = (Array.isArray(output) ? output : [output]) as Rolldown.RolldownOutput[];
      return first?.output[0].code ?? '';
    };
    assert.match(await code(true, 'all'), /isDue\(\)/);
    assert.doesNotMatch(await code(false, 'all'), /isDue/);
    assert.doesNotMatch(await code(true), /isDue/);
  }));

void test('files of packages are left alone, unless they are included', () =>
  inDirectory(async (directory, entry) => {
    const plugin = vitePlugin({ loops: 'all', include: /elsewhere/ });
    const context = { warn: () => {} };
    assert.equal(await plugin.transform.call(context, APP, entry), undefined);
    const packaged = join(directory, 'node_modules', 'a', 'index.js');
    assert.equal(await vitePlugin({ loops: 'all' }).transform.call(context, APP, packaged), undefined);
  }));
