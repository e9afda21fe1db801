/** What hostile clients say: words that mean something elsewhere, JSON with them, and trees of them. */
import * as fc from 'fast-check';
import { breaking } from '../support/breaking.js';

const OF_OBJECTS = [...Object.getOwnPropertyNames(Object.prototype), 'prototype', 'then', 'toJSON', 'length'];
const OURS = [
  'page',
  'variants',
  'default',
  'children',
  'key',
  'ref',
  '$path',
  '$sluice',
  '$',
  '@',
  'b0',
  'b1-0',
  'remote',
  'json',
];

export const COMPONENTS = [
  'Text',
  'Frame',
  'Static',
  'Client',
  'Checked',
  'Cached',
  'Throws',
  'Later',
  'Never',
  'Remote',
  'Missing',
  'constructor',
];

/** Names, keys and ids. */
export const word: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...OF_OBJECTS),
  fc.constantFrom(...OURS),
  fc.string({ maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  breaking,
  fc.constantFrom('x'.repeat(5_000), '-'.repeat(300), '../../etc/passwd', '%00', '0', '-1', '1e9', 'NaN'),
);

const component = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...COMPONENTS) }, word);

/** JSON as `JSON.parse` gives it, with keys that mean something elsewhere. */
export const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  word,
  fc.dictionary(word, fc.oneof(word, fc.jsonValue({ maxDepth: 1 })), { maxKeys: 4 }),
  fc.integer({ min: 1, max: 400 }).map((depth) => {
    let nested: unknown = 'deep';
    for (let level = 0; level < depth; level += 1)
      nested = level % 2 === 0 ? [nested] : { constructor: nested };
    return nested;
  }),
);

/** One of so many has it. */
const rare = <T>(arbitrary: fc.Arbitrary<T>, of = 4): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: of - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** Mostly a right one: a mistake ends the way of its tree. */
const mostly = (...right: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 15, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: word });

const PATHS = [
  '$',
  '@',
  '$.list',
  '$.variants',
  '$.variants.exp',
  '$.constructor',
  '@.n',
  '$.list[0].n',
  '$.x.y',
  '@.then',
];
const path = mostly(...PATHS, "$['__proto__']");

const bound: fc.Arbitrary<unknown> = fc.oneof(
  value,
  path.map(($path) => ({ $path })),
  fc.record({ $path: path, default: value }),
);

const condition: fc.Arbitrary<unknown> = fc.oneof(
  path.map((exists) => ({ exists })),
  fc.tuple(bound, bound).map((equals) => ({ equals })),
  path.map((exists) => ({ not: { any: [{ exists }, { all: [] }] } })),
  rare(fc.dictionary(word, value, { maxKeys: 2 }), 8),
);

const name = word.filter((text) => text.length > 0 && text.length <= 200);
const source: fc.Arbitrary<unknown> = fc.oneof(
  fc.record(
    {
      source: mostly('echo', 'fails', 'toString'),
      args: bound,
      timeoutMs: fc.constantFrom(1, 20),
      default: value,
    },
    { requiredKeys: ['source'] },
  ),
  fc.record(
    {
      url: mostly('http://127.0.0.1:1/', 'https://user:password@elsewhere.invalid/x?y'),
      path: fc.array(bound, { maxLength: 2 }),
      query: fc.dictionary(word, bound, { maxKeys: 2 }),
      timeoutMs: fc.constant(50),
      default: value,
    },
    { requiredKeys: ['url', 'timeoutMs'] },
  ),
);
const sources = fc.dictionary(fc.oneof(fc.constant('x'), name), source, { maxKeys: 2 });

const nodes: fc.Memo<unknown[]> = fc.memo((depth) =>
  fc.array(
    fc.record({
      component: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...COMPONENTS) }, name),
      id: rare(mostly('page', 'one', 'two', 'constructor', 'toString'), 8),
      version: rare(name, 8),
      props: rare(fc.oneof(fc.dictionary(word, bound, { maxKeys: 3 }), bound), 2),
      slots: depth > 1 ? rare(slots(depth), 2) : fc.constant(undefined),
      if: rare(condition),
      each: rare(path),
      data: rare(sources),
      rendering: rare(mostly('server', 'client', 'static')),
      hydration: rare(mostly('load', 'visible')),
    }),
    { maxLength: 3 },
  ),
);

function slots(depth: number): fc.Arbitrary<unknown> {
  return fc.dictionary(mostly('main', 'default', 'constructor', 'children'), nodes(depth - 1), {
    maxKeys: 2,
  });
}

const documentTree = fc.record({
  lang: rare(bound),
  dir: rare(mostly('ltr', 'auto')),
  title: rare(bound),
  meta: rare(fc.array(fc.record({ name, content: bound }), { maxLength: 2 })),
  links: rare(fc.array(fc.record({ rel: mostly('canonical', 'icon'), href: bound }), { maxLength: 2 })),
});

export const tree: fc.Arbitrary<unknown> = fc.record({
  id: rare(mostly('listing', 'constructor')),
  document: rare(documentTree),
  data: rare(sources),
  boxes: nodes(2),
});

const data = fc.record({ list: fc.array(value, { maxLength: 3 }), constructor: value });
const visitor = fc.record({ id: word, cookies: fc.dictionary(word, word, { maxKeys: 3 }) });
const variants = fc.dictionary(fc.oneof(fc.constant('exp'), word), mostly('a', 'b'), { maxKeys: 2 });

const posted: fc.Arbitrary<unknown> = fc.record({
  tree,
  data: rare(data, 2),
  format: rare(mostly('html', 'json')),
  engine: rare(fc.oneof(fc.nat({ max: 9 }), rare(value, 8))),
  delivery: rare(mostly('stream', 'whole')),
  fill: rare(mostly('in-order', 'as-ready')),
  visitor: rare(visitor, 8),
  variants: rare(variants),
  more: rare(word, 8),
  nonce: rare(mostly('abcdefgh', 'abcdefghij=='), 8),
  deadlineMs: fc.constantFrom(30, 60),
});

const job: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ name: component, data: value, metadata: value }, { requiredKeys: ['name'] }),
  },
  value,
);

/** Texts that are posted. */
export const bodies: Readonly<Record<'batch' | 'page', fc.Arbitrary<string>>> = {
  batch: fc.oneof(
    { weight: 6, arbitrary: fc.dictionary(word, job, { maxKeys: 4 }).map(textOf) },
    value.map(textOf),
    word,
  ),
  page: fc.oneof({ weight: 6, arbitrary: posted.map(textOf) }, value.map(textOf), word),
};

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? '';
}
