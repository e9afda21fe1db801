// How pages are sent: what comes first, what is filled later, and what a client who reads slowly or leaves does to them.
import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { eventually } from '../../../../tests/support/eventually.js';
import type { Page } from '../../src/pages/options.js';
import { createPages } from '../../src/pages/pages.js';
import { createRegistry, type Registry } from '../../src/registry/registry.js';
import { attribute, boxesIn, elementsOf, registryForTests, textOf } from './support.js';
import { parse } from 'parse5';

const LONG_MS = 60_000;

/** Components that wait for the test. */
function gates(registry: Registry): { open: (name: string) => void; add: (name: string) => void } {
  const waiting = new Map<string, (html: string) => void>();
  /** Opened before their component began. */
  const opened = new Map<string, string>();
  return {
    add(name) {
      const wait = async (): Promise<string> =>
        opened.get(name) ?? new Promise<string>((resolve) => waiting.set(name, resolve));
      registry.register(name, wait, {
        timeoutMs: LONG_MS,
        placeholder: `<i>${name} comes</i>`,
      });
    },
    open(name) {
      const html = `<p>${name} is here</p>`;
      opened.set(name, html);
      waiting.get(name)?.(html);
    },
  };
}

function chunkOf(body: Readable): Buffer | null {
  return body.read() as Buffer | null;
}

/** Reads what is sent until it has the text. */
async function readUntil(body: Readable, text: string, read = { so: '' }): Promise<string> {
  return eventually(() => {
    for (let chunk = chunkOf(body); chunk !== null; chunk = chunkOf(body)) read.so += chunk.toString();
    assert.ok(read.so.includes(text), `${text} is in ${read.so}`);
    return read.so;
  });
}

function streamOf(page: Page): Readable {
  assert.ok(typeof page.body !== 'string');
  return page.body;
}

void test('head and early boxes are sent while a later box waits', async () => {
  const registry = registryForTests();
  const gate = gates(registry);
  gate.add('Slow');
  const pages = createPages({ registry });
  const boxes = [
    { component: 'Text', props: { title: 'early' } },
    { component: 'Slow' },
    { component: 'Text' },
  ];
  const body = streamOf(await pages.render({ boxes }));
  const read = { so: '' };
  await readUntil(body, '<p>early</p>', read);
  assert.ok(!read.so.includes('Slow'), 'nothing of a box is sent before all of it');
  gate.open('Slow');
  await readUntil(body, '</html>', read);
  assert.deepEqual(
    boxesIn(read.so).map(({ name }) => name),
    ['Text', 'Slow', 'Text'],
  );
  assert.ok(!read.so.includes('Slow comes'));
});

void test('a function makes the end of the body when all boxes are there, and one that throws costs no box', async () => {
  for (const fill of ['in-order', 'as-ready'] as const) {
    const registry = registryForTests();
    const gate = gates(registry);
    gate.add('Slow');
    const told: string[] = [];
    const pages = createPages({
      registry,
      assets: { runtime: '/runtime.js', components: {} },
      onError: (error) => told.push(error.message),
    });
    const tree = { boxes: [{ component: 'Text', props: { title: 'early' } }, { component: 'Slow' }] };
    let isSlowThere = false;
    const bodyEnd = (): string => `<footer>${isSlowThere}</footer>`;
    const body = streamOf(await pages.render(tree, {}, { fill, document: { bodyEnd } }));
    const read = { so: '' };
    await readUntil(body, '<p>early</p>', read);
    isSlowThere = true;
    gate.open('Slow');
    await readUntil(body, '</html>', read);
    assert.match(read.so, /Slow is here[^]*<footer>true<\/footer><\/body>/, fill);
    const alone = { boxes: [{ component: 'Text', props: { title: 'alone' } }] };
    const fail = (): string => {
      throw new Error('no end');
    };
    const broken = streamOf(await pages.render(alone, {}, { fill, document: { bodyEnd: fail } }));
    const rest = { so: '' };
    await readUntil(broken, '</html>', rest);
    assert.match(rest.so, /<p>alone<\/p>[^]*<\/body>/, fill);
    assert.deepEqual(told, ['no end']);
  }
});

void test('boxes that wait leave places that are filled in the order in which they are ready', async () => {
  const registry = registryForTests();
  const gate = gates(registry);
  gate.add('First');
  gate.add('Second');
  const pages = createPages({
    registry,
    assets: { runtime: '/runtime.js', components: {} },
    sources: { functions: { list: async () => Promise.resolve([1, 2]) } },
    document: { bodyEnd: '<footer>end</footer>' },
  });
  const tree = {
    boxes: [
      { component: 'First' },
      { component: 'Frame', slots: { main: [{ component: 'Second' }] } },
      {
        component: 'Text',
        each: '$.list',
        data: { list: { source: 'list' } },
        props: { title: { $path: '@' } },
      },
      { component: 'Text', props: { title: 'last' } },
    ],
  };
  const page = await pages.render(tree, {}, { fill: 'as-ready' });
  const body = streamOf(page);
  const read = { so: '' };
  await readUntil(body, '<footer>', read);
  const early = read.so;
  assert.match(early, /<sluice-box n="First" i="b0" hole="pending"><i>First comes<\/i><\/sluice-box>/);
  assert.match(early, /<p>last<\/p>/);
  gate.open('Second');
  await readUntil(body, '<p>Second is here</p>', read);
  assert.ok(!read.so.includes('First is here'));
  gate.open('First');
  await readUntil(body, '</html>', read);
  const fills = [...elementsOf(parse(read.so))].filter(
    (element) => attribute(element, 'data-sluice-fill') !== undefined,
  );
  const ids = fills.map((element) => attribute(element, 'data-sluice-fill'));
  assert.deepEqual(ids.slice(-2), ['b1-0', 'b0']);
  assert.match(read.so, /<template data-sluice-fill="b0"><sluice-box n="First" i="b0"/);
  assert.match(read.so, /<script type="module" async src="\/runtime.js">/);
  assert.deepEqual((await page.report).outcomes, { rendered: 6 });
});

void test('two places that are ready at once are both filled', async () => {
  const registry = registryForTests();
  const gate = gates(registry);
  const names = ['A', 'B', 'C', 'D'];
  for (const name of names) gate.add(name);
  const pages = createPages({ registry });
  const boxes = [...names, 'Text'].map((component) => ({ component }));
  const body = streamOf(await pages.render({ boxes }, {}, { fill: 'as-ready' }));
  const read = { so: '' };
  await readUntil(body, 'i="b4"', read);
  for (const name of names) gate.open(name);
  await readUntil(body, '</html>', read);
  for (const name of names) assert.match(read.so, new RegExp(`<p>${name} is here</p>`));
});

void test('boxes that only wait for their turn leave no places', async () => {
  const pages = createPages({ registry: registryForTests() });
  const boxes = Array.from({ length: 20 }, () => ({ component: 'Text', props: { title: 'x' } }));
  const html = await textOf(await pages.render({ boxes }, {}, { fill: 'as-ready' }));
  assert.ok(!html.includes('pending') && !html.includes('template'));
  assert.equal(boxesIn(html).length, 20);
});

void test('a whole page has its length, and nothing is sent before all is there', async () => {
  const registry = registryForTests();
  const gate = gates(registry);
  gate.add('Slow');
  const pages = createPages({ registry });
  let isSettled = false;
  const rendering = pages
    .render(
      { boxes: [{ component: 'Slow' }, { component: 'Text', props: { title: 'ü' } }] },
      {},
      { delivery: 'whole' },
    )
    .finally(() => (isSettled = true));
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isSettled, false);
  gate.open('Slow');
  const page = await rendering;
  assert.ok(typeof page.body === 'string');
  assert.equal(page.headers['content-length'], String(Buffer.byteLength(page.body)));
});

void test('a client who reads slowly holds the page up, and not in memory', async () => {
  const registry = createRegistry();
  const written: string[] = [];
  registry.register('Big', () => `<p>${'x'.repeat(10_000)}</p>`, {
    placeholder: () => '',
    rendering: 'static',
  });
  registry.register('Note', () => {
    written.push('rendered');
    return '';
  });
  const pages = createPages({ registry });
  const boxes = Array.from({ length: 100 }, () => ({ component: 'Big' }));
  const page = await pages.render({ boxes: [...boxes, { component: 'Note' }] });
  const body = streamOf(page);
  body.read(0);
  await eventually(() => written.length === 1);
  assert.ok(body.readableLength < 200_000, `${body.readableLength} bytes wait in the stream`);
  const html = await textOf(page);
  assert.equal(boxesIn(html).length, 101);
});

void test('a client who leaves ends what is being rendered and asked for', async () => {
  const registry = registryForTests();
  const aborted: string[] = [];
  const until = (signal: AbortSignal, name: string): Promise<string> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        aborted.push(name);
        reject(new Error('aborted'));
      });
    });
  registry.register(
    'Slow',
    (_props: object, { signal }: { signal: AbortSignal }) => until(signal, 'component'),
    {
      timeoutMs: LONG_MS,
    },
  );
  const pages = createPages({
    registry,
    sources: { functions: { slow: (_args, { signal }) => until(signal, 'source') } },
  });
  const tree = {
    boxes: [
      { component: 'Text' },
      { component: 'Slow' },
      { component: 'Text', data: { x: { source: 'slow', timeoutMs: LONG_MS } } },
    ],
  };
  const page = await pages.render(tree);
  const body = streamOf(page);
  await readUntil(body, '</p>');
  body.destroy();
  await eventually(() => aborted.length === 2);
  assert.deepEqual(aborted.toSorted(), ['component', 'source']);
  const { outcomes } = await page.report;
  assert.equal(outcomes.rendered, 1);
  assert.equal(outcomes.aborted, 1);
});
