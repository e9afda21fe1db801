// The guide's code, as it stands there.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { type FunctionComponent, createElement } from 'react';
import { filesIn, projectOf } from '../../browser/test/support/program.ts';
import { chromiumPage, noBrowser } from './support/chromium.ts';

const sources = fileURLToPath(new URL('../src/', import.meta.url));
const alias = {
  '@sluice/screens': path.join(sources, 'index.ts'),
  '@sluice/screens/browser': path.join(sources, 'surfaces/browser.ts'),
  '@sluice/screens/headless': path.join(sources, 'surfaces/headless.ts'),
};

/** A file of a section, bundled with the package's sources; for Node without them, so that it shares them with the test. */
async function bundled(heading: string, name: string, platform: 'node' | 'browser'): Promise<string> {
  const root = projectOf(filesIn('screens.md', heading));
  const { outputFiles } = await build({
    entryPoints: [path.join(root, name)],
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    write: false,
    platform,
    ...(platform === 'browser' && { define: { 'process.env.NODE_ENV': '"production"' } }),
    alias,
    external: platform === 'node' ? ['react', 'react/jsx-runtime', 'yoga-layout'] : [],
  });
  return outputFiles[0]?.text ?? '';
}

async function moduleOf<T>(heading: string, name: string, more = ''): Promise<T> {
  const code = await bundled(heading, name, 'node');
  const root = projectOf([['bundle.js', code + more]]);
  return (await import(pathToFileURL(path.join(root, 'bundle.js')).href)) as T;
}

/** Shows a component of a section by a root of the same bundle, and returns the surface. */
async function shown(heading: string, name: string, component: string, props: object): Promise<Stage> {
  const root = projectOf([
    ...filesIn('screens.md', heading),
    [
      'stage.jsx',
      `import { createRoot, measures } from '@sluice/screens';
import { HeadlessSurface } from '@sluice/screens/headless';
import * as component from './${name}';
export const surface = new HeadlessSurface();
export const root = createRoot(surface);
export { component, measures };`,
    ],
  ]);
  const { outputFiles } = await build({
    entryPoints: [path.join(root, 'stage.jsx')],
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    write: false,
    platform: 'node',
    alias,
    external: ['react', 'react/jsx-runtime', 'yoga-layout'],
  });
  const folder = projectOf([['bundle.js', outputFiles[0]?.text ?? '']]);
  const stage = (await import(pathToFileURL(path.join(folder, 'bundle.js')).href)) as Stage;
  const Component = stage.component[component];
  if (Component !== undefined) stage.root.render(createElement(Component as FunctionComponent, props));
  stage.root.flush();
  stage.surface.advance(1);
  stage.root.flush();
  stage.surface.advance(300);
  return stage;
}

interface Stage {
  readonly surface: import('../src/surfaces/headless.ts').HeadlessSurface;
  readonly root: import('../src/index.ts').ScreenRoot;
  readonly component: Readonly<Record<string, unknown>>;
}

void test('quick start: the app runs on the surface without pictures', async () => {
  const { opensWhatHasTheFocus } = await moduleOf<{ opensWhatHasTheFocus(): string }>(
    'Quick start',
    'app-test.jsx',
  );
  const tree = opensWhatHasTheFocus();
  assert.match(tree, /\*\d+ 260,90 200x120 scale=1\.1\d* background="#f05454ff"/);
});

void test('quick start: the app runs in a browser', { skip: noBrowser }, async (t) => {
  const { page, faults } = await chromiumPage(t, await bundled('Quick start', 'main.jsx', 'browser'), {
    width: 800,
    height: 300,
  });
  await page.waitForSelector('canvas');
  const said = page.waitForEvent('console', (message) => message.text() === 'Beta');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await said;
  assert.deepEqual(faults, []);
});

void test('focus: a card tells its plot', async () => {
  const { surface } = await shown('Focus and keys', 'card.jsx', 'Card', { title: 'A', plot: 'B' });
  assert.match(surface.tree(), /text="B"/);
});

void test('lists: titles end with more', async () => {
  let ends = 0;
  const titles = Array.from({ length: 15 }, (_, index) => `Title ${index}`);
  const { surface } = await shown('Lists', 'list.jsx', 'Titles', { titles, onEnd: () => (ends += 1) });
  assert.match(surface.tree(), /background="#f05454ff"\n +\d+ .*text="Title 0"/);
  assert.equal(ends, 1);
});

void test('screens: Enter opens the detail, Back leads home', async () => {
  const { surface } = await shown('Screens', 'screens.jsx', 'Main', {});
  surface.press('Enter');
  surface.advance(300);
  assert.match(surface.tree(), /\*\d+ .*text="Detail"/);
  surface.press('Back');
  surface.advance(300);
  assert.match(surface.tree(), /\*\d+ .*text="Open"/);
});

void test('measuring: a report posts a beacon', async () => {
  const stage = await shown('Measuring', 'report.jsx', 'none', {});
  const sent: string[] = [];
  const report = stage.component['report'] as (root: unknown, send: (url: string) => void) => () => void;
  const stop = report(stage.root, (url) => void sent.push(url));
  stop();
  assert.deepEqual(sent, [], 'no screen has been shown');
});
