// Schemas of Zod, Valibot and others: TypeScript knows every path by them, and routers check what clients send.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { z } from 'zod';
import { Model } from '../../src/index.js';
import {
  callable,
  refTo,
  Router,
  typedGraph,
  type JsonAt,
  type StandardSchema,
  type ValueAt,
} from '../../src/router/index.js';
import type { Envelope, PathSet } from '../../src/types.js';
import { read, sent } from './support.js';

/** Schema that no library made, and that answers later. */
const even: StandardSchema<number> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: async (value) => {
      if (value === 13) throw new Error('no database');
      return Promise.resolve(
        typeof value === 'number' && value % 2 === 0 ? { value } : { issues: [{ message: 'not even' }] },
      );
    },
  },
};

const graph = typedGraph<{ readonly user: string }>()({
  lists: {
    '{keys}': {
      '{integers}': refTo('titlesById[{integers}]'),
      length: z.number(),
      push: callable(z.tuple([z.number().int()])),
    },
  },
  titlesById: {
    '{integers}': {
      name: z.string().trim().max(10),
      rating: v.pipe(v.number(), v.maxValue(5)),
      seats: even,
      tags: z.array(z.string()),
      similar: { '{integers}': refTo('titlesById[{integers}]') },
    },
  },
});
type Schema = typeof graph.schema;

function router(sets: unknown[] = []): Router<{ readonly user: string }> {
  return new Router(
    [
      graph.route('lists[{keys:names}][{integers:places}]', {
        get: ({ names, places }) =>
          names.flatMap((name) =>
            places.map((place) => ({
              path: ['lists', name, place],
              value: { $type: 'ref', value: ['titlesById', place + 1] },
            })),
          ),
        set: (values) => void sets.push(JSON.parse(JSON.stringify(values))),
      }),
      graph.route('lists[{keys:names}].push', {
        call: ({ names }, [id], { data }) => ({
          path: ['lists', String(names[0]), 'pushed'],
          value: `${id.toFixed(1)} by ${data.user}`,
        }),
      }),
      graph.route('titlesById[{integers:ids}]["name","rating","seats","tags"]', {
        get: ({ ids, 2: fields }) =>
          ids.flatMap((id) =>
            fields.map((field) => ({ path: ['titlesById', id, field], value: `${field} ${id}` })),
          ),
        set: (values) => void sets.push(JSON.parse(JSON.stringify(values))),
      }),
    ],
    { schema: graph.schema, onError: () => undefined },
  );
}

void test('values that clients set are checked, and handlers get what the schema made of them', async () => {
  const sets: unknown[] = [];
  const { jsonGraph } = await router(sets).set({
    jsonGraph: {
      lists: { mine: { 0: { name: '  short ', rating: 9 }, 1: { name: 'much too long a name', rating: 4 } } },
      titlesById: {
        3: { seats: 2, tags: { $type: 'atom', value: ['a'] } },
        4: { seats: 3, tags: { $type: 'atom', value: [1] }, name: { $type: 'ref', value: ['x'] } },
        5: { seats: 13, rating: { $type: 'error', value: 'x' } },
      },
    },
    paths: [
      ['lists', 'mine', { to: 1 }, ['name', 'rating']],
      ['titlesById', [3, 4], ['seats', 'tags']],
      ['titlesById', 4, 'name'],
      ['titlesById', 5, ['seats', 'rating', 'tags']],
    ],
  } as unknown as Envelope);
  const got = sent({ jsonGraph });
  assert.deepEqual(read(got, ['lists', 'mine', 0, 'name']), { $type: 'atom', value: 'short' });
  assert.equal(read(got, ['lists', 'mine', 1, 'rating']), 4);
  assert.equal(read(got, ['titlesById', 3, 'seats']), 2);
  const codes: [path: (string | number)[], code: string, message: RegExp][] = [
    [['lists', 'mine', 0, 'rating'], 'SLU-GRAPH-REFUSED', /5/],
    [['lists', 'mine', 1, 'name'], 'SLU-GRAPH-REFUSED', /10/],
    [['titlesById', 4, 'seats'], 'SLU-GRAPH-REFUSED', /^not even$/],
    [['titlesById', 4, 'tags'], 'SLU-GRAPH-REFUSED', /^0: /],
    [['titlesById', 4, 'name'], 'SLU-GRAPH-REFUSED', /value was expected/],
    [['titlesById', 5, 'rating'], 'SLU-GRAPH-REFUSED', /value was expected/],
    [['titlesById', 5, 'tags'], 'SLU-GRAPH-REFUSED', /./],
    [['titlesById', 5, 'seats'], 'SLU-GRAPH-HANDLER', /^Internal error$/],
  ];
  for (const [path, code, message] of codes) {
    const { value } = read(got, path) as { value: { code: string; message: string } };
    assert.equal(value.code, code, path.join('.'));
    assert.match(value.message, message);
  }
  const all = JSON.stringify(sets);
  assert.doesNotMatch(all, /much too long|"ref"|13|"rating":9/);
  assert.match(all, /"short"/);
});

void test('a reference is set where the schema has one, and nothing where it has none', async () => {
  const sets: unknown[] = [];
  const paths: PathSet[] = [['lists', 'mine', [0, 1]]];
  const values = { lists: { mine: { 0: { $type: 'ref', value: ['titlesById', 9] }, 1: 'text' } } };
  const got = sent(await router(sets).set({ jsonGraph: values, paths } as unknown as Envelope));
  assert.deepEqual(sets, [{ lists: { mine: { 0: values.lists.mine[0] } } }]);
  assert.match(JSON.stringify(read(got, ['lists', 'mine', 1])), /reference was expected/);
});

void test('arguments of functions are checked, and functions outside of the schema do not exist', async () => {
  const called = await router().call(['lists', 'mine', 'push'], [5], [], [], { data: { user: 'ann' } });
  assert.equal(read(called.jsonGraph, ['lists', 'mine', 'pushed']), '5.0 by ann');
  await assert.rejects(router().call(['lists', 'mine', 'push'], ['5']), {
    code: 'SLU-GRAPH-REFUSED',
    statusCode: 400,
  });
  await assert.rejects(router().call(['lists', 'mine', 'push'], []), { code: 'SLU-GRAPH-REFUSED' });
  await assert.rejects(router().call(['lists', '{keys}', 'push'], [5]), { code: 'SLU-GRAPH-CALL-UNKNOWN' });
});

void test('routes have to be in the schema, and references without end in it are bounded', () => {
  const get = (): undefined => undefined;
  const { schema } = graph;
  for (const text of [
    'lists[{keys}].size',
    'titlesById[{keys}].name',
    'titlesById[0..2].name.first',
    'other',
  ])
    assert.throws(() => new Router([{ route: text, get }], { schema }), /the schema has no/, text);
  for (const text of ['lists.mine[0..9].similar[{ranges}].name', 'titlesById[5]["name","rating"]'])
    assert.doesNotThrow(() => new Router([{ route: text, get }], { schema }), text);
  const loop = { a: refTo('b'), b: refTo('a'), c: refTo('c.x') };
  for (const text of ['a.x', 'c.x'])
    assert.throws(() => new Router([{ route: text, get }], { schema: loop }), /the schema has no/);
});

void test('every path and its value are typed, and a wrong path is an error in the editor', async () => {
  const model = graph.model(new Model({ source: router().asDataSource({ user: 'ann' }) }));
  const name: string | undefined = await model.getValue('lists.mine[0].name');
  assert.equal(name, 'name 1');
  const got = await model.get('lists.mine[0..1]["name","rating"]', 'titlesById[7].tags');
  const typed: string | undefined = got?.json.lists?.mine?.[1]?.name;
  const tags: string[] | undefined = got?.json.titlesById?.[7]?.tags;
  assert.deepEqual([typed, tags], ['name 2', 'tags 7']);
  await model.setValue('titlesById[3].rating', 4);
  await model.call('lists.mine.push', [5]);
  const deep: ValueAt<Schema, 'lists.mine[0].similar[1].similar[2].rating'> = 5;
  const json: JsonAt<Schema, 'lists.mine[0..9]["name","rating"]'> = {
    lists: { mine: { 3: { rating: deep } } },
  };
  assert.ok(json);

  const wrong = (): unknown[] => [
    // @ts-expect-error No title has this.
    model.getValue('lists.mine[0].nam'),
    // @ts-expect-error Titles are found by integers.
    model.getValue('titlesById.first.name'),
    // @ts-expect-error An object is no value.
    model.getValue('titlesById[3]'),
    // @ts-expect-error One of the fields does not exist.
    model.get('lists.mine.length', 'lists.mine[0..9]["name","rat"]'),
    // @ts-expect-error A rating is a number.
    model.setValue('titlesById[3].rating', 'four'),
    // @ts-expect-error The function takes a number.
    model.call('lists.mine.push', ['five']),
    // @ts-expect-error The schema has no such field.
    graph.route('titlesById[{integers:ids}]["name","nope"]', { get: () => undefined }),
    // @ts-expect-error Titles are found by integers.
    graph.route('titlesById[{keys:ids}].name', { get: () => undefined }),
  ];
  assert.equal(typeof wrong, 'function');
});
