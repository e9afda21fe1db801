// What each engine runs: mounts, then keys. Prints one line of JSON. Times are in milliseconds.
import { mount } from 'app';
import { takeBatch } from 'batch';

// JavaScriptCore's shell has a clock of its own, in seconds.
const now = typeof preciseTime === 'function' ? () => preciseTime() * 1000 : () => performance.now();
const MOUNTS = globalThis.BENCH_MOUNTS ?? 15;
const KEYS = globalThis.BENCH_KEYS ?? 380;
const mounts = [];
let words = 0;
for (let at = 0; at < MOUNTS; at += 1) {
  const start = now();
  const screen = mount();
  words = takeBatch();
  mounts.push(now() - start);
  screen.unmount();
  takeBatch();
}
const screen = mount();
takeBatch();
const keys = [];
let keyWords = 0;
for (let at = 0; at < KEYS; at += 1) {
  const name = at % 38 < 19 ? 'ArrowRight' : 'ArrowLeft';
  const start = now();
  screen.key(name);
  keyWords = takeBatch();
  keys.push(now() - start);
}
const line = JSON.stringify({ mounts, keys, words, keyWords });
if (typeof print === 'function') print(line);
else console.log(line);
