/**
 * What Sluice sends is taken over in Chromium by the React that it was made for, without a warning: pages that were whole when they were
 * sent, and streams that arrive with their scripts. SLUICE_REACT_BROWSER=N takes N trees with the newest React and a quarter of them with
 * each other.
 */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { build as bundle } from 'esbuild';
import * as fc from 'fast-check';
import { chromium, type Browser, type Page } from 'playwright-core';
import { build } from '../differential/build.ts';
import { loadCompiler, type Compiler } from '../differential/compiled.ts';
import type { Node, Outcome } from '../differential/description.ts';
import { packageFolder } from '../differential/fuzz.ts';
import { loadReact, loadSluice, type Pair, type Sluice } from '../differential/libraries.ts';
import type { Renderer } from '../differential/observe.ts';
import { newWorld, type Libraries } from '../differential/world.ts';
import { install, minors } from '../versions/install.ts';
import { roots } from './pages.ts';

process.env['NODE_ENV'] = 'production';

const trees_newest = Number(process.env['SLUICE_REACT_BROWSER'] ?? 400);
const executablePath = '/usr/bin/chromium';
execFileSync(join(import.meta.dirname, 'install.sh'), { stdio: 'inherit' });
const skip = !existsSync(executablePath) && 'there is no Chromium';

const outcomes: readonly Outcome[] = Array.from({ length: 4 }, (_, index) => ({
  settles: 'resolves',
  v: `text ${index}`,
}));

const newest = loadReact(packageFolder).version;
const others = minors.filter((minor) => !newest.startsWith(`${minor}.`));

for (const version of [newest, ...others]) {
  void describe(`hydration in Chromium by React ${version}`, { skip }, () => {
    const trees = Math.ceil(trees_newest / (version === newest ? 2 : 8));
    let browser: Browser;
    let page: Page;
    let client: string;
    let libraries: Pair;
    let sluice: Sluice;
    let compiler: Compiler;

    before(async () => {
      const folder = version === newest ? packageFolder : install(version);
      libraries = loadReact(folder);
      sluice = await loadSluice(folder);
      compiler = await loadCompiler(folder);
      client = await clientWith(folder);
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
          (globalThis as unknown as { hydrate(...args: unknown[]): Promise<string[]> }).hydrate(
            nodes,
            settled,
          ),
        [root, outcomes] as const,
      );
    }

    /** Half of the trees are compiled for the server; in the browser they never are. */
    const check = async (
      render: (renderer: Renderer, root: readonly Node[], libraries: Libraries) => Promise<string>,
    ): Promise<void> => {
      let complainedOfOwn = 0;
      const property = fc.asyncProperty(roots(libraries.version), fc.boolean(), async (root, isCompiled) => {
        const compiled = isCompiled ? { compiled: await compiler.compiled(root) } : {};
        const html = await render(sluice, root, { ...libraries, ...compiled });
        const complaints = await complaintsOf(html, root);
        if (complaints.length === 0) return;
        // React complains of some pages that are react-dom's own, to the byte.
        if (html !== (await render(libraries.stock, root, libraries))) assert.deepEqual(complaints, [], html);
        complainedOfOwn += 1;
      });
      const left: string[] = [];
      const stop = sluice.onFallback(({ reason }) => left.push(reason));
      await fc.assert(property, { numRuns: trees, includeErrorInReport: true });
      stop();
      assert.deepEqual(left, [], 'left to react-dom');
      assert.ok(
        complainedOfOwn <= 1 + trees / 20,
        `complained of ${complainedOfOwn} pages as react-dom has them`,
      );
    };

    void it(`of ${trees} trees that were streamed`, () =>
      check((renderer, root, given) => streamed(renderer, root, given, 'onShellReady')));

    void it(`of ${trees} trees that were whole when they were sent`, () =>
      check(async (renderer, root, given) => {
        // React 18 has no prerendering.
        if (!('prerenderToNodeStream' in libraries.stock) || !renderer.prerenderToNodeStream)
          return streamed(renderer, root, given, 'onAllReady');
        const world = newWorld(given, outcomes);
        for (const turn of world.turns) turn.settle();
        const { prelude } = await renderer.prerenderToNodeStream(build(root, world));
        return text(prelude);
      }));

    void it('is seen to fail: one letter changed', async () => {
      const root: readonly Node[] = [
        {
          k: 'element',
          tag: 'b',
          props: [['title', 'a']],
          shape: 'arguments',
          of: [{ k: 'text', v: 'a' }],
        },
      ];
      const within: readonly Node[] = [{ k: 'suspense', fallback: [], of: root }];
      const complaints = async (html: string): Promise<readonly string[]> => [
        (await complaintsOf(html, root)).join('\n'),
        (await complaintsOf(`<!--$-->${html}<!--/$-->`, within)).join('\n'),
      ];
      assert.deepEqual(await complaints('<b title="a">a</b>'), ['', '']);
      for (const html of ['<b title="a">x</b>', '<b title="x">a</b>'])
        for (const said of await complaints(html)) assert.match(said, /did(n't| not) match/);
      assert.equal(await page.evaluate('versionOfReact'), libraries.version);
    });
  });
}

/** The browser's half, with the React of `folder`. */
async function clientWith(folder: string): Promise<string> {
  const require = createRequire(join(folder, 'package.json'));
  const { outputFiles } = await bundle({
    entryPoints: [join(import.meta.dirname, 'client.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    define: { 'process.env.NODE_ENV': '"development"' },
    alias: Object.fromEntries(
      ['react', 'react-dom'].map((name) => [name, dirname(require.resolve(`${name}/package.json`))]),
    ),
  });
  return outputFiles[0]?.text ?? '';
}

/** The promises settle one by one, after the shell was sent if it was: so that the scripts have something to do. */
async function streamed(
  renderer: Renderer,
  root: readonly Node[],
  libraries: Libraries,
  sentAt: 'onShellReady' | 'onAllReady',
): Promise<string> {
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
    [sentAt]: () => pipe(sink),
    onShellError: (error: Error) => sink.destroy(error),
  });
  for (const turn of world.turns) {
    await new Promise((resolve) => setImmediate(resolve));
    turn.settle();
  }
  await finished;
  return html;
}
