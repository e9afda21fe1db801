/** The package as apps load it: by `import`, by `require`, and where there is no `setImmediate`, as in browsers. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('..', import.meta.url));
const LOOP = `(async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  for await (const ms of breathing(Array(20).fill(2), { budget_ms: 2 })) {
    const end = performance.now() + ms;
    while (performance.now() < end);
  }
  clearInterval(timer);
  console.log(turns >= 5 ? 'breathes' : 'holds up: ' + turns);
  process.exit();
})();`;

function run(code: string, type: string): string {
  const node = process.env['SLUICE_TEST_NODE'] ?? process.execPath;
  return execFileSync(node, [`--input-type=${type}`, '-e', code], { cwd: FOLDER, encoding: 'utf8' }).trim();
}

void test('it is imported', () => {
  assert.equal(run(`import { breathing } from '@sluice/breathe';\n${LOOP}`, 'module'), 'breathes');
});

void test('it is required', () => {
  assert.equal(run(`const { breathing } = require('@sluice/breathe');\n${LOOP}`, 'commonjs'), 'breathes');
});

void test('it yields by scheduler.yield() where there is no setImmediate', () => {
  const scheduler = 'globalThis.scheduler = { yield: () => new Promise((resolve) => setTimeout(resolve)) };';
  const load = `const { breathing } = require('@sluice/breathe');\n${LOOP}`;
  assert.equal(run(`delete globalThis.setImmediate;\n${scheduler}\n${load}`, 'commonjs'), 'breathes');
});

void test('it yields by a message where there is neither', () => {
  // Node takes messages one after the other without a turn of the loop; browsers do not. So they are counted here.
  const count = `let messages = 0;
    const { MessageChannel: Channel } = globalThis;
    globalThis.MessageChannel = class {
      constructor() {
        const { port1, port2 } = new Channel();
        return { port1, port2: { postMessage: () => ((messages += 1), port2.postMessage(undefined)) } };
      }
    };`;
  const load = `const { breathe } = require('@sluice/breathe');
    (async () => {
      for (let item = 0; item < 10; item += 1) {
        await breathe({ budget_ms: 1 });
        const end = performance.now() + 2;
        while (performance.now() < end);
      }
      console.log(messages >= 5 ? 'breathes' : 'holds up: ' + messages);
      process.exit();
    })();`;
  assert.equal(run(`delete globalThis.setImmediate;\n${count}\n${load}`, 'commonjs'), 'breathes');
});
