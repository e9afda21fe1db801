/** The plugins for Vite, Rollup and esbuild, and the report that they write. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { build as esbuild } from 'esbuild';
import { rollup } from 'rollup';
import { build as vite } from 'vite';
import { type Report, esbuildPlugin, vitePlugin } from '../../src/screens/index.js';

const external = ['react', 'react/jsx-runtime', '@sluice/screens', '@sluice/screens/runtime'];
const CARD = `import { Widget } from '@sluice/screens';
import { Deep } from './deep';
export const Card = (props: { w: number }) => <Deep {...props} kind="card" />;
export const App = ({ w }: { w: number }) => <Card w={w} title="t" />;`;
const DEEP = `import { Widget } from '@sluice/screens';
export const Deep = (props) => <Base {...props} onKey={() => props.w} />;
const Base = ({ w, title }) => <Widget style={{ width: w, height: 2 }} text={title} />;`;

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-screens-'));
  try {
    writeFileSync(join(directory, 'card.tsx'), CARD);
    writeFileSync(join(directory, 'deep.jsx'), DEEP);
    await work(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function assertReport(directory: string): void {
  const report = JSON.parse(readFileSync(join(directory, 'report.json'), 'utf8')) as Report;
  assert.deepEqual(report.files.map(({ file }) => file.slice(directory.length + 1)).sort(), [
    'card.tsx',
    'deep.jsx',
  ]);
  assert.deepEqual(
    report.stacks.map(({ components }) => components),
    [['Card', 'Deep', 'Base']],
  );
  const text = readFileSync(join(directory, 'report.txt'), 'utf8');
  assert.match(
    text,
    /deep\.jsx\n(?: .*\n)*? {2}merges: 0 of 1\n {4}2:32 Base: not done, because props is read in a function/,
  );
  assert.match(
    text,
    /3 components copy 4 props: 7 copies per update as written, 6 as compiled \(Card > Deep > Base\)/,
  );
}

void test('esbuild', () =>
  inDirectory(async (directory) => {
    const options = { react: 19 as const, report: join(directory, 'report.json') };
    const built = await esbuild({
      entryPoints: [join(directory, 'card.tsx')],
      bundle: true,
      write: false,
      format: 'esm',
      jsx: 'automatic',
      external,
      sourcemap: 'inline',
      plugins: [esbuildPlugin(options)],
    });
    const code = built.outputFiles[0]?.text ?? '';
    assert.match(code, /Card\.\$plain = Card/);
    assert.match(code, /Base\.\$plain = Base/);
    assertReport(directory);
  }));

void test('Rollup and Vite, and only in builds', () =>
  inDirectory(async (directory) => {
    const plugin = vitePlugin({ react: 19, report: join(directory, 'report.json') });
    assert.equal(plugin.apply, 'build');
    const built = await vite({
      root: directory,
      logLevel: 'silent',
      configFile: false,
      build: {
        write: false,
        minify: false,
        lib: { entry: 'card.tsx', formats: ['es'] },
        rollupOptions: { external },
      },
      plugins: [plugin],
    });
    const [{ output }] = built as unknown as [{ output: [{ code: string }] }];
    assert.match(output[0].code, /Card\.\$plain = Card/);
    assertReport(directory);

    const deep = vitePlugin({ react: 19 });
    const rolled = await rollup({ input: join(directory, 'deep.jsx'), external, plugins: [deep] });
    const { output: chunks } = await rolled.generate({ format: 'es' });
    assert.match(chunks[0].code, /__proto__: _WIDGET/);
  }));

void test('the most expensive stacks are printed on request', (context) => {
  const printed: string[] = [];
  context.mock.method(console, 'log', (line: string) => void printed.push(line));
  return inDirectory(async (directory) => {
    const plugin = vitePlugin({ react: 19, print: true });
    await plugin.transform(CARD, join(directory, 'card.tsx'));
    await plugin.transform(DEEP, join(directory, 'deep.jsx?v=1'));
    assert.equal(await plugin.transform(DEEP, join(directory, 'node_modules/deep.jsx')), undefined);
    plugin.buildEnd(new Error('failed'));
    assert.deepEqual(printed, []);
    plugin.buildEnd();
    assert.equal(printed.length, 1);
    assert.match(printed[0] ?? '', /^3 components copy 4 props/);
  });
});
