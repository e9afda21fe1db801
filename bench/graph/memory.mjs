// Memory of a bounded model over many writes and reads, in a process of its own: prints JSON with the heap after each tenth.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../packages/graph/package.json', import.meta.url));
const { Model } = require('@sluice/graph');

const [bound, count] = process.argv.slice(2).map(Number);
const KEYS = 1_000_000;
const model = new Model({ maxSize: bound });
const local = model.withoutDataSource();
let random = 1;
/** Next of a fixed sequence of numbers below a bound. */
const next = (below) => {
  random = (random * 48271) % 2147483647;
  return random % below;
};

/** Bytes of the heap after a garbage collection. */
function heap() {
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

const empty = heap();
const heaps = [];
let most = 0;
let dangling = 0;
for (let at = 0; at < count; at += 1) {
  const id = next(KEYS);
  // A reference to an item for every fourth item: most lead to items that have left.
  if (at % 4 === 0)
    await local.set({ path: ['lists', next(KEYS)], value: { $type: 'ref', value: ['items', id] } });
  else await local.set({ path: ['items', id, 'name'], value: `Item ${id}` });
  const read = next(KEYS);
  const { json, missing } = local.read(['lists', read, 'name'], ['items', id, 'name']);
  const name = json?.lists?.[read]?.name;
  if (name !== undefined && !/^Item \d+$/u.test(name)) dangling += 1;
  if (name !== undefined && missing.some(([first]) => first === 'lists')) dangling += 1;
  most = Math.max(most, model.getSize());
  if ((at + 1) % (count / 10) === 0) heaps.push(heap() - empty);
}
console.log(JSON.stringify({ heaps, most, dangling, size: model.getSize() }));
