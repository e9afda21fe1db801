// Every feature that touches props with every other: no key that a schema removes is in a page, a fragment, a cache, a request or the data of a hole.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Props, PropsSchema, SchemaResult, Settings } from '../../src/component.js';
import { createFragments } from '../../src/fragments/fragments.js';
import { createServer } from '../../src/http/handler.js';
import { respondBox } from '../../src/pages/http.js';
import { createPages } from '../../src/pages/pages.js';
import type { PagesOptions } from '../../src/pages/options.js';
import { createRegistry, type Registry } from '../../src/registry/registry.js';
import { createRemote } from '../../src/remote/remote.js';
import { remoteAdapter } from '../../src/remote/adapter.js';
import { resultOf } from '../support/serve.js';
import { listen } from '../support/server.js';
import { textOf } from './support.js';

const GIVEN = { name: 'Ada', passwordHash: 's3cret' };
const SECRET = /s3cret|passwordHash/;

const check = (value: unknown): SchemaResult<Props> => ({
  value: { name: (value as { name: string }).name },
});
const schemas: Readonly<Record<string, PropsSchema<Props>['~standard']['validate']>> = {
  'at once': check,
  later: async (value) => {
    await new Promise((resolve) => setImmediate(resolve));
    return check(value);
  },
};

/** What becomes of the component. */
const views: Readonly<Record<string, (props: Props) => string | Promise<string>>> = {
  rendered: (props) => `<p>${Object.keys(props).join(' ')}</p>`,
  thrown: () => {
    throw new Error('It threw');
  },
  late: () => new Promise<string>(() => undefined),
};

/** Where the schema stands for a remote component: `here` before the service is asked, `there` in the service. */
const places = ['server', 'client', 'static', 'remote, schema here', 'remote, schema there'] as const;

interface Case {
  readonly when: string;
  readonly outcome: string;
  readonly place: (typeof places)[number];
  readonly isCached: boolean;
  readonly isEach: boolean;
  readonly isArm: boolean;
}

function* casesOf(): Generator<Case> {
  for (const when of Object.keys(schemas))
    for (const outcome of Object.keys(views))
      for (const place of places)
        for (const isCached of [false, true])
          for (const isEach of [false, true])
            for (const isArm of [false, true]) yield { when, outcome, place, isCached, isEach, isArm };
}

/** The component of a case, the names of the keys that it, its placeholder and its service saw, and a registry that has it. */
async function setUp(
  t: TestContext,
  { when, outcome, place, isCached }: Case,
): Promise<[Registry, Set<string>]> {
  const seen = new Set<string>();
  const note = (props: Props): void => {
    for (const key of Object.keys(props)) seen.add(key);
  };
  const view = (props: Props): string | Promise<string> => {
    note(props);
    return (views[outcome] as (props: Props) => string | Promise<string>)(props);
  };
  const props: PropsSchema<Props> = {
    '~standard': { version: 1, vendor: 'test', validate: schemas[when] as typeof check },
  };
  const placeholder = (given: Props): string => {
    note(given);
    return `<i>${Object.keys(given).join(' ')}</i>`;
  };
  const cacheKey = isCached ? { cacheKey: (given: Props) => JSON.stringify(given) } : {};
  const settings: Settings = { props, timeoutMs: 20, placeholder, ...cacheKey };
  const registry = createRegistry({ adapters: [remoteAdapter] });
  if (place === 'remote, schema here' || place === 'remote, schema there') {
    const isHere = place === 'remote, schema here';
    const there = createRegistry();
    there.register('User', view, isHere ? { timeoutMs: 20, ...cacheKey } : settings);
    const origin = await listen(t, createServer(createFragments({ registry: there }).handle));
    const remote = createRemote({ url: `${origin}/batch`, timeoutMs: 2000 });
    const component = remote.component('User', isCached ? { cacheS: 60 } : {});
    registry.register('User', component, isHere ? { props, placeholder } : {});
  } else {
    registry.register('User', view, { ...settings, rendering: place });
  }
  return [registry, seen];
}

function optionsOf({ isArm }: Case): Partial<PagesOptions> {
  const experiment = {
    name: 'look',
    since: '2026-01-01',
    arms: { on: 1 },
    components: { Teaser: { on: 'User' } },
  };
  return { onError: () => {}, ...(isArm ? { experiments: [experiment] } : {}) };
}

for (const when of Object.keys(schemas)) {
  for (const place of places) {
    test(`no removed key leaves a page or a fragment: ${place}, schema asked ${when}`, async (t) => {
      const cases = [...casesOf()].filter((each) => each.when === when && each.place === place);
      await Promise.all(cases.map((each) => crossed(t, each)));
    });
  }
}

async function crossed(t: TestContext, each: Case): Promise<void> {
  const name = JSON.stringify(each);
  const [registry, seen] = await setUp(t, each);
  if (each.isArm) registry.register('Teaser', () => '<p>not this arm</p>');
  const pages = createPages({ registry, ...optionsOf(each) });
  const component = each.isArm ? 'Teaser' : 'User';
  const box = each.isEach
    ? { component, each: '$.users', props: { $path: '@' } }
    : { component, props: { $path: '$.user' } };
  const tree = { boxes: [box] };
  const data = { user: GIVEN, users: [GIVEN, GIVEN] };
  // Twice: the second is of the cache.
  for (let round = 0; round < 2; round += 1)
    for (const format of ['html', 'json'] as const)
      for (const fill of ['in-order', 'as-ready'] as const) {
        // JSON of a remote component is its props: the schema there was not asked.
        if (format === 'json' && each.place === 'remote, schema there') continue;
        const text = await textOf(await pages.render(tree, data, { format, fill }));
        assert.doesNotMatch(text, SECRET, `${name}, ${format}, ${fill}`);
        assert.doesNotMatch(text, /not this arm/, name);
      }
  const origin = await listen(
    t,
    createServer(async (request, response) => {
      await respondBox(pages, request, response, tree, data);
      return true;
    }),
  );
  const hole = await fetch(`${origin}/?box=${each.isEach ? 'b0-1' : 'b0'}`);
  assert.doesNotMatch(await hole.text(), SECRET, name);
  const fragments = createFragments({ registry });
  for (let round = 0; round < 2; round += 1) {
    const { html } = resultOf(await fragments.batch({ a: { name: 'User', data: GIVEN } }), 'a');
    assert.doesNotMatch(html ?? '', SECRET, name);
  }
  // The service without a schema of its own gets what the schema here gave.
  for (const key of seen) assert.equal(key, 'name', name);
  if (each.place !== 'client') assert.ok(seen.has('name'), name);
}
