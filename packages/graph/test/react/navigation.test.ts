// From page to page in one document: what the next page has read comes with its boxes.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { noBrowser } from '../../../../tests/browser/chromium.ts';
import { eventually } from '../../../../tests/support/eventually.ts';
import { settled, view } from '../../../browser/test/support/browser.ts';
import { buildProject, filesIn, projectOf, running } from '../../../browser/test/support/program.ts';

const GRAPH = `
import { httpSource, startGraph } from '@sluice/graph/browser';
export { useGraph, useModel, useValue } from '@sluice/graph/react';
if (typeof document !== 'undefined') globalThis.model = startGraph({ source: httpSource('/model.json') });
`;

const TITLE = `
import { useGraph } from '../graph.js';
export default function Title({ id }) {
  const title = useGraph(['titles', id, ['name', 'visits']])?.titles[id];
  return <p id={'title-' + id}>{title?.name + ' ' + title?.visits}</p>;
}
`;

const VOTES = `
import { useModel, useValue } from '../graph.js';
export default function Votes() {
  const votes = useValue('me.votes');
  const model = useModel();
  return <button id="votes" onClick={() => void model.setValue('me.votes', votes + 1)}>{votes + ' votes'}</button>;
}
`;

const MENU = `
import '@sluice/browser/navigate';
export default function Menu() {
  return <nav>{['/', '/1', '/2', '/plain'].map((to) => <a key={to} href={to}>{'to ' + to}</a>)}</nav>;
}
`;

/** Each page of a title is a visit, so that every page has values that the one before has not. */
const SERVER = `
import { serve } from '@sluice/browser/serve';
import { createPageGraph } from '@sluice/graph/server';
import { graphHandler } from '@sluice/graph/wire';
import { route, Router } from '@sluice/graph/router';
const visits = new Map();
let votes = 3;
const router = new Router([
  route('titles[{integers:ids}]["name", "visits"]', {
    get: ({ ids, 2: fields }) =>
      ids.flatMap((id) => fields.map((field) => ({
        path: ['titles', id, field],
        value: field === 'name' ? '</script>Title ' + id : (visits.get(id) ?? 0),
      }))),
  }),
  route('me.votes', {
    get: () => ({ path: 'me.votes', value: votes }),
    set: ({ me }) => ((votes = me.votes), { path: 'me.votes', value: votes }),
  }),
]);
const model = graphHandler(router);
const menu = { component: 'Menu', id: 'menu' };
await serve(async ({ request, response, url, respond, signal }) => {
  if (await model.node(request, response)) return;
  const id = Number(url.pathname.slice(1));
  if (!(id < 3) && url.pathname !== '/plain') return;
  if (id > 0) visits.set(id, (visits.get(id) ?? 0) + 1);
  const of = id > 0 ? [{ component: 'Title', props: { id } }] : [];
  const votes = url.pathname === '/plain' ? [] : [{ component: 'Votes', id: 'votes' }];
  const graph = createPageGraph({ source: router.asDataSource(), signal });
  await graph.run(() => respond({ boxes: [menu, ...of, ...votes] }, {}, {
    document: { bodyEnd: () => graph.script() },
  }));
}, { pages: { navigation: true } });
`;

let root: string | undefined;

async function app(t: TestContext, start = '/'): Promise<App> {
  if (root === undefined) {
    root = projectOf([
      ['vite.config.js', filesIn('browser.md', 'One program').get('vite.config.js') ?? ''],
      ['graph.js', GRAPH],
      ['server.js', SERVER],
      ['components/Title.jsx', TITLE],
      ['components/Votes.jsx', VOTES],
      ['components/Menu.jsx', MENU],
    ]);
    buildProject(root);
  }
  const { url, said: printed } = await running(t, root, 'production');
  const { page, said, asked } = await view(t);
  await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
  const data = (): string[] => asked.filter((one) => !/\.(?:js|css|ico)$/u.test(one));
  await page.goto(url + start);
  await settled(page);
  await page.waitForFunction(() => document.readyState === 'complete');
  const to = (href: string): Promise<void> => page.getByText(`to ${href}`, { exact: true }).click();
  return { url, page, said, printed, data, to };
}

interface App {
  readonly url: string;
  readonly page: Page;
  readonly said: string[];
  readonly printed: () => string;
  /** Requests for pages and values. */
  readonly data: () => string[];
  readonly to: (href: string) => Promise<void>;
}

const shows = async (page: Page, selector: string, text: string): Promise<void> => {
  await eventually(async () => (await page.textContent(selector)) === text, { what: text });
  await settled(page);
};

void test(
  'a page that comes as boxes is one request, and its state is the newest',
  { skip: noBrowser },
  async (t) => {
    const { page, said, printed, data, to } = await app(t);
    await to('/1');
    await shows(page, '#title-1', '</script>Title 1 1');
    assert.deepEqual(data(), ['/', '/1']);
    await to('/2');
    await shows(page, '#title-2', '</script>Title 2 1');
    // A page that was there before: what has changed since comes with it.
    await to('/1');
    await shows(page, '#title-1', '</script>Title 1 2');
    await page.evaluate(() => history.back());
    await shows(page, '#title-2', '</script>Title 2 2');
    await page.evaluate(() => history.forward());
    await shows(page, '#title-1', '</script>Title 1 3');
    assert.deepEqual(data(), ['/', '/1', '/2', '/1', '/2', '/1']);
    // One script of the document, and one of the page that is shown.
    assert.equal(
      await page.locator('body > script[type="application/json"]:not([data-sluice-page])').count(),
      2,
    );
    await page.locator('#votes').click();
    await shows(page, '#votes', '4 votes');
    assert.deepEqual(said, []);
    assert.equal(printed(), '');
  },
);

void test('a graph that starts with the second page has its values', { skip: noBrowser }, async (t) => {
  const { page, said, data, to } = await app(t, '/plain');
  await to('/2');
  await shows(page, '#title-2', '</script>Title 2 1');
  await shows(page, '#votes', '3 votes');
  assert.deepEqual(data(), ['/plain', '/2']);
  // And goes on with the pages to come.
  await to('/1');
  await shows(page, '#title-1', '</script>Title 1 1');
  assert.deepEqual(data(), ['/plain', '/2', '/1']);
  assert.deepEqual(said, []);
});

void test('a box that stays shows what has changed elsewhere', { skip: noBrowser }, async (t) => {
  const { url, page, said, to } = await app(t);
  await page.evaluate(() => Object.assign(document.querySelector('#votes') as object, { isOld: true }));
  const jsonGraph = { jsonGraph: { me: { votes: 9 } }, paths: [['me', 'votes']] };
  const body = new URLSearchParams({ method: 'set', jsonGraph: JSON.stringify(jsonGraph) });
  await fetch(`${url}/model.json`, { method: 'POST', body });
  await to('/1');
  await shows(page, '#votes', '9 votes');
  assert.equal(await page.evaluate(() => 'isOld' in (document.querySelector('#votes') as object)), true);
  assert.deepEqual(said, []);
});

void test('a value that is set while the next page is on its way stays', { skip: noBrowser }, async (t) => {
  const { page, said, to } = await app(t);
  let release = (): void => undefined;
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  let isMade = (): void => undefined;
  const made = new Promise<void>((resolve) => (isMade = resolve));
  await page.route('**/1', async (route) => {
    const response = await route.fetch();
    isMade();
    await isReleased;
    await route.fulfill({ response });
  });
  await to('/1');
  await made;
  const answered = page.waitForResponse('**/model.json');
  await page.locator('#votes').click();
  await (await answered).finished();
  release();
  await shows(page, '#title-1', '</script>Title 1 1');
  assert.equal(await page.textContent('#votes'), '4 votes');
  assert.deepEqual(said, []);
});
