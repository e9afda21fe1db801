// Random graphs behind random routes: each path has the value that a walk of the whole graph finds, whatever routes, sets and turns it came by.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { long, seed } from '../../../../tests/support/chance.js';
import { Router, type RouteDefinition, type RouteParts } from '../../src/router/index.js';
import type { DataSource, Envelope, PathSet } from '../../src/types.js';
import {
  empty,
  firstOn,
  isRef,
  isValue,
  LOOP,
  merge,
  read,
  sent,
  singles,
  sourceOf,
  type Path,
  type Tree,
} from './support.js';

const KEYS = ['a', 'b', 'constructor', '__proto__', 'length', 0, 1, 2, 10];
const runs = { numRuns: Number(process.env['SLUICE_GRAPH_RUNS'] ?? (long ? 5_000 : 400)), seed };

const key = fc.constantFrom(...KEYS);
const path = fc.array(key, { minLength: 1, maxLength: 4 });
const leaf = fc.oneof(
  fc.constantFrom<Tree[string]>('text', 7, true, null, { $type: 'atom', value: { a: [1] } }),
  fc.constant<Tree[string]>({ $type: 'error', value: 'bad' }),
  path.map((value): Tree[string] => ({ $type: 'ref', value })),
);
const entries = fc.uniqueArray(fc.tuple(path, leaf), { maxLength: 24, selector: ([at]) => at.join('/') });
/** Entries whose place is taken are left out. */
const graphs = entries.map((all) => {
  const graph = empty();
  for (const [at, value] of all) {
    let branch = graph;
    let isFree = true;
    for (const step of at.slice(0, -1)) {
      const next = (branch[String(step)] ??= empty());
      if (isValue(next)) {
        isFree = false;
        break;
      }
      branch = next;
    }
    if (isFree && branch[String(at.at(-1))] === undefined) branch[String(at.at(-1))] = value;
  }
  return graph;
});

const keySet = fc.oneof(
  key,
  fc.array(key, { minLength: 1, maxLength: 4 }),
  fc.record({ from: fc.constantFrom(0, 1), to: fc.constantFrom(1, 2) }),
  fc.constant([{ to: 1 }, 'a', 'b']),
);
const pathSets = fc.array(fc.array(keySet, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 });

const step = fc.constantFrom(
  '["a"]',
  '["a","b"]',
  '[0..1]',
  '["constructor"]',
  '["__proto__","length"]',
  '[{integers}]',
  '[{ranges}]',
  '[{keys}]',
);
const texts = fc.uniqueArray(
  fc.array(step, { minLength: 1, maxLength: 4 }).map((steps) => steps.join('')),
  { minLength: 0, maxLength: 6 },
);
/** How a handler answers: its form, and after how many turns. */
const manner = fc.record({
  form: fc.constantFrom('values', 'graph', 'parts'),
  turns: fc.constantFrom(0, 0, 1, 2, 5),
});
const manners = fc.array(manner, { minLength: 8, maxLength: 8 });

interface Manner {
  readonly form: string;
  readonly turns: number;
}

/** Routes that answer from a graph; `asked` gets every single path. Texts that repeat the paths of others are left out. */
function routesOf(
  graph: Tree,
  all: readonly string[],
  how: readonly Manner[],
  asked: string[],
): RouteDefinition[] {
  const routes: RouteDefinition[] = [];
  for (const [index, text] of all.entries()) {
    const { form, turns } = how[index % how.length] as Manner;
    const definition: RouteDefinition = {
      route: text,
      get: (match) => {
        const paths = singles([match]);
        for (const one of paths) {
          // A reference that was given is known; a handler is asked again for paths below a branch.
          if (isRef(firstOn(graph, one)?.value)) asked.push(`${text} ${one.join('/')}`);
        }
        return form === 'parts' ? parts(graph, paths, turns) : late(answerTo(graph, paths, form), turns);
      },
    };
    try {
      void new Router([...routes, definition]);
      routes.push(definition);
    } catch {
      // The same paths as another route.
    }
  }
  return routes;
}

function answerTo(graph: Tree, paths: readonly Path[], form: string): RouteParts {
  if (form === 'graph') return { jsonGraph: graph };
  return paths.map((one) => {
    const found = firstOn(graph, one);
    if (found === undefined) return undefined;
    return isValue(found.value) ? found : { jsonGraph: graph };
  });
}

function late(answer: RouteParts, turns: number): RouteParts | Promise<RouteParts> {
  if (turns === 0) return answer;
  return (async () => {
    for (let at = 0; at < turns; at++) await turn();
    return answer;
  })();
}

async function* parts(graph: Tree, paths: readonly Path[], turns: number): AsyncGenerator<RouteParts> {
  for (const one of paths) {
    if (turns > 0) await turn();
    yield answerTo(graph, [one], 'values');
  }
}

function check(graph: Tree, got: unknown, paths: readonly PathSet[]): void {
  for (const one of singles(paths)) {
    const expected = read(graph, one);
    const value = read(got, one);
    const isLoop =
      (value as { value?: { code?: string } } | undefined)?.value?.code === 'SLU-GRAPH-REFERENCES';
    if (expected === LOOP) assert.ok(isLoop, `${one.join('/')}: ${JSON.stringify(value)}`);
    // A reference that closes a loop is replaced, also for those who ask for the reference itself.
    else if (isLoop && isRef(expected)) assert.ok(isInLoop(graph, one), one.join('/'));
    else
      assert.deepEqual(
        value,
        expected === undefined ? undefined : JSON.parse(JSON.stringify(expected)),
        one.join('/'),
      );
  }
}

/** Whether paths below a reference lead to references without end. */
function isInLoop(graph: Tree, path: Path): boolean {
  return KEYS.some(
    (key) =>
      read(graph, [...path, key]) === LOOP || KEYS.some((next) => read(graph, [...path, key, next]) === LOOP),
  );
}

for (const everything of ['a route for all keys', 'a data source for unhandled paths']) {
  void test(`random paths have the values of the whole graph, with ${everything}`, async () => {
    await fc.assert(
      fc.asyncProperty(graphs, texts, manners, pathSets, async (graph, all, how, paths) => {
        const asked: string[] = [];
        const isRoute = everything === 'a route for all keys';
        const routes = routesOf(graph, isRoute ? [...all, '[{keys}]'] : all, how, asked);
        const router = new Router(routes, {
          onError: () => undefined,
          ...(isRoute ? {} : { unhandled: sourceOf(graph) }),
        });
        check(graph, sent(await router.get(paths)), paths);
        assert.deepEqual(
          asked.filter((one, index) => asked.indexOf(one) !== index),
          [],
          'a route was asked twice for a path',
        );
      }),
      runs,
    );
  });
}

/** Data source that answers each path by a part of its own, with all that its references lead to. */
function partsSource(graph: Tree): DataSource {
  const whole = sourceOf(graph);
  return {
    async *get(paths) {
      for (const one of singles(paths)) yield await (whole.get([one]) as Promise<Envelope>);
    },
  };
}

for (const everything of ['a route for all keys', 'a data source for unhandled paths']) {
  void test(`the parts of a stream have each value once, and together the values of the whole answer, with ${everything}`, async () => {
    const lag = fc.constantFrom(0, 1, 9);
    await fc.assert(
      fc.asyncProperty(graphs, texts, manners, pathSets, lag, async (graph, all, how, paths, turns) => {
        const isRouted = everything === 'a route for all keys';
        const routes = routesOf(graph, isRouted ? [...all, '[{keys}]'] : all, how, []);
        const unhandled = isRouted ? {} : { unhandled: partsSource(graph) };
        const router = new Router(routes, { onError: () => undefined, ...unhandled });
        const whole = empty();
        const seen = new Set<string>();
        for await (const part of router.stream(paths)) {
          const graphOfPart = sent(part);
          for (const one of singles(part.paths ?? [])) {
            const name = one.join('/');
            const value = firstOn(graphOfPart, one);
            assert.equal(value?.path.length, one.length, `${name} is no value of its part`);
            const isLoop = JSON.stringify(value?.value).includes('SLU-GRAPH-REFERENCES');
            assert.ok(!seen.has(name) || isLoop, `${name} came twice`);
            seen.add(name);
          }
          merge(whole, graphOfPart);
          for (let at = 0; at < turns; at += 1) await turn();
        }
        check(graph, whole, paths);
      }),
      runs,
    );
  });
}

/** Paths of two keys, by which all routes of the tests below decide. */
const pairs = fc.uniqueArray(fc.tuple(key, key), { maxLength: 30, selector: (pair) => pair.join('/') });
const pairTexts = fc.uniqueArray(
  fc.tuple(step, step).map((steps) => steps.join('')),
  { maxLength: 6 },
);

/** Graph whose values are the places that they are at, three keys deep. */
function labelled(references: readonly (readonly [Path, Path])[]): Tree {
  const graph = empty();
  for (const one of KEYS)
    for (const two of KEYS)
      for (const three of ['a', 0]) {
        const first = (graph[String(one)] ??= empty()) as Tree;
        const second = (first[String(two)] ??= empty()) as Tree;
        second[String(three)] = `<${one}/${two}>`;
      }
  for (const [[one = 'a', two = 'a'], target] of references)
    ((graph[String(one)] as Tree)[String(two)] as Tree)['ref'] = { $type: 'ref', value: target };
  return graph;
}

void test('no value of a denied path is in an answer, whatever handlers give', async () => {
  const asks = fc.array(fc.tuple(keySet, keySet, fc.constantFrom('a', 0, 'ref'), fc.constantFrom('a', 0)), {
    minLength: 1,
    maxLength: 4,
  });
  const links = fc.array(fc.tuple(fc.tuple(key, key), fc.tuple(key, key)), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(links, pairTexts, manners, pairs, asks, async (references, all, how, list, sets) => {
      const graph = labelled(references);
      const denied = new Set(list.map((pair) => pair.join('/')));
      const routes = routesOf(graph, [...all, '[{keys}][{keys}]'], how, []).map(
        (one, index): RouteDefinition => ({
          ...one,
          // Everything, whatever was asked for.
          get: (match, context) => (index % 2 === 0 ? { jsonGraph: graph } : one.get?.(match, context)),
          authorize: async ({ length }) => {
            if (index % 3 === 0) await turn();
            return ([first, second]) => length === 2 && !denied.has(`${first}/${second}`);
          },
        }),
      );
      const router = new Router(routes, { onError: () => undefined });
      // The last key is for paths that go through a reference.
      const paths = sets.map(([one, two, three, four]) =>
        three === 'ref' ? [one, two, three, four] : [one, two, three],
      );
      const parts: unknown[] = [await router.get(paths)];
      for await (const part of router.stream(paths)) parts.push(part);
      for (const [, place = ''] of JSON.stringify(parts).matchAll(/<([^>]*)>/g))
        assert.ok(!denied.has(place), `${place} is denied`);
      const got = sent(await router.get(paths));
      for (const one of singles(paths)) {
        const isDenied = denied.has(one.slice(0, 2).join('/'));
        const value = read(got, one);
        if (isDenied) assert.match(JSON.stringify(value), /SLU-GRAPH-DENIED/, one.join('/'));
        else if (one.length === 3) assert.deepEqual(value, read(graph, one), one.join('/'));
      }
    }),
    runs,
  );
});

void test('values that are set arrive where the references of the router lead, and nowhere else', async () => {
  const links = fc.uniqueArray(fc.tuple(key, fc.tuple(key, key)), {
    maxLength: 6,
    selector: ([from]) => String(from),
  });
  const writes = fc.uniqueArray(fc.tuple(key, fc.constantFrom('x', 'y', 3), fc.integer()), {
    minLength: 1,
    maxLength: 8,
    selector: ([from, field]) => `${from}/${field}`,
  });
  await fc.assert(
    fc.asyncProperty(links, writes, fc.boolean(), async (references, values, isLate) => {
      const targets = new Map(references.map(([from, target]) => [String(from), target]));
      const written: [string, unknown][] = [];
      const router = new Router([
        {
          route: 'my[{keys:names}]',
          get: async (match) => {
            if (isLate) await turn();
            return (match['names'] as (string | number)[]).map((name) => {
              const target = targets.get(String(name));
              return target === undefined
                ? undefined
                : { path: ['my', name], value: { $type: 'ref', value: ['at', ...target] } };
            });
          },
        },
        {
          route: 'at[{keys}][{keys}][{keys}]',
          set: (given, _context, match) => {
            for (const one of singles([match])) {
              const value = read(given, one);
              written.push([one.join('/'), value]);
            }
          },
        },
      ]);
      const graph = { my: empty() };
      for (const [from, field, value] of values)
        ((graph.my[String(from)] ??= empty()) as Tree)[String(field)] = value;
      const paths = values.map(([from, field]) => ['my', from, field]);
      await router.set({ jsonGraph: graph as never, paths });
      // Of two values for one place, any may win.
      const expected = new Map<string, unknown[]>();
      for (const [from, field, value] of values) {
        const target = targets.get(String(from));
        if (target === undefined) continue;
        const place = ['at', ...target, field].join('/');
        expected.set(place, [...(expected.get(place) ?? []), value]);
      }
      assert.deepEqual(written.map(([place]) => place).sort(), [...expected.keys()].sort());
      for (const [place, value] of written)
        assert.ok(expected.get(place)?.includes(value), `${place}: ${String(value)}`);
    }),
    runs,
  );
});
