/** Random JSX, compiled and plain, gives the same bytes and evaluates the same expressions in the same order. */
import './support/production.js';
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import { createElement, type ComponentType, type ReactNode } from 'react';
import * as reactDom from 'react-dom/server';
import { compiledSource, evaluate } from './support/evaluate.js';
import { VALUES, jsx, moduleSource } from './support/generate.js';
import { renderByDefinition } from './support/reference.js';

const runs = process.env['SLUICE_TEST_LONG'] === '1' ? 5_000 : 100;
const seed = Number(process.env['SLUICE_SEED'] ?? Math.trunc(Math.random() * 2 ** 31));

type Page = ComponentType<{ p: typeof VALUES; t: <T>(n: number, value: T) => T }>;

interface Outcome {
  readonly html: string;
  readonly evaluated: readonly number[];
}

async function outcome(Page: Page, render: (node: ReactNode) => string | Promise<string>): Promise<Outcome> {
  const evaluated: number[] = [];
  const t = <T>(n: number, value: T): T => {
    evaluated.push(n);
    return value;
  };
  let html: string;
  try {
    html = await render(createElement(Page, { p: VALUES, t }));
  } catch (error) {
    html = `throws ${(error as Error).message}`;
  }
  return { html, evaluated };
}

function streamed(node: ReactNode): Promise<string> {
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
    const { pipe } = reactDom.renderToPipeableStream(node, {
      onAllReady: () => pipe(sink),
      onError: reject,
      onShellError: reject,
    });
  });
}

/** Calls `compare` for each element, in one module of their own because compiling costs by the file. */
async function forEachPage(
  elements: readonly string[],
  withIds: boolean,
  compare: (plain: Page, compiled: Page, element: string) => Promise<void>,
): Promise<void> {
  const source = moduleSource(elements, { withIds });
  const plain = evaluate(source)['default'] as Page[];
  const compiled = evaluate(await compiledSource(source))['default'] as Page[];
  for (const [index, element] of elements.entries()) {
    await compare(plain[index] as Page, compiled[index] as Page, element);
  }
}

const trees = fc.array(jsx, { minLength: 1, maxLength: 20, size: 'max' });

const check = (property: fc.IAsyncProperty<[string[]]>): Promise<void> =>
  fc.assert(property, { numRuns: runs, seed }).catch((error: unknown) => {
    console.error(`replay with SLUICE_SEED=${seed}`);
    throw error;
  });

void test(`stock react-dom writes compiled JSX as it writes plain JSX (seed ${seed})`, () =>
  check(
    fc.asyncProperty(trees, (elements) =>
      forEachPage(elements, true, async (plain, compiled, element) => {
        for (const render of [reactDom.renderToString, reactDom.renderToStaticMarkup, streamed]) {
          assert.deepEqual(await outcome(compiled, render), await outcome(plain, render), element);
        }
      }),
    ),
  ));

void test(`pieces and holes give react-dom's HTML (seed ${seed})`, () =>
  check(
    fc.asyncProperty(trees, (elements) =>
      forEachPage(elements, false, async (plain, compiled, element) => {
        const expected = await outcome(plain, reactDom.renderToString);
        // Hoisted tags and preloads stand in front of the page, which needs a renderer.
        if (/<title|<link|^throws/.test(expected.html)) return;
        assert.deepEqual(await outcome(compiled, renderByDefinition), expected, element);
      }),
    ),
  ));
