/** Requests of a model: batches, joined requests, aborts, failures, parts, and races of writes with answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  atom,
  error,
  Model,
  PathError,
  PathLimitError,
  ReadErrors,
  ref,
  UnansweredError,
} from '../../src/index.js';
import type { DataSource, Envelope, JsonGraph } from '../../src/types.js';
import { ManualSource, settled } from '../reference/source.js';

const setup = (): { source: ManualSource; model: Model } => {
  const source = new ManualSource();
  return { source, model: new Model({ source }) };
};

void test('reads of one tick are one request, and only for what is missing', async () => {
  const { source, model } = setup();
  await model.withoutDataSource().set({ path: 'a.x', value: 1 });
  const both = Promise.all([model.get('a["x","y"]'), model.get('a.z'), model.get('b[0..1].x')]);
  await settled();
  assert.deepEqual(
    source.gets.map(({ paths }) => paths),
    [
      [
        ['a', ['y', 'z']],
        ['b', { from: 0, to: 1 }, 'x'],
      ],
    ],
  );
  source.gets[0]?.answer({ a: { y: 2, z: 3 }, b: { 0: { x: 4 }, 1: { x: 5 } } });
  assert.deepEqual(await both, [
    { json: { a: { x: 1, y: 2 } } },
    { json: { a: { z: 3 } } },
    { json: { b: { 0: { x: 4 }, 1: { x: 5 } } } },
  ]);
  assert.deepEqual(await model.get('a.y'), { json: { a: { y: 2 } } });
  assert.equal(source.gets.length, 1);
});

void test('paths in flight are not asked for again', async () => {
  const { source, model } = setup();
  const first = model.get('a["x","y"]');
  await settled();
  const second = model.get('a["y","z"]');
  await settled();
  assert.deepEqual(
    source.gets.map(({ paths }) => paths),
    [[['a', ['x', 'y']]], [['a', 'z']]],
  );
  source.gets[1]?.answer({ a: { z: 3 } });
  await settled();
  source.gets[0]?.answer({ a: { x: 1, y: 2 } });
  assert.deepEqual(
    [await first, await second],
    [{ json: { a: { x: 1, y: 2 } } }, { json: { a: { y: 2, z: 3 } } }],
  );
});

void test('references that an answer brings are followed by further requests', async () => {
  const { source, model } = setup();
  const value = model.getValue('list[0].name');
  await settled();
  source.gets[0]?.answer({ list: { 0: ref('items[7]') } });
  await settled();
  assert.deepEqual(source.gets[1]?.paths, [['items', 7, 'name']]);
  source.gets[1]?.answer({ items: { 7: { name: 'seven' } } });
  assert.equal(await value, 'seven');
});

void test('a pace may send at once', async () => {
  const { source, model } = setup();
  const values = [1, 2].map(() => model.batch((send) => send()).getValue('a'));
  assert.equal(source.gets.length, 1);
  source.gets[0]?.answer({ a: 1 });
  assert.deepEqual(await Promise.all(values), [1, 1]);
});

void test('a batch collects for its time, and an unbatched view sends at once', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { source, model } = setup();
  const slow = model.batch(20);
  const reads = [slow.get('a')];
  await settled();
  reads.push(slow.get('b'));
  await settled();
  assert.equal(source.gets.length, 0);
  context.mock.timers.tick(20);
  assert.deepEqual(source.gets[0]?.paths, [[['a', 'b']]]);
  reads.push(model.unbatch().get('c'));
  assert.deepEqual(source.gets[1]?.paths, [['c']]);
  source.gets[0]?.answer({ a: 1, b: 2 });
  source.gets[1]?.answer({ c: 3 });
  assert.equal((await Promise.all(reads)).length, 3);
});

void test('a request is aborted when all its readers have left', async () => {
  const { source, model } = setup();
  const [one, other, early] = [new AbortController(), new AbortController(), new AbortController()];
  const first = model.get('a', { signal: one.signal });
  const never = model.get('b', { signal: early.signal });
  early.abort(new Error('early'));
  await assert.rejects(never, /early/u);
  await settled();
  const second = model.get('a', { signal: other.signal });
  await settled();
  // What was aborted before the end of the tick is not asked for.
  assert.deepEqual(
    source.gets.map(({ paths }) => paths),
    [[['a']]],
  );
  one.abort(new Error('one'));
  await assert.rejects(first, /one/u);
  assert.equal(source.gets[0]?.signal?.aborted, false);
  other.abort(new Error('other'));
  await assert.rejects(second, /other/u);
  assert.equal(source.gets[0]?.signal?.aborted, true);
  await assert.rejects(model.get('a', { signal: one.signal }), /one/u);
  const third = model.get('a');
  await settled();
  assert.equal(source.gets.length, 2);
  source.gets[0]?.answer({ a: 'late' });
  source.gets[1]?.answer({ a: 'in time' });
  assert.deepEqual(await third, { json: { a: 'in time' } });
});

void test('a failure of the data source rejects all who wait for it, and is not kept', async () => {
  const { source, model } = setup();
  const reads = [model.get('a'), model.getValue('a')];
  await settled();
  source.gets[0]?.fail(new Error('down'));
  for (const read of reads) await assert.rejects(read, /down/u);
  const again = model.getValue('a');
  await settled();
  source.gets[1]?.answer({ a: 1 });
  assert.equal(await again, 1);
  const throwing = new Model({
    source: {
      get: () => {
        throw new Error('at once');
      },
    },
  });
  await assert.rejects(throwing.get('a'), /at once/u);
});

void test('an answer without what was asked for rejects and names it', async () => {
  const { source, model } = setup();
  const read = model.get('a["x","y"]');
  await settled();
  source.gets[0]?.answer({ a: { x: 1 } });
  await settled();
  assert.deepEqual(source.gets[1]?.paths, [['a', 'y']]);
  source.gets[1]?.answer({});
  await assert.rejects(read, (error) => {
    assert.ok(error instanceof UnansweredError);
    assert.deepEqual([error.paths, error.json], [[['a', 'y']], { a: { x: 1 } }]);
    return true;
  });
});

void test('a data source that leads on without end is left', async () => {
  let requests = 0;
  const model = new Model({
    source: {
      get: (paths) => {
        requests += 1;
        const [first] = paths[0] ?? [];
        return Promise.resolve({ jsonGraph: { [first as string]: ref([`next ${requests}`]) } });
      },
    },
  });
  await assert.rejects(model.get('start.name'), UnansweredError);
  assert.equal(requests, 32);
});

void test('an answer that is not a graph of bounded depth rejects', async () => {
  const { source, model } = setup();
  const graph: Record<string, unknown> = {};
  graph['a'] = graph;
  const read = model.get('b');
  await settled();
  source.gets[0]?.answer(graph as never);
  await assert.rejects(read, PathLimitError);
  assert.deepEqual(plain(model.getCache()), {});
});

void test('answers in parts resolve a read as soon as its values are there', async () => {
  const parts: ((envelope: Envelope | undefined) => void)[] = [];
  let aborted = false;
  const model = new Model({
    source: {
      async *get(_, options) {
        options?.signal?.addEventListener('abort', () => (aborted = true));
        for (;;) {
          const part = await new Promise<Envelope | undefined>((resolve) => parts.push(resolve));
          if (part === undefined) return;
          yield part;
        }
      },
    },
  });
  const [quick, slow] = [model.get('a'), model.get('b')];
  const seen: unknown[] = [];
  const streamed = (async () => {
    for await (const part of model.stream('["a","b"]')) seen.push(part.json);
  })();
  await settled();
  parts.shift()?.({ jsonGraph: { a: 1 } });
  assert.deepEqual(await quick, { json: { a: 1 } });
  await settled();
  assert.deepEqual(seen, [{ a: 1 }]);
  parts.shift()?.({ jsonGraph: { b: 2 } });
  assert.deepEqual(await slow, { json: { b: 2 } });
  await streamed;
  assert.deepEqual(seen, [{ a: 1 }, { a: 1, b: 2 }]);
  // Nobody waits for further parts.
  assert.ok(aborted);
});

void test('a value to be read once that is written before its answer ends stays', async () => {
  let give: (envelope: Envelope) => void = () => undefined;
  const part = (): Promise<Envelope> => new Promise((resolve) => (give = resolve));
  const model = new Model({
    source: {
      async *get() {
        yield await part();
        yield await part();
      },
    },
  });
  const read = model.get('["a","b","c"]');
  await settled();
  give({ jsonGraph: { a: atom(1, { $expires: 0 }), b: atom(1, { $expires: 0 }) } });
  await settled();
  await model.withoutDataSource().set({ path: 'a', value: 2 });
  give({ jsonGraph: { c: 3 } });
  assert.deepEqual(await read, { json: { a: 2, b: 1, c: 3 } });
  await settled();
  assert.deepEqual(plain(model.getCache()), { a: 2, c: 3 });
});

void test('a stream that is left, and one that fails, end their requests', async () => {
  const { source, model } = setup();
  await model.withoutDataSource().set({ path: 'a', value: 1 });
  for await (const { json } of model.stream('["a","b"]')) {
    assert.deepEqual(json, { a: 1 });
    await settled();
    break;
  }
  assert.equal(source.gets[0]?.signal?.aborted, true);
  const failing = (async () => {
    const parts: unknown[] = [];
    for await (const part of model.stream('["a","b"]')) parts.push(part);
    return parts;
  })();
  await settled();
  source.gets[1]?.fail(new Error('down'));
  await assert.rejects(failing, /down/u);
});

/** Answer in parts that a test gives, one at a time. */
class Parts implements AsyncIterable<Envelope> {
  readonly #parts: Promise<Envelope | undefined>[] = [];
  readonly #waiting: ((part: Promise<Envelope | undefined>) => void)[] = [];

  /** Gives a part, the end for none, or an error. */
  async give(part: Envelope | Error | undefined): Promise<void> {
    const given = part instanceof Error ? Promise.reject(part) : Promise.resolve(part);
    const take = this.#waiting.shift();
    if (take === undefined) this.#parts.push(given);
    else take(given);
    await settled();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Envelope> {
    for (;;) {
      const part = await (this.#parts.shift() ?? new Promise((resolve) => this.#waiting.push(resolve)));
      if (part === undefined) return;
      yield part;
    }
  }
}

function partedWrites(): { model: Model; answers: Parts[] } {
  const answers: Parts[] = [];
  const answer = (): Parts => {
    const parts = new Parts();
    answers.push(parts);
    return parts;
  };
  return { model: new Model({ source: { get: answer, set: answer, call: answer } }), answers };
}

const once = (value: number): Envelope => ({
  jsonGraph: { once: atom(value, { $expires: 0 }) },
  paths: [['once']],
});

void test('a value to be read once leaves with the call or write that breaks', async () => {
  const { model, answers } = partedWrites();
  const writes = [
    model.call('f'),
    model.set({ path: 'a', value: 1 }),
    model.set({ path: 'a', value: 2 }, { rollback: false }),
  ];
  for (const [at, write] of writes.entries()) {
    const broken = assert.rejects(write, /broken/u);
    await answers[at]?.give(once(1));
    assert.deepEqual(plain(model.read('once').json), { once: 1 });
    await answers[at]?.give(new Error('broken'));
    await broken;
    assert.deepEqual(model.read('once').missing, [['once']], `write ${at}`);
  }
  const wrong = { jsonGraph: { ...once(1).jsonGraph, wrong: { $type: 'ref', value: 5 } } } as never;
  assert.throws(() => model.merge(wrong), PathError);
  assert.deepEqual(model.read('once').missing, [['once']]);
});

void test('calls that bring the same value to be read once each give it', async () => {
  const { model, answers } = partedWrites();
  const calls = [model.call('f'), model.call('g')];
  await answers[0]?.give(once(1));
  await answers[1]?.give(once(2));
  await answers[0]?.give(undefined);
  await answers[1]?.give(undefined);
  await calls[0];
  assert.deepEqual(plain(await calls[1]), { json: { once: 2 } });
  assert.deepEqual(model.read('once').missing, [['once']]);
});

const count = (value: number): Envelope => ({ jsonGraph: { count: value }, paths: [['count']] });

void test('what a call brings stays when a page or a read brings what was asked for before', async () => {
  const { source, model } = setup();
  const counted = (): unknown => plain(model.read('count').json);
  source.answerToCalls = count(2);
  const read = model.getValue('other');
  await settled();
  const before = model.getMoment();
  const call = model.call('cart.add');
  const during = model.getMoment();
  await call;
  source.gets[0]?.answer({ count: 1, other: 'there' });
  assert.equal(await read, 'there');
  assert.deepEqual(counted(), { count: 2 });
  for (const moment of [before, during]) {
    model.merge(count(1), moment);
    assert.deepEqual(counted(), { count: 2 });
  }
  model.merge({ jsonGraph: { count: { sum: 1 } } }, before);
  assert.deepEqual(counted(), { count: 2 });
  model.merge(count(3), model.getMoment());
  assert.deepEqual(counted(), { count: 3 });
});

for (const how of ['call', 'set'] as const)
  void test(`of two answers to a ${how} stays that of the one sent later, in either order`, async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const { model, answers } = partedWrites();
      const send = (value: number): Promise<unknown> =>
        how === 'call' ? model.call('cart.add') : model.set({ path: ['lines', value], value });
      const sent = [send(1), send(2)];
      for (const at of order) {
        await answers[at]?.give(count(at + 1));
        await answers[at]?.give(undefined);
      }
      await Promise.all(sent);
      assert.deepEqual(plain(model.read('count').json), { count: 2 }, `${how} ${order.join()}`);
    }
  });

void test('a call does not replace a write that waits, and replaces one that was sent before it and has its answer', async () => {
  const { model, answers } = partedWrites();
  const write = model.setValue('count', 5);
  const calls = [model.call('cart.add'), model.call('cart.add')];
  await answers[1]?.give(count(6));
  assert.deepEqual(plain(model.read('count').json), { count: 5 });
  await answers[0]?.give(count(5));
  await answers[0]?.give(undefined);
  await write;
  await answers[2]?.give(count(7));
  assert.deepEqual(plain(model.read('count').json), { count: 7 });
  for (const answer of answers) await answer.give(undefined);
  await Promise.all(calls);
});

void test('a write during a read in flight is not replaced by the older answer', async () => {
  const { source, model } = setup();
  const read = model.get('a["x","y"]');
  await settled();
  await model.withoutDataSource().set({ path: 'a.x', value: 'written' });
  source.gets[0]?.answer({ a: { x: 'old', y: 'read' } });
  assert.deepEqual(await read, { json: { a: { x: 'written', y: 'read' } } });
  model.invalidate('a.x');
  const next = model.getValue('a.x');
  await settled();
  source.gets[1]?.answer({ a: { x: 'new' } });
  assert.equal(await next, 'new');
});

void test('a write that waits for the data source is replaced by its own answer alone', async () => {
  const { source, model } = setup();
  const written = model.set({ path: 'a.x', value: 'mine' });
  const read = model.get('a["x","y"]');
  await settled();
  source.gets[0]?.answer({ a: { x: 'theirs', y: 1 } });
  assert.deepEqual(await read, { json: { a: { x: 'mine', y: 1 } } });
  assert.deepEqual(source.sets[0]?.envelope, {
    jsonGraph: nullProto({ a: { x: 'mine' } }),
    paths: [['a', 'x']],
  });
  source.sets[0]?.answer({ a: { x: 'mine, as stored' } });
  assert.deepEqual(await written, { json: { a: { x: 'mine, as stored' } } });
});

/** The graph with branches as `set` sends them. */
function nullProto(graph: object): object {
  const entries = Object.entries(graph).map(([key, value]): [string, unknown] => [
    key,
    typeof value === 'object' && value !== null ? nullProto(value as object) : value,
  ]);
  return Object.assign(Object.create(null) as object, Object.fromEntries(entries));
}

void test('an older version of a value does not replace a newer', async () => {
  const model = new Model();
  const at = (value: string, $timestamp: number): object => ({ $type: 'atom', value, $timestamp });
  await model.set({ path: 'a', value: at('new', 20) });
  await model.set({ path: 'a', value: at('old', 10) });
  assert.equal(await model.getValue('a'), 'new');
  await model.set({ path: 'a', value: at('newer', 30) });
  assert.equal(await model.getValue('a'), 'newer');
});

void test('a failed write returns to what was there, unless that is turned off or it was written again', async () => {
  const { source, model } = setup();
  const local = model.withoutDataSource();
  await local.set({ path: 'a["x","y","z"]', value: 'before' }, { path: 'b', value: 'leaf' });
  const writes = [
    model.set(
      { path: 'a.x', value: 1 },
      { path: 'new.branch.leaf', value: 1 },
      { path: 'b.below', value: 1 },
    ),
    model.set({ path: 'a.y', value: 1 }, { rollback: false }),
    model.set({ path: 'a.z', value: 1 }),
  ];
  await local.set({ path: 'a.z', value: 'again' });
  assert.deepEqual(local.read('b.below').json, { b: { below: 1 } });
  for (const { fail } of source.sets) fail(new Error('refused'));
  for (const write of writes) await assert.rejects(write, /refused/u);
  assert.deepEqual(plain(model.getCache()), { a: { x: 'before', y: 1, z: 'again' }, b: 'leaf' });
});

void test('a value that the source answers with an error returns to what it was, and others of the write stay', async () => {
  const answers: object[] = [];
  const source: DataSource = {
    get: () => Promise.reject(new Error('nothing is missing')),
    set: () => Promise.resolve({ jsonGraph: answers.shift() as JsonGraph, paths: [] }),
  };
  const model = new Model({ source, cache: { a: { x: 'before', y: 'before' }, r: ref(['a']) } });
  const refusal = { $type: 'error', value: 'too much' };
  answers.push({ a: { x: refusal, y: 'after', new: refusal } });
  await assert.rejects(
    model.set({ path: 'r.x', value: 1 }, { path: 'a.y', value: 1 }, { path: 'a.new', value: 1 }),
    (refused) => {
      assert.ok(refused instanceof ReadErrors);
      assert.deepEqual(refused.errors.map(({ path, value }) => `${path.join('.')} ${String(value)}`).sort(), [
        'a.new too much',
        'a.x too much',
      ]);
      return true;
    },
  );
  const local = model.withoutDataSource();
  assert.deepEqual(plain(local.getCache()), { a: { x: 'before', y: 'after' }, r: ref(['a']) });
  // Without the way back the error is the value, as in Falcor.
  answers.push({ a: { x: refusal } });
  await assert.rejects(model.set({ path: 'a.x', value: 1 }, { rollback: false }), ReadErrors);
  assert.deepEqual(
    local.read('a.x').errors.map(({ value }) => value),
    ['too much'],
  );
  // An error that the app sets is a value.
  answers.push({ a: { y: refusal } });
  await assert.rejects(model.set({ path: 'a.y', value: error('mine') }), ReadErrors);
  assert.deepEqual(
    local.read('a.y').errors.map(({ value }) => value),
    ['too much'],
  );
});

void test('a failed write brings back only what it replaced itself', async () => {
  const { source, model } = setup();
  const local = model.withoutDataSource();
  await local.set({ path: 'b', value: 'leaf' }, { path: 'whole.x', value: 1 }, { path: 'whole.y', value: 2 });
  const write = model.set({ path: '["b","c"].x', value: 1 }, { path: 'whole', value: 'one' });
  model.invalidate('b');
  source.sets[0]?.fail(new Error('refused'));
  await assert.rejects(write, /refused/u);
  assert.deepEqual(plain(model.getCache()), { whole: { x: 1, y: 2 } });
});

void test('writes of one value that wait for each other end with what the data source has', async () => {
  const { source, model } = setup();
  await model.withoutDataSource().set({ path: 'a', value: 'before' });
  const [first, second] = [model.set({ path: 'a', value: 1 }), model.set({ path: 'a', value: 2 })];
  source.sets[1]?.fail(new Error('refused'));
  await assert.rejects(second, /refused/u);
  // The first write is not answered: what the data source has is not known.
  assert.deepEqual(model.read('a').missing, [['a']]);
  source.sets[0]?.answer({ a: 'first' });
  assert.deepEqual(await first, { json: { a: 'first' } });
});

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

void test('an invalidation while a read is in flight lets it end, but does not cache its answer', async () => {
  const { source, model } = setup();
  const old = model.getValue('a.x');
  await settled();
  model.invalidate('a');
  const fresh = model.getValue('a.x');
  await settled();
  assert.equal(source.gets.length, 2);
  source.gets[0]?.answer({ a: { x: 'old' } });
  assert.equal(await old, 'old');
  assert.equal(model.read('a.x').json, undefined);
  source.gets[1]?.answer({ a: { x: 'new' } });
  assert.equal(await fresh, 'new');
});

void test('an answer from before an invalidation does not replace one from after it', async () => {
  const { source, model } = setup();
  const old = model.getValue('a.x');
  await settled();
  model.invalidate('a');
  const fresh = model.getValue('a.x');
  await settled();
  source.gets[1]?.answer({ a: { x: 'new' } });
  source.gets[0]?.answer({ a: { x: 'old' } });
  assert.deepEqual([await old, await fresh], ['new', 'new']);
  assert.equal(await model.getValue('a.x'), 'new');
});

void test('a call sends its arguments, drops what it invalidates and gives what it answers', async () => {
  const { source, model } = setup();
  await model
    .withoutDataSource()
    .set({ path: 'lists.mine.length', value: 1 }, { path: 'user.list', value: ref('lists.mine') });
  source.answerToCalls = {
    jsonGraph: { lists: { mine: { 1: ref('items[7]') } }, items: { 7: { name: 'seven' } } },
    paths: [['lists', 'mine', 1, 'name']],
    invalidated: [['lists', 'mine', 'length']],
  };
  const { json } = (await model.get('user.list.length')) as { json: { user: { list: object } } };
  const list = model.deref(json.user.list);
  assert.deepEqual(await list.call('push', [ref('items[7]')], ['name'], ['length']), {
    json: { 1: { name: 'seven' } },
  });
  assert.deepEqual(source.calls, [
    {
      path: ['lists', 'mine', 'push'],
      args: [ref('items[7]')],
      refSuffixes: [['name']],
      thisPaths: [['length']],
    },
  ]);
  assert.deepEqual(model.read('lists.mine.length').missing, [['lists', 'mine', 'length']]);
  await assert.rejects(new Model().call('f'), /has no calls/u);
});
