// Pages as HTML and JSON: what is in them, what becomes of bad boxes, and what the report says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { seed } from '../../../../tests/support/chance.js';
import { eventually } from '../../../../tests/support/eventually.js';
import { createPages } from '../../src/pages/pages.js';
import type { ComponentReport, RenderHost } from '../../src/host.js';
import type { TreeNode } from '../../src/pages/tree.js';
import { createRegistry } from '../../src/registry/registry.js';
import { revive } from '../../src/state/revive.js';
import { createTaskQueue } from '../../src/tasks/queue.js';
import { burn } from '../support/burn.js';
import { boxesIn, innerText, pageDataIn, registryForTests, statesIn, textOf } from './support.js';

interface JsonBox {
  readonly id: string;
  readonly component: string;
  readonly outcome: string;
  readonly data?: unknown;
  readonly slots?: Readonly<Record<string, readonly JsonBox[]>>;
}

interface JsonBody {
  readonly page?: string;
  readonly document: { readonly title?: string };
  readonly outcomes: Readonly<Record<string, number>>;
  readonly boxes: readonly JsonBox[];
}

function flat(boxes: readonly JsonBox[]): readonly JsonBox[] {
  return boxes.flatMap((box) => [box, ...flat(Object.values(box.slots ?? {}).flat())]);
}

void test('a page without an id has none in its data, so that vitals go by its path', async () => {
  const pages = createPages({ registry: registryForTests() });
  const htmlOf = async (id: object): Promise<string> =>
    textOf(await pages.render({ ...id, boxes: [{ component: 'Text', props: { text: 'x' } }] }));
  const dataOf = (html: string): Record<string, unknown> =>
    JSON.parse(/data-sluice-page>([^<]*)</.exec(html)?.[1] ?? 'null') as Record<string, unknown>;
  assert.equal('page' in dataOf(await htmlOf({})), false);
  assert.equal(dataOf(await htmlOf({ id: 'listing' }))['page'], 'listing');
});

void test('a page has its boxes in the order of the tree, with what they show and what the browser needs', async () => {
  const pages = createPages({ registry: registryForTests() });
  const page = await pages.render(
    {
      id: 'listing',
      document: { lang: 'de', title: { $path: '$.title' } },
      boxes: [
        {
          component: 'Frame',
          slots: {
            top: [{ component: 'Static', props: { title: 'fixed' } }],
            main: [
              {
                component: 'Text',
                each: '$.list',
                if: { exists: '@.n' },
                props: { title: { $path: '@.n' } },
              },
            ],
          },
        },
      ],
    },
    { title: 'Shoes', list: [{ n: 1 }, {}, { n: 3 }] },
  );
  const html = await textOf(page);
  assert.equal(page.status, 200);
  assert.match(html, /^<!DOCTYPE html><html lang="de">/);
  assert.match(html, /<title>Shoes<\/title>/);
  const boxes = boxesIn(html);
  assert.deepEqual(
    boxes.map(({ id, name }) => [id, name]),
    [
      ['b0', 'Frame'],
      ['b0-0', 'Static'],
      ['b0-1-0', 'Text'],
      ['b0-1-2', 'Text'],
    ],
  );
  assert.deepEqual(
    boxes.slice(1).map(({ element }) => innerText(element)),
    ['fixed', '1', '3'],
  );
  const states = statesIn(html);
  assert.deepEqual([...states.keys()], ['b0-1-0', 'b0-1-2', 'b0']);
  assert.deepEqual(revive(states.get('b0-1-2') ?? ''), { title: 3 });
  const said = pageDataIn(html);
  assert.deepEqual([said['page'], said['setting']], ['listing', 's100']);
});

void test("a box may have the id of anything that the page has, and its props are not the page's", async () => {
  const pages = createPages({ registry: registryForTests() });
  const ids = ['page', 'fill', 'wait', 'constructor', 'toString', 'hasOwnProperty', 'sluice'];
  const boxes = ids.map((id) => ({ component: 'Text', id, props: { title: id } }));
  const html = await textOf(await pages.render({ id: 'listing', boxes }));
  const states = statesIn(html);
  assert.deepEqual([...states.keys()], ids);
  for (const id of ids) {
    assert.deepEqual(revive(states.get(id) ?? ''), { title: id });
    assert.deepEqual(await pages.renderBox({ boxes }, id), { props: states.get(id) });
  }
  assert.equal(pageDataIn(html)['page'], 'listing');
});

void test('one bad box of 60 leaves the other 59 in the page, and its parent leaves its children', async () => {
  const registry = registryForTests();
  registry.register('Late', () => new Promise<string>(() => undefined), {
    timeoutMs: 20,
    placeholder: '<b>late</b>',
  });
  registry.register('Loops', () => `<p>${burn(4_000)}</p>`, { budgetMs: 1 });
  registry.register('Broken', () => Promise.reject(new Error('no')), {});
  registry.lazy('Missing', () => Promise.reject(new Error('no file')));
  for (const [component, hole] of [
    ['Throws', 'error'],
    ['Broken', 'error'],
    ['Late', 'late'],
    ['Loops', undefined],
    ['Unknown', 'unknown'],
    ['Missing', 'error'],
  ] as const) {
    const list = Array.from({ length: 59 }, (_, n) => ({ n }));
    const text: TreeNode = { component: 'Text', each: '$.list', props: { title: { $path: '@.n' } } };
    const pages = createPages({ registry });
    const page = await pages.render({ boxes: [{ component, slots: { main: [text] } }] }, { list });
    const boxes = boxesIn(await textOf(page));
    const bad = boxes.find(({ name }) => name === component);
    assert.equal(bad?.hole, hole, component);
    // A looping box shows no slot, so its children are not in the page; they were rendered nevertheless.
    if (component !== 'Loops') {
      const shown = boxes.filter(({ name, hole: none }) => name === 'Text' && none === undefined);
      assert.equal(shown.length, 59, component);
    }
    const { outcomes } = await page.report;
    assert.equal(outcomes.rendered, 59, component);
    assert.equal(
      Object.values(outcomes).reduce((sum, count) => sum + count, 0),
      60,
    );
  }
});

void test('a box that loops has its HTML in the page, and is suspended when it has done so again and again', async () => {
  const registry = registryForTests();
  registry.register('Loops', () => `<p>${burn(4_000)}</p>`, { budgetMs: 1, placeholder: '<b>soon</b>' });
  const pages = createPages({ registry, overruns: { max: 2, suspendS: 3_600 } });
  const outcomes: unknown[] = [];
  for (let round = 0; round < 4; round += 1) {
    const page = await pages.render({ boxes: [{ component: 'Loops' }, { component: 'Text' }] });
    const [loops, text] = boxesIn(await textOf(page));
    outcomes.push((await page.report).boxes[0]?.outcome);
    assert.equal(text?.hole, undefined);
    assert.equal(loops?.hole, round < 2 ? undefined : 'late');
  }
  assert.deepEqual(outcomes, ['over-budget', 'over-budget', 'suspended', 'suspended']);
});

void test('the report is what the host was told, box by box, and its CPU time is the sum of theirs', async () => {
  const told: ComponentReport[] = [];
  const host: RenderHost = {
    server: () => ({}),
    vitalsPath: () => '',
    page: () => undefined,
    rendered: (report) => void told.push(report),
  };
  const pages = createPages({ registry: registryForTests(), host });
  const tree = { boxes: ['Text', 'Client', 'Throws', 'Nobody', 'Text'].map((component) => ({ component })) };
  const page = await pages.render(tree, {}, { delivery: 'whole' });
  const report = await page.report;
  assert.deepEqual(report.outcomes, { rendered: 2, client: 1, error: 1, unknown: 1 });
  assert.equal(report.boxes.length, told.length);
  for (const { component, outcome, cpu_us } of report.boxes) {
    assert.ok(
      told.some((each) => each.component === component && each.outcome === outcome && each.cpu_us === cpu_us),
    );
  }
  assert.equal(
    report.cpu_us,
    told.reduce((sum, { cpu_us }) => sum + cpu_us, 0),
  );
  const { 'server-timing': timing } = page.headers;
  assert.match(String(timing), /^boxes;desc="3 of 5", error;desc="1", unknown;desc="1", cpu;dur=[\d.]+$/);
});

void test('a page with a required box waits for it, and answers 500 where it has no HTML', async () => {
  const registry = registryForTests();
  let isThere = false;
  registry.register('Slow', async () => {
    await new Promise((resolve) => setImmediate(resolve));
    isThere = true;
    return '<p>there</p>';
  });
  const pages = createPages({ registry });
  const slow = await pages.render({ boxes: [{ component: 'Slow', required: true }] });
  assert.ok(isThere, 'the head is decided when the box is there');
  assert.equal(slow.status, 200);
  assert.match(await textOf(slow), /there/);
  const inner: TreeNode = { component: 'Throws', required: true };
  for (const boxes of [[inner], [{ component: 'Frame', slots: { main: [{ component: 'Text' }, inner] } }]]) {
    const page = await pages.render({ boxes, status: 201 });
    assert.equal(page.status, 500);
    assert.match(await textOf(page), /hole="error"/);
  }
  const optional = await pages.render({ boxes: [{ component: 'Throws' }], status: 201 });
  assert.equal(optional.status, 201);
  await textOf(optional);
});

void test('boxes that are late for the page leave holes at its deadline, whatever they wait for', async () => {
  const registry = registryForTests();
  registry.register('Never', () => new Promise<string>(() => undefined), { timeoutMs: 60_000 });
  let isAborted = false;
  const never = async (_args: unknown, { signal }: { signal: AbortSignal }): Promise<unknown> => {
    signal.addEventListener('abort', () => (isAborted = true));
    return new Promise(() => undefined);
  };
  const pages = createPages({ registry, sources: { functions: { never } } });
  const tree = {
    boxes: [
      { component: 'Text', props: { title: 'early' } },
      { component: 'Never' },
      { component: 'Text', data: { x: { source: 'never', timeoutMs: 60_000 } } },
    ],
  };
  const page = await pages.render(tree, {}, { deadlineMs: 20 });
  const boxes = boxesIn(await textOf(page));
  assert.deepEqual(
    boxes.map(({ hole }) => hole),
    [undefined, 'late', 'late'],
  );
  assert.deepEqual((await page.report).outcomes, { rendered: 1, late: 2 });
  await eventually(() => isAborted);
});

void test('props that cannot be sent leave the HTML without a component in the browser, and somebody is told', async () => {
  const errors: string[] = [];
  const pages = createPages({ registry: registryForTests(), onError: (error) => errors.push(error.message) });
  const page = await pages.render({ boxes: [{ component: 'Text', props: { title: 'x', run: () => 1 } }] });
  const html = await textOf(page);
  assert.match(html, /<sluice-box n="Text" i="b0"><p>x<\/p>/);
  assert.equal(errors.length, 1);
});

void test('a box of JSON has its form, by its own function or its props', async () => {
  const registry = registryForTests();
  registry.register('Card', () => '<p>', {
    json: ({ title }: { title?: string }) => ({ kind: 'card', text: title }),
  });
  registry.register('NoForm', () => '<p>', {
    json: () => {
      throw new Error('none');
    },
  });
  const pages = createPages({ registry });
  const page = await pages.render(
    {
      id: 'home',
      document: { title: 'Home' },
      boxes: [
        { component: 'Frame', slots: { main: [{ component: 'Card', props: { title: 'a' } }] } },
        { component: 'Text', props: { title: 'b' } },
        { component: 'NoForm' },
      ],
    },
    {},
    { format: 'json' },
  );
  assert.equal(page.headers['content-type'], 'application/json; charset=utf-8');
  assert.deepEqual(JSON.parse(await textOf(page)), {
    version: 1,
    page: 'home',
    document: { title: 'Home' },
    variants: {},
    outcomes: { rendered: 3, error: 1 },
    boxes: [
      {
        id: 'b0',
        component: 'Frame',
        outcome: 'rendered',
        data: {},
        slots: {
          main: [{ id: 'b0-0', component: 'Card', outcome: 'rendered', data: { kind: 'card', text: 'a' } }],
        },
      },
      { id: 'b1', component: 'Text', outcome: 'rendered', data: { title: 'b' } },
      { id: 'b2', component: 'NoForm', outcome: 'error' },
    ],
  });
});

void test('a form that is a promise is waited for, and one that rejects is none', async () => {
  const registry = registryForTests();
  registry.register('Later', () => '', { json: async () => Promise.resolve({ kind: 'later' }) });
  registry.register('Rejects', () => '', { json: async () => Promise.reject(new Error('no form')) });
  const pages = createPages({ registry, onError: () => undefined });
  const boxes = [{ component: 'Later' }, { component: 'Rejects' }];
  const { boxes: forms } = JSON.parse(
    await textOf(await pages.render({ boxes }, {}, { format: 'json' })),
  ) as {
    boxes: unknown;
  };
  assert.deepEqual(forms, [
    { id: 'b0', component: 'Later', outcome: 'rendered', data: { kind: 'later' } },
    { id: 'b1', component: 'Rejects', outcome: 'error' },
  ]);
});

void test('an older engine gets the fallback that it knows, and is told of what it does not', async () => {
  const registry = registryForTests();
  registry.register('New', () => '', { engine: { version: 5, fallback: 'Middle' } });
  registry.register('Middle', () => '', { engine: { version: 3, fallback: 'Text' } });
  registry.register('Only', () => '', { engine: { version: 5 } });
  registry.register('Circle', () => '', { engine: { version: 5, fallback: 'Circle' } });
  const pages = createPages({ registry });
  const tree = { boxes: ['New', 'Only', 'Circle'].map((component) => ({ component })) };
  const names = async (engine?: number): Promise<readonly string[]> => {
    const page = await pages.render(
      tree,
      {},
      { format: 'json', ...(engine === undefined ? {} : { engine }) },
    );
    const { boxes } = JSON.parse(await textOf(page)) as JsonBody;
    return boxes.map(({ component, outcome }) => `${component} ${outcome}`);
  };
  assert.deepEqual(await names(), ['New rendered', 'Only rendered', 'Circle rendered']);
  assert.deepEqual(await names(4), ['Middle rendered', 'Only unsupported', 'Circle unsupported']);
  assert.deepEqual(await names(1), ['Text rendered', 'Only unsupported', 'Circle unsupported']);
});

void test('HTML and JSON of a tree have the same boxes', async () => {
  const component = fc.constantFrom('Text', 'Static', 'Client', 'Throws', 'Nobody');
  const condition = fc.constantFrom(
    { exists: '$.list' },
    { exists: '$.no' },
    { equals: [{ $path: '@' }, 2] as const },
  );
  const { node } = fc.letrec<{ node: TreeNode }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.record({ component, if: condition }, { requiredKeys: ['component'] }),
      fc.record(
        {
          component: fc.constantFrom('Frame', 'Nobody'),
          each: fc.constantFrom('$.list', '$.none', '@'),
          if: condition,
          data: fc.constant({ extra: { source: 'extra' } }),
          slots: fc.dictionary(
            fc.constantFrom('main', 'aside', 'top'),
            fc.array(tie('node'), { maxLength: 3 }),
          ),
        },
        { requiredKeys: ['component'] },
      ),
    ),
  }));
  const functions = { extra: async () => Promise.resolve([1]) };
  const pages = createPages({ registry: registryForTests(), sources: { functions } });
  await fc.assert(
    fc.asyncProperty(fc.array(node, { maxLength: 3 }), async (boxes) => {
      const data = { list: [1, 2, 3] };
      const html = boxesIn(await textOf(await pages.render({ boxes }, data)));
      const json = JSON.parse(
        await textOf(await pages.render({ boxes }, data, { format: 'json' })),
      ) as JsonBody;
      const boxesOf = (list: readonly { id: string; name: string }[]): readonly string[] =>
        list.map(({ id, name }) => `${id} ${name}`).sort();
      assert.deepEqual(
        boxesOf(html),
        boxesOf(flat(json.boxes).map(({ id, component: name }) => ({ id, name }))),
      );
      assert.equal(new Set(html.map(({ id }) => id)).size, html.length, 'ids are unique');
    }),
    { seed, numRuns: 60 },
  );
});

void test('a page budget of CPU time leaves the rest to the browser', async () => {
  const registry = createRegistry();
  registry.register('Burn', () => `<p>${burn(3_000)}</p>`);
  const pages = createPages({ registry, queue: createTaskQueue({ budgetMs: 10_000 }), cpuBudgetMs: 1 });
  const page = await pages.render({ boxes: Array.from({ length: 5 }, () => ({ component: 'Burn' })) });
  const boxes = boxesIn(await textOf(page));
  assert.equal(boxes[0]?.hole, undefined);
  assert.deepEqual(
    boxes.slice(1).map(({ hole }) => hole),
    ['late', 'late', 'late', 'late'],
  );
});
