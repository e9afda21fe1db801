// One truth for props: what the schema gives is what is rendered, what the browser gets, and what is given out later.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlainView } from '../../src/adapters/plain.js';
import type { Props, PropsSchema, SchemaResult, Settings } from '../../src/component.js';
import { createFragments } from '../../src/fragments/fragments.js';
import { createServer } from '../../src/http/handler.js';
import { createPages } from '../../src/pages/pages.js';
import { respondBox } from '../../src/pages/http.js';
import type { PagesOptions, RenderOptions } from '../../src/pages/options.js';
import type { PropsOf } from '../../src/registry/named.js';
import { createRegistry, type Registry } from '../../src/registry/registry.js';
import { createRemote } from '../../src/remote/remote.js';
import { remoteAdapter } from '../../src/remote/adapter.js';
import { revive } from '../../src/state/revive.js';
import { createTaskQueue } from '../../src/tasks/queue.js';
import { burn } from '../support/burn.js';
import { resultOf } from '../support/serve.js';
import { listen } from '../support/server.js';
import { boxesIn, statesIn, textOf } from './support.js';

const GIVEN = { name: 'Ada', born: '1815-12-10', passwordHash: 's3cret' };
/** What the schema makes of it: a key less, a date, a default. */
const MADE = { name: 'Ada', born: new Date('1815-12-10'), size: 'm' };

function check(value: unknown): SchemaResult<Props> {
  const { name, born, size = 'm' } = value as Record<string, unknown>;
  if (typeof name !== 'string') return { issues: [{ message: 'is no text', path: ['name'] }] };
  return { value: { name, born: new Date(String(born)), size } };
}

const schemas: Readonly<Record<string, PropsSchema<Props>['~standard']['validate']>> = {
  'at once': check,
  later: async (value) => {
    await new Promise((resolve) => setImmediate(resolve));
    return check(value);
  },
};

interface Seen {
  readonly registry: Registry;
  readonly settings: Settings;
  /** What views, placeholders and forms were called with. */
  readonly given: Props[];
  /** How often the schema was asked. */
  asked: number;
}

function seenBy(validate: PropsSchema<Props>['~standard']['validate']): Seen {
  const registry = createRegistry({ adapters: [remoteAdapter] });
  const given: Props[] = [];
  const note = (props: Props): string => {
    given.push({ ...props });
    return `<p>${Object.keys(props).join(' ')}</p>`;
  };
  const props: PropsSchema<Props> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => {
        seen.asked += 1;
        return validate(value);
      },
    },
  };
  const settings: Settings = { props, placeholder: note };
  const seen: Seen = { registry, settings, given, asked: 0 };
  registry.register('User', note, settings);
  registry.register('Static', note, { ...settings, rendering: 'static' });
  registry.register('Client', note, { ...settings, rendering: 'client' });
  registry.register('Cached', note, { ...settings, cacheKey: ({ name }) => String(name) });
  registry.register('Form', note, { ...settings, json: (props) => ({ shown: note(props) }) });
  registry.register('Other', note, settings);
  registry.register(
    'Throws',
    () => {
      throw new Error('It threw');
    },
    settings,
  );
  registry.register('Late', () => new Promise<string>(() => undefined), { ...settings, timeoutMs: 20 });
  return seen;
}

const quiet = { onError: () => {} };

async function htmlOf(
  seen: Seen,
  component: string,
  options: Partial<PagesOptions> = {},
  render: RenderOptions = {},
): Promise<string> {
  const pages = createPages({ registry: seen.registry, ...quiet, ...options });
  const tree = { boxes: [{ component, each: '$.users', props: { $path: '@' } }] };
  const html = await textOf(await pages.render(tree, { users: [GIVEN, GIVEN] }, render));
  assert.doesNotMatch(html, /s3cret|passwordHash/);
  return html;
}

function statesOf(html: string): readonly unknown[] {
  return [...statesIn(html).values()].map(revive);
}

for (const [when, validate] of Object.entries(schemas)) {
  for (const [what, component, options] of [
    ['boxes of an `each`', 'User', {}],
    ['boxes of a cache', 'Cached', {}],
    ['holes that are the browser’s', 'Client', {}],
    ['holes of the dial', 'User', { server: { '*': 0 } }],
    ['holes of components that threw', 'Throws', {}],
    ['holes of components that are late', 'Late', {}],
    ['boxes of an arm', 'User', { experiments: armsOf('Other') }],
  ] as const satisfies readonly (readonly [string, string, Partial<PagesOptions>])[]) {
    test(`${what} have the props that a schema gives ${when}, in the page as for the component`, async () => {
      const seen = seenBy(validate);
      const html = await htmlOf(seen, component, options);
      assert.deepEqual(statesOf(html), [MADE, MADE]);
      for (const given of seen.given) assert.deepEqual(given, MADE);
      assert.equal(seen.asked, 2);
    });
  }

  test(`static boxes are rendered of the props that a schema gives ${when}, and browsers get none`, async () => {
    const seen = seenBy(validate);
    assert.deepEqual(statesOf(await htmlOf(seen, 'Static')), []);
    assert.deepEqual(seen.given, [MADE, MADE]);
  });

  test(`places that are filled later have placeholders and props that a schema gives ${when}`, async () => {
    const seen = seenBy(validate);
    seen.registry.register(
      'Waits',
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return '<p>there</p>';
      },
      seen.settings,
    );
    const pages = createPages({ registry: seen.registry });
    const boxes = [
      { component: 'Waits', props: { $path: '$.user' } },
      { component: 'Static', props: GIVEN },
    ];
    const html = await textOf(await pages.render({ boxes }, { user: GIVEN }, { fill: 'as-ready' }));
    assert.match(html, /hole="pending"/);
    assert.doesNotMatch(html, /s3cret|passwordHash/);
    assert.deepEqual(statesOf(html), [MADE]);
    assert.ok(seen.given.length >= 2);
    for (const given of seen.given) if (Object.keys(given).length > 0) assert.deepEqual(given, MADE);
  });

  test(`JSON has the props that a schema gives ${when}, also through a component's own form`, async () => {
    const seen = seenBy(validate);
    for (const component of ['User', 'Form']) {
      const json = await htmlOf(seen, component, {}, { format: 'json' });
      const { boxes } = JSON.parse(json) as { readonly boxes: readonly { readonly data: unknown }[] };
      const form = { shown: '<p>name born size</p>' };
      const expected: unknown = component === 'Form' ? form : JSON.parse(JSON.stringify(MADE));
      assert.deepEqual(
        boxes.map(({ data }) => data),
        [expected, expected],
      );
    }
  });

  test(`the data of a hole is what a schema gives ${when}`, async (t) => {
    const seen = seenBy(validate);
    const pages = createPages({ registry: seen.registry, experiments: armsOf('Other') });
    const tree = { boxes: [{ component: 'User', each: '$.users', props: { $path: '@' } }] };
    const origin = await listen(
      t,
      createServer(async (request, response) => {
        await respondBox(pages, request, response, tree, { users: [GIVEN, { name: 7 }] });
        return true;
      }),
    );
    const answer = (await (await fetch(`${origin}/?box=b0-0`)).json()) as { readonly props: string };
    assert.deepEqual(revive(answer.props), MADE);
    const refused = await fetch(`${origin}/?box=b0-1`);
    assert.equal(refused.status, 404);
  });

  test(`fragments have the data that a schema gives ${when}, rendered, cached and in the browser`, async () => {
    for (const name of ['User', 'Client', 'Cached', 'Static']) {
      const seen = seenBy(validate);
      const fragments = createFragments({ registry: seen.registry });
      for (let round = 0; round < 2; round += 1) {
        const { html } = resultOf(await fragments.batch({ a: { name, data: GIVEN } }), 'a');
        assert.doesNotMatch(html ?? '', /s3cret|passwordHash/, name);
        const [, data] = /<!--(.*)-->/.exec(html ?? '') ?? [];
        if (name === 'Static') assert.equal(data, undefined);
        else assert.deepEqual(JSON.parse(data ?? ''), JSON.parse(JSON.stringify(MADE)), name);
      }
      for (const given of seen.given) assert.deepEqual(given, MADE);
      const { statusCode } = resultOf(await fragments.batch({ a: { name, data: { name: 7 } } }), 'a');
      assert.equal(statusCode, 400, name);
    }
  });

  test(`a service is asked with the props that a schema gives ${when}`, async (t) => {
    const seen = seenBy(validate);
    const asked: unknown[] = [];
    const origin = await listen(
      t,
      createServer(async (request, response) => {
        let body = '';
        for await (const chunk of request as AsyncIterable<Buffer>) body += chunk.toString();
        const jobs = Object.values(JSON.parse(body) as Record<string, { readonly data: unknown }>);
        asked.push(...jobs.map(({ data }) => data));
        const results = jobs.map((_job, index) => [`j${index}`, { success: true, html: '<p>remote</p>' }]);
        response.end(JSON.stringify({ results: Object.fromEntries(results) as object }));
        return true;
      }),
    );
    const remote = createRemote({ url: `${origin}/batch`, timeoutMs: 10_000 });
    seen.registry.register('Remote', remote.component('Remote', { cacheS: 60 }), seen.settings);
    const html = await htmlOf(seen, 'Remote');
    assert.deepEqual(statesOf(html), []);
    await createFragments({ registry: seen.registry }).batch({ a: { name: 'Remote', data: GIVEN } });
    for (const data of asked) assert.deepEqual(data, JSON.parse(JSON.stringify(MADE)));
    assert.ok(asked.length > 0);

    const pages = createPages({ registry: seen.registry, ...quiet });
    const page = await pages.render({ boxes: [{ component: 'Remote', props: { name: 7 } }] });
    const [box] = boxesIn(await textOf(page));
    assert.equal(box?.hole, 'remote');
    assert.deepEqual((await page.report).outcomes, { invalid: 1 });
  });

  test(`props that a schema refuses ${when} are not in the page, whoever was to render the box`, async () => {
    const seen = seenBy(validate);
    const errors: string[] = [];
    for (const component of ['User', 'Client', 'Static', 'Cached', 'Late']) {
      const pages = createPages({
        registry: seen.registry,
        onError: ({ message }) => errors.push(message),
      });
      const tree = { boxes: [{ component, props: { name: 7, passwordHash: 's3cret' } }] };
      const page = await pages.render(tree);
      const html = await textOf(page);
      assert.doesNotMatch(html, /s3cret/);
      assert.deepEqual(statesOf(html), [], component);
      assert.deepEqual((await page.report).outcomes, { invalid: 1 }, component);
    }
    assert.deepEqual(
      errors,
      errors.map(
        (_error, index) =>
          `Props of component "${['User', 'Client', 'Static', 'Cached', 'Late'][index] ?? ''}": name: is no text`,
      ),
    );
    assert.equal(errors.length, 5);
    for (const given of seen.given) assert.deepEqual(given, {});
  });
}

test('boxes that never began leave holes with the props that the schema gives', async () => {
  const seen = seenBy(check);
  seen.registry.register('Burns', () => `<p>${burn(20_000)}</p>`);
  const pages = createPages({ registry: seen.registry, cpuBudgetMs: 5, ...quiet });
  const tree = { boxes: [{ component: 'Burns' }, { component: 'User', props: { $path: '$.user' } }] };
  const page = await pages.render(tree, { user: GIVEN });
  const html = await textOf(page);
  assert.deepEqual((await page.report).outcomes, { 'over-budget': 1, late: 1 });
  assert.doesNotMatch(html, /s3cret/);
  assert.deepEqual(statesOf(html), [{}, MADE]);
});

test('components that are suspended leave holes with the props that the schema gives', async () => {
  const seen = seenBy(check);
  seen.registry.register('Burns', () => `<p>${burn(4_000)}</p>`, { ...seen.settings, budgetMs: 1 });
  const pages = createPages({ registry: seen.registry, overruns: { max: 1, suspendS: 3_600 }, ...quiet });
  const tree = { boxes: [{ component: 'Burns', props: { $path: '$.user' } }] };
  for (const outcome of ['over-budget', 'suspended']) {
    const page = await pages.render(tree, { user: GIVEN });
    const html = await textOf(page);
    assert.deepEqual((await page.report).outcomes, { [outcome]: 1 });
    assert.deepEqual(statesOf(html), [MADE]);
  }
});

test('the props of a box without a component are not given to browsers: nobody knows its schema', async () => {
  const pages = createPages({ registry: createRegistry(), ...quiet });
  const tree = { boxes: [{ component: 'Newer', props: { passwordHash: 's3cret' } }] };
  assert.doesNotMatch(await textOf(await pages.render(tree)), /s3cret/);
  assert.equal(await pages.renderBox(tree, 'b0'), undefined);
});

/** An experiment whose one arm replaces `User`. */
function armsOf(component: string): NonNullable<PagesOptions['experiments']> {
  return [{ name: 'exp', since: '2026-01-01', arms: { on: 1 }, components: { User: { on: component } } }];
}

const pushing: PlainView<{ items: number[]; nested: { list: number[] } }> = ({ items, nested }) => {
  items.push(4);
  nested.list.length = 0;
  return `<p>${items.join()}</p>`;
};

const SHARED = { boxes: [{ component: 'Pushes', each: '$.twice', props: { $path: '$.shared' } }] };
const sharedData = () => ({ twice: [1, 2], shared: { items: [1, 2, 3], nested: { list: [1] } } });

test('a component that changes its props changes neither the next box, nor the data, nor what the browser gets', async () => {
  for (const rendering of ['server', 'static'] as const) {
    const registry = createRegistry();
    registry.register('Pushes', pushing, { rendering });
    const pages = createPages({ registry, queue: createTaskQueue() });
    const data = sharedData();
    for (let round = 0; round < 2; round += 1) {
      const html = await textOf(await pages.render(SHARED, data));
      assert.equal(html.match(/<p>1,2,3,4<\/p>/g)?.length, 2);
      const states = rendering === 'static' ? [] : [sharedData().shared, sharedData().shared];
      assert.deepEqual(statesOf(html), states);
    }
    assert.deepEqual(data, sharedData());
  }
});

test('what a schema gives again and again, such as a default, is not shared either', async () => {
  const items = [1, 2, 3];
  const validate = (value: unknown): SchemaResult<PropsOf<typeof pushing>> => {
    // Some schemas change what they check.
    Object.assign(value as object, { items });
    return { value: value as PropsOf<typeof pushing> };
  };
  const registry = createRegistry();
  registry.register('Pushes', pushing, { props: { '~standard': { version: 1, vendor: 'test', validate } } });
  const pages = createPages({ registry });
  const data = { twice: [1, 2], shared: { nested: { list: [1] } } };
  for (let round = 0; round < 2; round += 1) {
    const html = await textOf(await pages.render(SHARED, data));
    assert.equal(html.match(/<p>1,2,3,4<\/p>/g)?.length, 2);
  }
  assert.deepEqual(items, [1, 2, 3]);
  assert.deepEqual(data, { twice: [1, 2], shared: { nested: { list: [1] } } });
});

test('in development a component that changes its props throws, and the data of the app is not frozen', async (t) => {
  const before = process.env['NODE_ENV'];
  t.after(() => {
    if (before === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = before;
  });
  process.env['NODE_ENV'] = 'development';
  const registry = createRegistry();
  registry.register('Pushes', pushing);
  const errors: string[] = [];
  const pages = createPages({ registry, onError: ({ message }) => errors.push(message) });
  const data = sharedData();
  const html = await textOf(await pages.render(SHARED, data));
  assert.equal(errors.length, 2);
  assert.match(errors[0] ?? '', /object is not extensible/);
  assert.deepEqual(statesOf(html), [data.shared, data.shared]);
  data.shared.items.push(4);
});

test('fragments of one batch do not share the data that code gives them', async () => {
  const registry = createRegistry();
  registry.register('Pushes', pushing);
  const { shared: data } = sharedData();
  const jobs = { a: { name: 'Pushes', data }, b: { name: 'Pushes', data } };
  const answer = await createFragments({ registry }).batch(jobs);
  for (const token of ['a', 'b']) {
    const { html } = resultOf(answer, token);
    assert.match(html ?? '', /<p>1,2,3,4<\/p>/);
    assert.match(html ?? '', /"items":\[1,2,3\]/);
  }
  assert.deepEqual(data, sharedData().shared);
});
