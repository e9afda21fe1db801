/** Which loops breathe, which are left, and why. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transformAsync } from '@babel/core';
import { Breather } from '@sluice/breathe';
import { babelPlugin, compileLoops, type LoopLine, type LoopsOptions } from '../../src/loops/index.js';

interface Result {
  readonly code: string | undefined;
  readonly loops: readonly LoopLine[];
}

async function compiled(
  source: string,
  options: LoopsOptions = { loops: 'all' },
  path = '/app.ts',
): Promise<Result> {
  let loops: readonly LoopLine[] = [];
  const result = await compileLoops(source, path, {
    ...options,
    report: (file) => void (loops = file.loops),
  });
  return { code: result?.code, loops };
}

/** The reasons of a function's loops in the order of the source; an empty text for one that breathes. */
async function reasons(source: string, options?: LoopsOptions): Promise<string[]> {
  return (await compiled(source, options)).loops.map(({ done, reason }) => (done ? '' : reason));
}

const within = (body: string): string => `let total = 0; const cache = new Map(); const LIST = [1];
  export async function work(this: any, rows: any, on: any) { ${body} } export const other = () => { total = 1; };`;

void test('loops over what is the function’s own breathe', async () => {
  for (const body of [
    'let sum = 0; for (const row of rows) sum += row.price;',
    'const found = new Map(); for (let i = 0; i < rows.length; i++) found.set(i, rows[i]);',
    'while (rows.length > 0) rows.pop();',
    'do rows.x++; while (rows.x < 9);',
    'for (const key of Object.keys(cache)) rows.push(key);',
    'for (const row of [...LIST]) rows.push(row);',
    'let sum = 0; for (const row of rows) row.list.forEach((x: number) => { sum += x; });',
    'const calls = []; for (let i = 0; i < 3; i++) calls.push(() => i);',
    'for (const row of rows) if (row.late) await row; else row.x();',
    'for (const row of rows) { if (row.done) continue; await row; }',
    'for (let i = 0; i < Math.min(rows.length, 9); i++) rows[i] = 0;',
  ]) {
    assert.deepEqual(await reasons(within(body)), [''], body);
  }
});

void test('loops that others can see, or that see others, are left', async () => {
  for (const [body, reason] of [
    ['for (const row of rows) total += row.n;', /writes total, which code outside/],
    ['for (const row of rows) this.sum += row.n;', /writes this\.sum/],
    ['for (const row of rows) [rows.x, cache.y] = row;', /writes cache\.y/],
    ['for (const row of rows) ({ a: total = 2, ...rows.z } = row);', /writes total/],
    ['for (total of rows) rows.x();', /writes total/],
    ['for (const row of rows) delete cache[row];', /writes cache\[row\]/],
    ['for (const row of rows) cache.set(row, 1);', /changes cache/],
    ['for (const row of rows) cache?.set(row, 1);', /changes cache/],
    ['for (const row of rows) cache.get(row).list.push(1);', /changes cache\.get\(row\)\.list/],
    [
      'for (const row of rows) if (total > 3) row.x();',
      /reads total, which code outside the function changes/,
    ],
    ['for (const row of LIST) rows.push(row);', /iterates over LIST/],
    ['for (const [key] of this.all.entries()) rows.push(key);', /iterates over this\.all/],
    ['while (this.queue.length > 0) rows.push(1);', /bounded by this\.queue\.length/],
    ['for (let i = 0; i < LIST.length; i++) rows.push(i);', /bounded by LIST\.length/],
    [
      'let done = false; on(() => { done = true; }); while (!done) rows.push(1);',
      /shares done with a function/,
    ],
    ['let count = 0; on(() => count); for (const row of rows) count += row;', /shares count with a function/],
    ['for (const row of rows) await row;', /awaits in each iteration/],
    ['for (const row of rows) { try { await row; } catch {} }', /awaits in each iteration/],
    ['for await (const row of rows) row.x();', /awaits in each iteration/],
    ['for (const key in rows) rows[key] = 1;', /keys of one object/],
  ] as const) {
    const [only = '', ...more] = await reasons(within(body));
    assert.match(only, reason, body);
    assert.deepEqual(more, []);
  }
});

void test('a loop between a read and a write of what others see is left', async () => {
  const loop = 'let sum = 0; for (const row of rows) sum += row.n;';
  for (const [body, name] of [
    [`if (total > 3) return; ${loop} total -= 1;`, 'total'],
    [`const seen = total; ${loop} total = seen + sum;`, 'total'],
    [`total += 1; ${loop} total--;`, 'total'],
    [`if (isNone(total)) return; ${loop} total -= 1;`, 'total'],
    [`if (cache.has(on)) return cache.get(on); ${loop} cache.set(on, sum);`, 'cache'],
    [`if (cache?.has(on)) return; ${loop} cache?.set?.(on, sum);`, 'cache'],
    [`const { length } = LIST; ${loop} LIST[length] = sum;`, 'LIST[length]'],
    [`if (this.isBusy) return; ${loop} this.isBusy = true;`, 'this.isBusy'],
    [
      `const next = () => this.id; ${loop} this.id = next(); if (this.id) { ${loop} } [this.id] = [2];`,
      'this.id',
    ],
    [`if (on.left === 0) return; ${loop} if (sum > 0) { on.left -= 1; }`, 'on.left'],
    [`if (on.map.has(1)) return; ${loop} rows.forEach(() => on.map.delete(1));`, 'on.map'],
    [`${loop} (() => { delete rows[0]; })();`, 'rows[0]'],
    [`let sum = 0; for (let i = 0; i < on.size; i++) sum += i; on.size = sum;`, 'on.size'],
  ] as const) {
    const reason = `stands between a read and a write of ${name}, which other code can observe`;
    assert.ok((await reasons(within(body))).includes(reason), body);
  }
  for (const body of [
    `if (on.isOld) return; ${loop} on.body = sum;`,
    `await check(on); ${loop} on.body = sum;`,
    `total = 1; ${loop} total = 2;`,
    `total = 1; ${loop} return total;`,
    `cache.set(1, 2); ${loop} cache.set(2, sum);`,
    `on = on ?? []; ${loop} on = undefined;`,
    `if (total > 3) on(); ${loop} on(() => { total = 3; });`,
    `for (const row of rows) on.list.push(row); on.list.sort();`,
    `const own = []; own.push(1); ${loop} own[0] = sum;`,
    `if (total > 3) total = 2; ${loop}`,
  ]) {
    assert.deepEqual(await reasons(within(body)), [''], body);
  }
});

void test('a loop within a loop that others see is left too', async () => {
  const source = within('for (const row of rows) { total += 1; for (const cell of row) cell.x(); }');
  const [outer, inner] = await reasons(source);
  assert.match(outer ?? '', /^writes total/);
  assert.match(inner ?? '', /^stands in a loop that writes total/);
});

void test('loops where nothing can be awaited are left', async () => {
  for (const [source, reason] of [
    ['export function sync(rows: any) { for (const row of rows) row.x(); }', /not async/],
    ['export async function outer(rows: any) { rows.map((row: any) => { while (row.x()); }); }', /not async/],
    ['export async function* steps(rows: any) { for (const row of rows) yield row; }', /generator/],
    ['export const x = await 1; while (x()) x();', /top level/],
    ['export async function holds() { class A { static { for (;;) break; } } }', /static block/],
  ] as const) {
    const { loops, code } = await compiled(`/* @breathe */ ${source}`);
    assert.match(loops[0]?.reason ?? '', reason);
    assert.equal(loops[0]?.done, false);
    assert.equal(code, undefined);
  }
});

void test('a comment asks for a loop, answers for what others see, or keeps one as it is', async () => {
  const marks = `
    /** @breathe */
    export async function one(rows: any) { for (const row of rows) row.x(); }
    export const two = /* @breathe */ async (rows: any) => { while (rows.x()); };
    export class A { // @breathe
      async three(rows: any) { for (const row of rows) (this as any).sum += row; } }
    export async function four(rows: any) {
      // @breathe
      named: for (const row of rows) { for (const cell of row) if (cell) continue named; }
    }
    // It is no mark: foo@breathe.example
    export async function five(rows: any) { for (const row of rows) row.x(); }
    /* @breathe */
    export async function six(rows: any) { /* @breathe off */ for (const row of rows) row.x(); rows.map(async (row: any) => { while (row.x()); }); }
  `;
  const { loops } = await compiled(marks, {});
  const told = loops.map(({ name, done, reason }) => [name, done, reason]);
  assert.deepEqual(told, [
    ['one', true, ''],
    ['two', true, ''],
    ['three', true, 'writes (this as any).sum, which code outside the function can read'],
    ['four', true, ''],
    ['four', true, ''],
    ['five', false, 'is not marked with @breathe'],
    ['six', false, 'is marked with @breathe off'],
    ['', false, 'is not marked with @breathe'],
  ]);
});

void test('a mark is meant for the loop behind it', async () => {
  for (const [code, done] of [
    ['// @breathe-off\n LOOP', false],
    ['/* @breathe: off */ LOOP', false],
    ['/* @breathe\toff */ LOOP', false],
    ['// @breather\n LOOP', false],
    ['// @breathe-later\n LOOP', false],
    ['rows.x(); // not an @breathe loop\n LOOP', false],
    ['rows.x(); // one more\n // @breathe\n LOOP', true],
    ['rows.x(); /* @breathe */ LOOP', true],
    ['// @breathe\n LOOP', true],
    ['/* @breathe: offers are many */ LOOP', true],
    ['if (rows.x) { // @breathe\n LOOP }', true],
  ] as const) {
    const body = code.replace('LOOP', 'for (const row of rows) row.x();');
    const source = `export async function work(rows) {\n ${body} }`;
    assert.equal((await compiled(source, {}, '/a.js')).loops[0]?.done, done, code);
  }
});

void test('what gets an import or a require is said by syntax, path, and names, in this order', async () => {
  const LOOP = '(async () => { /* @breathe */ for (const row of [1]) console.log(row); })();';
  for (const [path, source, isImport] of [
    ['/a.cjs', LOOP, false],
    ['/a.cts', LOOP, false],
    ['/a.cjs', `import('x'); ${LOOP}`, false],
    ['/a.cts', `import x from 'x'; ${LOOP}`, true],
    ['/a.mjs', `require; ${LOOP}`, true],
    ['/a.js', LOOP, true],
    ['/a.js', `require; ${LOOP}`, false],
  ] as const) {
    const { code = '' } = await compiled(source, {}, path);
    assert.equal(/import \{ Breather/.test(code), isImport, `${path} ${source}`);
    assert.equal(/require\("@sluice\/breathe"\)/.test(code), !isImport, `${path} ${source}`);
  }
  const script = await transformAsync(LOOP, {
    babelrc: false,
    configFile: false,
    sourceType: 'script',
    plugins: [babelPlugin],
  });
  assert.match(script?.code ?? '', /require\("@sluice\/breathe"\)/);
});

void test('other code runs between two turns, once the budget is used up', async () => {
  const source = `export async function work(rows) {
    let sum = 0;
    for (let i = 0; i < rows; i++) for (let end = performance.now() + 1; performance.now() < end; ) sum += 1;
    return sum > 0;
  }`;
  const { code = '' } = await compiled(source, { loops: 'all', budget_ms: 5 }, '/app.js');
  assert.match(code, /^import \{ Breather as _Breather \} from "@sluice\/breathe";\n/);
  const body = code.replace(/^import .*\n/, '').replace('export ', 'return ');
  // oxlint-disable-next-line typescript/no-implied-eval -- what the compiler wrote
  const work = new Function('_Breather', body)(Breather) as (rows: number) => Promise<boolean>;
  let turns = 0;
  const turn = (): void => {
    turns += 1;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  assert.equal(await work(100), true);
  clearImmediate(next);
  assert.ok(turns >= 2, `${turns} turns`);
});

void test('CommonJS gets a require, names in use are left alone, types and JSX stay', async () => {
  const common = await compiled(
    'const _Breather = 1; module.exports = async (rows) => { for (const row of rows) row.x(); };',
    { loops: 'all' },
    '/app.cjs',
  );
  assert.match(
    common.code ?? '',
    /Breather: _Breather2\s*\} = require\("@sluice\/breathe"\);\nconst _Breather = 1;/,
  );
  const typed = await compiled('export async function f(a: any) { while (a.x()) <any>a; }');
  assert.match(typed.code ?? '', /<any>\s*a/);
  const page = 'export async function Page({ a }) { for (const b of a) b(); return <p>{a}</p>; }';
  assert.match((await compiled(page, { loops: 'all' }, '/page.jsx')).code ?? '', /<p>\{a\}<\/p>/);
});

void test('a budget out of range is refused in words', async () => {
  await assert.rejects(compiled('for (;;) break;', { budget_ms: 0 }), /budget_ms is 0; .* from 0\.1 to 1000/);
});
