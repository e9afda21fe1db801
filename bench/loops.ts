// Cost of the checks that `@sluice/compiler/loops` writes into loops: CPU time of an async function with a loop as written and as compiled,
// by the number of its turns. The body is as cheap as one gets: it adds a number of an object to a sum.
//
//   npx tsx bench/loops.ts
import { Breather } from '@sluice/breathe';
import { compileLoops } from '@sluice/compiler/loops';

const SOURCE = `/* @breathe */
async function sum(rows) {
  let sum = 0;
  for (const row of rows) sum += row.price;
  return sum;
}`;
const ROUNDS = 5;

type Sum = (rows: readonly { readonly price: number }[]) => Promise<number>;

function load(code: string): Sum {
  const body = code.replace(/^import .*\n/, '');
  // oxlint-disable-next-line typescript/no-implied-eval -- what the compiler wrote
  return new Function('_Breather', `${body}; return sum;`)(Breather) as Sum;
}

function cpu_us(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

const compiled = await compileLoops(SOURCE, '/sum.js');
if (compiled === undefined) throw new Error('the loop was not compiled');
const ways = { written: load(SOURCE), compiled: load(compiled.code) };
console.log(`Node.js ${process.version}, CPU time in ns, least of ${ROUNDS} rounds`);
for (const turns of [1, 4, 10, 100, 10_000, 1_000_000]) {
  const rows = Array.from({ length: turns }, (_, at) => ({ price: at % 97 }));
  const calls = Math.ceil(4_000_000 / (turns + 30));
  const least_ns = { written: Infinity, compiled: Infinity };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const way of ['written', 'compiled'] as const) {
      const from_us = cpu_us();
      for (let call = 0; call < calls; call += 1) await ways[way](rows);
      least_ns[way] = Math.min(least_ns[way], ((cpu_us() - from_us) * 1000) / calls);
    }
  }
  const more_ns = (least_ns.compiled - least_ns.written) / turns;
  console.log(
    `${turns} turns: ${least_ns.written.toFixed(0)} as written, ${least_ns.compiled.toFixed(0)} as compiled, ${more_ns.toFixed(1)} more a turn`,
  );
}
