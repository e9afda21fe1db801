/**
 * What Sluice sends is taken over by React in Chromium without a warning: strings put into a page, and streams that arrive
 * with their scripts. Runs with SLUICE_TEST_LONG=1, or SLUICE_REACT_BROWSER=N for N trees.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { build as bundle } from 'esbuild';
import * as fc from 'fast-check';
import { chromium, type Browser, type Page } from 'playwright-core';
import { build } from '../differential/build.ts';
import { loadCompiler, type Compiler } from '../differential/compiled.ts';
import type { Node, Outcome } from '../differential/description.ts';
import { packageFolder } from '../differential/fuzz.ts';
import { loadReact, loadSluice, type Pair } from '../differential/libraries.ts';
import type { Renderer } from '../differential/observe.ts';
import { newWorld, type Libraries } from '../differential/world.ts';
import { pages } from './pages.ts';

process.env['NODE_ENV'] = 'production';

const chosen = process.env['SLUICE_REACT_BROWSER'];
const trees = Number(chosen ?? 400);
const wanted = chosen !== undefined || process.env['SLUICE_TEST_LONG'] === '1';
const executablePath = '/usr/bin/chromium';
if (wanted) execFileSync(join(import.meta.dirname, 'install.sh'), { stdio: 'inherit' });
const skip = wanted ? !existsSync(executablePath) && 'there is no Chromium' : 'part of the long tests';

const outcomes: readonly Outcome[] = Array.from({ length: 4 }, (_, index) => ({
  settles: 'resolves',
  v: `text ${index}`,
}));

void describe('hydration in Chromium', { skip }, () => {
  let browser: Browser;
  let page: Page;
  let client: string;
  let libraries: Pair;
  let sluice: Renderer;
  let compiler: Compiler;

  before(async () => {
    libraries = loadReact(packageFolder);
    sluice = await loadSluice(packageFolder);
    compiler = await loadCompiler(packageFolder);
    const { outputFiles } = await bundle({
      entryPoints: [join(import.meta.dirname, 'client.ts')],
      bundle: true,
      write: false,
      format: 'iife',
      define: { 'process.env.NODE_ENV': '"development"' },
    });
    client = outputFiles[0]?.text ?? '';
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    page = await browser.newPage();
  });

  after(() => browser.close());

  /** Empty, or what React said. */
  async function complaintsOf(html: string, root: readonly Node[]): Promise<string[]> {
    await page.setContent(`<!DOCTYPE html><html><body><div id="root">${html}</div></body></html>`);
    await page.addScriptTag({ content: client });
    return page.evaluate(
      ([nodes, settled]) =>
        (globalThis as unknown as { hydrate(...args: unknown[]): Promise<string[]> }).hydrate(nodes, settled),
      [root, outcomes] as const,
    );
  }

  const nodes = fc.array(pages(4), { minLength: 1, maxLength: 3 });

  /** Half of the trees are compiled for the server; in the browser they never are. */
  const check = async (
    render: (root: readonly Node[], libraries: Libraries) => Promise<string>,
  ): Promise<void> => {
    const property = fc.asyncProperty(nodes, fc.boolean(), async (root, isCompiled) => {
      const compiled = isCompiled ? { compiled: await compiler.compiled(root) } : {};
      const html = await render(root, { ...libraries, ...compiled });
      assert.deepEqual(await complaintsOf(html, root), [], html);
    });
    await fc.assert(property, { numRuns: trees / 2, includeErrorInReport: true });
  };

  void it(`of ${trees / 2} trees that were streamed`, () =>
    check((root, given) => streamed(sluice, root, given)));

  void it(`of ${trees / 2} trees that were prerendered`, () =>
    check(async (root, given) => {
      const world = newWorld(given, outcomes);
      for (const turn of world.turns) turn.settle();
      const result = await sluice.prerender?.(build(root, world));
      return new Response(result?.prelude).text();
    }));

  void it('is seen to fail: one letter changed', async () => {
    const root: readonly Node[] = [
      { k: 'element', tag: 'b', props: [], shape: 'arguments', of: [{ k: 'text', v: 'a' }] },
    ];
    assert.deepEqual(await complaintsOf('<b>a</b>', root), []);
    assert.notDeepEqual(await complaintsOf('<b>x</b>', root), []);
  });
});

/** The promises settle one by one after the shell was sent, so that the scripts have something to do. */
async function streamed(renderer: Renderer, root: readonly Node[], libraries: Libraries): Promise<string> {
  const world = newWorld(libraries, outcomes);
  let html = '';
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      html += chunk.toString();
      done();
    },
  });
  const finished = new Promise<void>((resolve, reject) => {
    sink.once('finish', resolve);
    sink.once('error', reject);
  });
  const { pipe } = renderer.renderToPipeableStream(build(root, world), {
    onShellReady: () => pipe(sink),
    onShellError: (error: Error) => sink.destroy(error),
  });
  for (const turn of world.turns) {
    await new Promise((resolve) => setImmediate(resolve));
    turn.settle();
  }
  await finished;
  return html;
}
