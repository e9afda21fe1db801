/** Loops that let others in, without Sluice and beside a host that says who waits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { breathe, Breather, breathing } from '../src/index.js';
import { type Host, hostKey } from '../src/host.js';

/** Uses the CPU for so long. */
function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** Counts turns of the event loop until it is stopped. */
function countTurns(): { readonly stop: () => number } {
  let turns = 0;
  let next = setImmediate(function turn() {
    turns += 1;
    next = setImmediate(turn);
  });
  return {
    stop() {
      clearImmediate(next);
      return turns;
    },
  };
}

const hostThat = (somebodyWaits: () => boolean): Host => ({ somebodyWaits, offloads: () => () => {} });

async function withHost<T>(host: Host, run: () => Promise<T>): Promise<T> {
  Object.defineProperty(globalThis, hostKey, { value: host, configurable: true });
  try {
    return await run();
  } finally {
    Reflect.deleteProperty(globalThis, hostKey);
  }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* later(count: number): AsyncGenerator<number> {
  for (let index = 0; index < count; index += 1) yield index;
}

void test('items come as they are, in their order, from sync and async iterables', async () => {
  assert.deepEqual(await collect(breathing([1, 2, 3])), [1, 2, 3]);
  assert.deepEqual(await collect(breathing(new Set(['a', 'b']))), ['a', 'b']);
  assert.deepEqual(await collect(breathing(new Map([[1, 'a']]))), [[1, 'a']]);
  assert.deepEqual(await collect(breathing(later(3))), [0, 1, 2]);
  assert.deepEqual(await collect(breathing([Promise.resolve(1), 2])), [1, 2]);
  assert.deepEqual(await collect(breathing([])), []);
  assert.deepEqual(await collect(breathing([undefined, null, 0])), [undefined, null, 0]);
});

void test('without Sluice others have their turn after each budget', async () => {
  const turns = countTurns();
  for await (const ms of breathing(
    Array.from({ length: 20 }, () => 1),
    { budget_ms: 2 },
  ))
    compute(ms);
  const inLoop = turns.stop();
  // At most one an item, however slow the machine is.
  assert.ok(inLoop >= 5 && inLoop <= 21, `${inLoop} turns in 20 ms with a budget of 2`);
});

void test('an async iterable that never waits lets others in as well', async () => {
  const turns = countTurns();
  for await (const item of breathing(later(20), { budget_ms: 2 })) compute(item >= 0 ? 1 : 0);
  assert.ok(turns.stop() >= 5);
});

void test('a plain loop in turn lets nobody in, so the counter counts what the loop does', async () => {
  const turns = countTurns();
  for await (const item of later(20)) compute(item >= 0 ? 1 : 0);
  assert.equal(turns.stop(), 0);
});

void test('nobody is let in while nobody waits, but once in 50 ms', async () => {
  let asked = 0;
  const host = hostThat(() => ((asked += 1), false));
  const [turns, took_ms] = await withHost(host, async () => {
    const counter = countTurns();
    const began_ms = performance.now();
    for await (const ms of breathing(
      Array.from({ length: 100 }, () => 1),
      { budget_ms: 2 },
    ))
      compute(ms);
    return [counter.stop(), performance.now() - began_ms] as const;
  });
  assert.ok(asked >= 25, `asked ${asked} times`);
  assert.ok(turns >= 1 && turns <= 1 + took_ms / 50, `${turns} turns in ${took_ms} ms`);
});

void test('who waits is let in at the next budget', async () => {
  let asked = 0;
  // Every second time.
  const turns = await withHost(
    hostThat(() => (asked += 1) % 2 === 0),
    async () => {
      const counter = countTurns();
      for await (const ms of breathing(
        Array.from({ length: 60 }, () => 1),
        { budget_ms: 2 },
      ))
        compute(ms);
      return counter.stop();
    },
  );
  assert.ok(turns >= Math.floor(asked / 2), `${turns} turns, asked ${asked} times`);
});

void test('of several loops one runs between two turns', async () => {
  const order: string[] = [];
  let turn = 0;
  const timer = setInterval(() => (turn += 1), 0);
  const loop = async (name: string): Promise<void> => {
    for await (const ms of breathing(
      Array.from({ length: 12 }, () => 1),
      { budget_ms: 3 },
    )) {
      compute(ms);
      order.push(`${name}${turn}`);
    }
  };
  await Promise.all([loop('a'), loop('b')]);
  clearInterval(timer);
  const afterFirst = order.filter((entry) => !entry.endsWith('0'));
  const turns = new Map<string, Set<string>>();
  for (const entry of afterFirst) {
    const loops = turns.get(entry.slice(1)) ?? new Set<string>();
    turns.set(entry.slice(1), loops.add(entry.slice(0, 1)));
  }
  assert.ok(turns.size >= 4, order.join(' '));
  for (const [at, loops] of turns) assert.equal(loops.size, 1, `both ran in turn ${at}: ${order.join(' ')}`);
});

void test('a loop that is left closes its source', async () => {
  let closed = 0;
  function* source(): Generator<number> {
    try {
      yield 1;
      yield 2;
    } finally {
      closed += 1;
    }
  }
  for await (const item of breathing(source())) if (item === 1) break;
  assert.equal(closed, 1);
  await assert.rejects(async () => {
    for await (const item of breathing(source())) throw new Error(`at ${item}`);
  }, /at 1/);
  assert.equal(closed, 2);
});

void test('an error of the source comes out, and ends the loop', async () => {
  function* source(): Generator<number> {
    yield 1;
    throw new Error('broken');
  }
  const seen: number[] = [];
  await assert.rejects(async () => {
    for await (const item of breathing(source())) seen.push(item);
  }, /broken/);
  assert.deepEqual(seen, [1]);
});

void test('an abort ends the loop with its reason and closes the source', async () => {
  const controller = new AbortController();
  let closed = false;
  function* source(): Generator<number> {
    try {
      for (;;) yield 1;
    } finally {
      closed = true;
    }
  }
  setTimeout(() => controller.abort(new Error('the client left')), 1);
  const loop = async (): Promise<void> => {
    for await (const ms of breathing(source(), { budget_ms: 1, signal: controller.signal })) compute(ms / 4);
  };
  await assert.rejects(loop, /the client left/);
  assert.equal(closed, true);
  assert.throws(() => breathing([1], { signal: controller.signal }), /the client left/);
});

void test('breathe() waits only when a budget is used up', async () => {
  await breathe();
  const turns = countTurns();
  for (let item = 0; item < 20; item += 1) {
    await breathe({ budget_ms: 4 });
    compute(1);
  }
  const counted = turns.stop();
  assert.ok(counted >= 2, `${counted} turns in 20 ms with a budget of 4`);
  assert.equal(breathe({ budget_ms: 1000 }), undefined);
});

void test('a Breather costs a cheap loop no promise an item', async () => {
  const breather = new Breather({ budget_ms: 1 });
  const turns = countTurns();
  let yields = 0;
  const end = performance.now() + 10_000;
  while (yields < 5 && performance.now() < end) {
    if (!breather.isDue()) continue;
    yields += 1;
    await breather.breathe();
  }
  assert.equal(yields, 5);
  assert.ok(turns.stop() >= yields - 1);
});

void test('the async context of a loop is its own after each turn', async () => {
  const { AsyncLocalStorage } = await import('node:async_hooks');
  const context = new AsyncLocalStorage<string>();
  const loop = (name: string): Promise<void> =>
    context.run(name, async () => {
      for await (const ms of breathing(
        Array.from({ length: 10 }, () => 1),
        { budget_ms: 1 },
      )) {
        compute(ms);
        assert.equal(context.getStore(), name);
      }
    });
  await Promise.all([loop('a'), loop('b'), loop('c')]);
});

void test('mistakes are refused in words', () => {
  for (const budget_ms of [0, -1, 5000, Number.NaN]) {
    assert.throws(() => new Breather({ budget_ms }), /budget_ms is .* from 0\.1 to 1000/);
    assert.throws(() => breathing([], { budget_ms }), RangeError);
    assert.throws(() => breathe({ budget_ms }), RangeError);
  }
  assert.throws(() => new Breather({ late_turns: 0.5 }), /late_turns is 0\.5; .* a whole number from 0/);
  assert.throws(() => breathing(5 as unknown as number[]), /needs an iterable/);
});
