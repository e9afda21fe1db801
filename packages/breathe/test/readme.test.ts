/** The examples of the README run as they stand. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('..', import.meta.url));

/** What stands around the examples: an app that calls each handler once, and the data that they name. */
const AROUND = `
const orders = Array.from({ length: 1000 }, (_, id) => ({ id }));
const prices = orders.map(({ id }) => id);
const toLine = ({ id }) => 'order ' + id;
const app = {
  get(path, handle) {
    const res = { once() {}, off() {}, writableFinished: true, destroyed: false };
    res.send = (text) => console.log(path + ' ' + String(text).split('\\n').length + ' ' + String(text).slice(0, 20));
    void handle({ query: { file: 'a.png' } }, res);
  },
};
process.on('exit', () => { if (typeof sum === 'number') console.log('sum ' + sum); });
`;

void test('each example does what it says', (t) => {
  const examples = [...readFileSync(join(FOLDER, 'README.md'), 'utf8').matchAll(/```js\n([\s\S]*?)```/g)];
  // In the package, so that it finds itself.
  const folder = mkdtempSync(join(FOLDER, 'test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'resize.js'), 'export const thumbnail = (file, size) => file + " at " + size;');
  const node = process.env['SLUICE_TEST_NODE'] ?? process.execPath;
  const printed = examples.map(([, code = ''], index) => {
    const file = join(folder, `example-${index}.mjs`);
    const imports = code.split('\n').filter((line) => line.startsWith('import '));
    const rest = code.split('\n').filter((line) => !line.startsWith('import '));
    writeFileSync(file, [...imports, AROUND, ...rest].join('\n'));
    return execFileSync(node, [file], { encoding: 'utf8', timeout: 9_000 }).trim();
  });
  assert.deepEqual(printed, [
    '/report 1000 order 0\norder 1\norde',
    'sum 499500',
    '/thumbnail 1 a.png at 200',
  ]);
});
