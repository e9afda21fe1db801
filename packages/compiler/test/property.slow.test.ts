/** Random JSX, compiled and plain, gives the same bytes and evaluates the same expressions in the same order. */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ComponentType, ReactNode } from 'react';
import { long, seed } from '../../../tests/support/chance.js';
import { VALUES, jsx, moduleSource } from './support/generate.js';
import { renderByDefinition } from './support/reference.js';
import { type Version, own, versions } from './support/versions.js';

const runs = long ? 5_000 : 300;

type Page = ComponentType<{ p: typeof VALUES; t: <T>(n: number, value: T) => T }>;

type Render = (node: ReactNode) => string | Promise<string>;

interface Outcome {
  readonly html: string;
  readonly evaluated: readonly number[];
}

async function outcome({ react }: Version, Page: Page, render: Render): Promise<Outcome> {
  const evaluated: number[] = [];
  const t = <T>(n: number, value: T): T => {
    evaluated.push(n);
    return value;
  };
  let html: string;
  try {
    html = await render(react.createElement(Page, { p: VALUES, t }));
  } catch (error) {
    html = `throws ${(error as Error).message}`;
  }
  return { html, evaluated };
}

function streamed(server: Version['server'], node: ReactNode): Promise<string> {
  return new Promise((resolve, reject) => {
    let html = '';
    const sink = new Writable({
      write(chunk, _encoding, done) {
        html += String(chunk);
        done();
      },
      final(done) {
        resolve(html);
        done();
      },
    });
    const { pipe } = server.renderToPipeableStream(node, {
      onAllReady: () => pipe(sink),
      onError: reject,
      onShellError: reject,
    });
  });
}

/** Calls `compare` for each element, in one module of their own because compiling costs by the file. */
async function forEachPage(
  version: Version,
  elements: readonly string[],
  withIds: boolean,
  compare: (plain: Page, compiled: Page, element: string) => Promise<void>,
): Promise<void> {
  const source = moduleSource(elements, { withIds });
  const plain = version.evaluate(source)['default'] as Page[];
  const output = await version.compile(source);
  // Under another version, templates stay out of use.
  if (output.includes('= _template(')) assert.ok(output.includes(`= _template("${version.name}", [`));
  const compiled = version.evaluate(output)['default'] as Page[];
  for (const [index, element] of elements.entries()) {
    await compare(plain[index] as Page, compiled[index] as Page, element);
  }
}

/** What random trees come across too seldom. */
const EXAMPLES = [
  '<p>text<b>inner</b>{t(0, p.text)}text{t(0, p.nothing)}{t(0, p.text)}<i>{1}</i>{" "}text</p>',
  '<div><img src="/a?b&c" srcSet="d" alt="" loading="lazy" /><img src={t(0, p.path)} loading="lazy" /></div>',
  '<div><pre>{t(0, p.line)}</pre><pre>{"\\nline"}</pre><pre>a{t(0, p.line)}</pre></div>',
  '<ul><li key={t(0, p.text)} id={t(0, p.number)}>{t(0, p.list)}text</li><li key="k">{t(0, p.zero)}</li></ul>',
  '<svg viewBox="0 0 1 1"><path strokeWidth={2} fill={t(0, p.text)} /><text>{t(0, p.text)}</text></svg>',
  '<a href=""><button type="submit" disabled={t(0, p.yes)}>{t(0, p.empty)}x</button></a>',
];

const trees = fc.array(jsx, { minLength: 1, maxLength: 10, size: 'max' });

const check = (property: fc.IAsyncProperty<[string[]]>): Promise<void> =>
  fc
    .assert(property, { numRuns: Math.ceil(runs / versions.length), seed, examples: [[EXAMPLES]] })
    .catch((error: unknown) => {
      console.error(`replay with SLUICE_SEED=${seed}`);
      throw error;
    });

for (const version of versions) {
  const { server } = version;

  void test(`react-dom ${version.name} writes compiled JSX as it writes plain JSX (seed ${seed})`, () =>
    check(
      fc.asyncProperty(trees, (elements) =>
        forEachPage(version, elements, true, async (plain, compiled, element) => {
          for (const render of [
            server.renderToString,
            server.renderToStaticMarkup,
            (node: ReactNode) => streamed(server, node),
          ]) {
            assert.deepEqual(
              await outcome(version, compiled, render),
              await outcome(version, plain, render),
              element,
            );
          }
        }),
      ),
    ));

  if (version.sluice !== undefined) {
    const { sluice } = version;

    const name = `Sluice writes compiled JSX as react-dom ${version.name} writes plain JSX (seed ${seed})`;
    void test(name, async () => {
      await check(
        fc.asyncProperty(trees, (elements) =>
          forEachPage(version, elements, true, async (plain, compiled, element) => {
            const pairs: [Render, Render][] = [
              [sluice.renderToString, server.renderToString],
              [sluice.renderToStaticMarkup, server.renderToStaticMarkup],
              [(node) => streamed(sluice, node), (node) => streamed(server, node)],
            ];
            for (const [actual, expected] of pairs) {
              assert.deepEqual(
                await outcome(version, compiled, actual),
                await outcome(version, plain, expected),
                element,
              );
            }
          }),
        ),
      );
      // Streams of other versions may be left to react-dom; here it has to be Sluice that wrote.
      if (version === own) assert.equal(sluice.statistics().fallbacks, 0);
    });
  }

  void test(`pieces and holes give the HTML of react-dom ${version.name} (seed ${seed})`, () =>
    check(
      fc.asyncProperty(trees, (elements) =>
        forEachPage(version, elements, false, async (plain, compiled, element) => {
          const expected = await outcome(version, plain, server.renderToString);
          // Hoisted tags and preloads stand in front of the page, which needs a renderer.
          if (/<title|<link|^throws/.test(expected.html)) return;
          const byDefinition = (node: ReactNode): string => renderByDefinition(version, node);
          assert.deepEqual(await outcome(version, compiled, byDefinition), expected, element);
        }),
      ),
    ));
}
