// Pages of a graph in Chromium, as builds and servers make them: files of several components, holes, and several models.
import assert from 'node:assert/strict';
import { before, test, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { noBrowser } from '../../../../tests/browser/chromium.ts';
import { settled, view } from '../../../browser/test/support/browser.ts';
import { buildProject, projectOf, running } from '../../../browser/test/support/program.ts';

const options = { skip: noBrowser };

const GRAPH = `
import { httpSource, startGraph } from '@sluice/graph/browser';
export { GraphProvider, useGraph, useModel, useRetry, useValue } from '@sluice/graph/react';
if (typeof document !== 'undefined') {
  globalThis.starts = (globalThis.starts ?? 0) + 1;
  globalThis.model = startGraph({ source: httpSource('/model.json') });
}
`;

const PARTS = Array.from({ length: 12 }, (_, at) => `Part${at}`);
/** Texts of its own, as components have them. */
const part = (name: string, at: number): string => `
import { useState } from 'react';
import { useValue } from '../graph.js';
const texts = ${JSON.stringify(Array.from({ length: 12 }, (_, line) => `${name}: text ${line * at} of line ${line}`))};
export default function ${name}() {
  const [count, setCount] = useState(1);
  const title = useValue(['list', ${at}, 'name']);
  return <button title={texts[count % 12]} onClick={() => setCount(count + 1)}>{title + ', ' + count}</button>;
}
`;

const VOTES = `
import { useModel, useValue } from '../graph.js';
export default function Votes({ of }) {
  const votes = useValue('me.votes');
  const model = useModel();
  return <button id={of} onClick={() => void model.setValue('me.votes', votes + 1)}>{votes + ' votes'}</button>;
}
`;

/** Holes of each kind: after a value was read, before it came, and for a route that failed on the server. */
const HOLES: Readonly<Record<string, string>> = {
  Throws: `
export default function Throws() {
  const text = useValue('texts.Throws');
  if (isServer) throw new Error('only in browsers');
  return <p id="Throws">{text}</p>;
}`,
  Late: `
const never = new Promise(() => undefined);
export default function Late() {
  const text = useValue('texts.Late');
  if (isServer) throw never;
  return <p id="Late">{text}</p>;
}`,
  Slow: `
export default function Slow() {
  return <p id="Slow">{useValue('texts.Slow')}</p>;
}`,
  Down: `
import { Component } from 'react';
import { useRetry } from '../graph.js';
class Boundary extends Component {
  state = {};
  static getDerivedStateFromError(error) { return { error }; }
  render() {
    if (this.state.error === undefined) return this.props.children;
    return <button id="again" onClick={() => { this.props.retry(); this.setState({ error: undefined }); }}>{String(this.state.error)}</button>;
  }
}
const Text = () => <p id="Down">{useValue('texts.Down')}</p>;
export default function Down() {
  return <Boundary retry={useRetry()}><Text /></Boundary>;
}`,
  Client: `
export default function Client() {
  return <p id="Client">{useValue('texts.Client')}</p>;
}`,
};
const hole = (code: string): string => `
import { useValue } from '../graph.js';
const isServer = typeof document === 'undefined';
${code}
`;

const OWN = `
import { Model } from '@sluice/graph';
import { GraphProvider, useModel, useValue } from '../graph.js';
const models = {};
const modelOf = (of) => (models[of] ??= new Model({ cache: { me: { votes: of.length } } }));
function Button({ of }) {
  const votes = useValue('me.votes');
  const model = useModel();
  return <button id={of} onClick={() => void model.setValue('me.votes', votes + 1)}>{votes + ' votes'}</button>;
}
export default function Own({ of }) {
  return <GraphProvider model={modelOf(of)}><Button of={of} /></GraphProvider>;
}
`;

const SERVER = `
import { serve } from '@sluice/browser/serve';
import { createPageGraph } from '@sluice/graph/server';
import { createTaskQueue } from '@sluice/render';
import { graphHandler } from '@sluice/graph/wire';
import { route, Router, RouteError } from '@sluice/graph/router';
let votes = 3;
const asked = [];
const router = new Router([
  route('list[{integers:places}]', {
    get: ({ places }) => places.map((place) => ({ path: ['list', place], value: { $type: 'ref', value: ['titles', place] } })),
  }),
  route('titles[{integers:ids}].name', {
    get: ({ ids }) => ids.map((id) => ({ path: ['titles', id, 'name'], value: 'Title ' + id })),
  }),
  route('me.votes', {
    get: () => ({ path: 'me.votes', value: votes }),
    set: ({ me }) => ((votes = me.votes), { path: 'me.votes', value: votes }),
  }),
  ...['Throws', 'Late', 'Slow', 'Down', 'Client'].map((name) => route('texts.' + name, {
    get: async (_, { data, signal }) => {
      asked.push(name);
      // Files for browsers are there.
      if (data?.isPage && name === 'Slow') await new Promise((resolve) => signal.addEventListener('abort', resolve));
      if (data?.isPage && name === 'Down') throw new RouteError('not now');
      return { path: ['texts', name], value: 'text of ' + name };
    },
  })),
]);
const model = graphHandler(router);
const trees = {
  '/parts': ${JSON.stringify(PARTS)}.map((component) => ({ component })),
  '/holes': [
    ...['Throws', 'Late', 'Slow', 'Down'].map((component) => ({ component })),
    { component: 'Client', rendering: 'client' },
  ],
  '/two': [
    { component: 'Votes', props: { of: 'a' } }, { component: 'Own', props: { of: 'own' } },
    { component: 'Own', props: { of: 'other' } }, { component: 'Votes', props: { of: 'b' } },
  ],
};
await serve(async ({ request, response, url, respond, signal }) => {
  if (await model.node(request, response)) return;
  if (url.pathname === '/') return void response.end(JSON.stringify(asked));
  const boxes = trees[url.pathname];
  if (boxes === undefined) return;
  const graph = createPageGraph({ source: router.asDataSource({ isPage: true }, { isStream: true }), signal });
  const bodyEnd = () => graph.script();
  await graph.run(() => respond({ boxes }, {}, { document: { bodyEnd }, deadlineMs: url.pathname === '/holes' ? 4_000 : 60_000 }));
}, {
  // A busy machine is no reason for holes.
  pages: { queue: createTaskQueue({ budgetMs: 600_000, timeoutMs: 600_000 }), deadlineMs: 60_000, onError: () => undefined },
});
`;

const FILES: readonly (readonly [string, string])[] = [
  ['graph.js', GRAPH],
  ['server.js', SERVER],
  ['components/Votes.jsx', VOTES],
  ['components/Own.jsx', OWN],
  ...PARTS.map((name, at) => [`components/${name}.jsx`, part(name, at)] as const),
  ...Object.entries(HOLES).map(([name, code]) => [`components/${name}.jsx`, hole(code)] as const),
];

const GROUPS = ['', '{ groupKb: 0 }', '{ groupKb: 512 }'] as const;
const roots = new Map<string, string>();
before(() => {
  if (noBrowser !== false) return;
  for (const settings of GROUPS) {
    const config = `import sluice from '@sluice/browser/vite';\nexport default { plugins: [sluice(${settings})] };\n`;
    const root = projectOf([...FILES, ['vite.config.js', config]]);
    buildProject(root);
    roots.set(settings, root);
  }
});

interface Opened {
  readonly url: string;
  readonly page: Page;
  readonly said: string[];
  /** Requests for values, with their paths. */
  readonly data: string[];
  readonly scripts: string[];
  readonly html: string;
}

async function open(t: TestContext, path: string, settings = ''): Promise<Opened> {
  const { url } = await running(t, roots.get(settings) ?? '', 'production');
  const { page, said } = await view(t);
  await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
  const data: string[] = [];
  const scripts: string[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/model.json') data.push(searchParams.get('paths') ?? request.method());
    if (pathname.endsWith('.js')) scripts.push(pathname);
  });
  const response = await page.goto(url + path);
  const html = (await response?.text()) ?? '';
  await settled(page);
  return { url, page, said, data, scripts, html };
}

const timesIn = (html: string, text: string): number => html.split(text).length - 1;

const counts: Record<string, number> = {};
for (const settings of GROUPS) {
  void test(
    `components in files by ${settings || 'default'} share one graph, and hydrate without a request`,
    options,
    async (t) => {
      const { page, said, data, scripts } = await open(t, '/parts', settings);
      const labels = await page.locator('button').allTextContents();
      assert.deepEqual(
        labels,
        PARTS.map((_, at) => `Title ${at}, 1`),
      );
      await page.evaluate(() => {
        for (const button of document.querySelectorAll('button')) button.click();
      });
      await page.waitForFunction(
        (count) =>
          [...document.querySelectorAll('button')].filter(({ textContent }) => textContent.endsWith(', 2'))
            .length === count,
        PARTS.length,
      );
      assert.equal(await page.evaluate('starts'), 1);
      assert.deepEqual(data, []);
      assert.deepEqual(said, []);
      counts[settings] = scripts.length;
      // A value that is set reaches components of all files.
      await page.evaluate(
        `model.withoutDataSource().set(...${JSON.stringify(PARTS.map((_, at) => ({ path: ['titles', at, 'name'], value: 'Set' })))})`,
      );
      await page.waitForFunction(
        (count) =>
          [...document.querySelectorAll('button')].filter(({ textContent }) => textContent === 'Set, 2')
            .length === count,
        PARTS.length,
      );
      assert.deepEqual(data, []);
    },
  );
}

void test('files of several components are fewer', options, () => {
  assert.ok((counts[''] ?? 0) < (counts['{ groupKb: 0 }'] ?? 0), JSON.stringify(counts));
});

void test(
  'holes of the graph are filled from the state where it has their values, and by one request where not',
  options,
  async (t) => {
    const { page, data, html, url } = await open(t, '/holes');
    for (const name of ['Throws', 'Late', 'Slow', 'Client'])
      await page.waitForFunction((of) => document.getElementById(of)?.textContent === `text of ${of}`, name);
    assert.deepEqual(data, ['[["texts",["Client","Slow"]]]']);
    // Once in the state; values that came with no box do not stand in HTML.
    for (const [name, times] of Object.entries({ Throws: 1, Late: 1, Slow: 0 }))
      assert.equal(timesIn(html, `text of ${name}`), times, name);
    assert.equal(timesIn(html, 'not now'), 1);
    // The route's error is a value of the state: the component's boundary shows it, and asks again.
    assert.match((await page.textContent('#again')) ?? '', /Error/u);
    await page.click('#again');
    await page.waitForFunction(() => document.getElementById('Down')?.textContent === 'text of Down');
    assert.deepEqual(data.slice(1), ['[["texts","Down"]]']);
    const asked = (await (await fetch(url)).json()) as string[];
    assert.equal(asked.filter((name) => name === 'Throws').length, 1);
    assert.equal(asked.filter((name) => name === 'Down').length, 2);
  },
);

void test(
  'roots of one page share its graph, and roots with models of their own share nothing',
  options,
  async (t) => {
    const { page, said, data } = await open(t, '/two');
    const shown = async (): Promise<string[]> => page.locator('button').allTextContents();
    assert.deepEqual(await shown(), ['3 votes', '3 votes', '5 votes', '3 votes']);
    await page.click('#own');
    await page.click('#b');
    await page.waitForFunction(() => document.getElementById('a')?.textContent === '4 votes');
    assert.deepEqual(await shown(), ['4 votes', '4 votes', '5 votes', '4 votes']);
    await page.click('#other');
    await page.click('#other');
    await page.waitForFunction(() => document.getElementById('other')?.textContent === '7 votes');
    assert.deepEqual(await shown(), ['4 votes', '4 votes', '7 votes', '4 votes']);
    assert.deepEqual(data, ['POST']);
    assert.deepEqual(said, []);
  },
);
