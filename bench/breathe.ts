// Loops of `@sluice/breathe` against plain ones, in one worker behind a gateway: CPU time of the main thread for the same items, while
// nobody waits and while somebody does, and how long others wait for an answer beside a loop.
//
//   npx tsx bench/breathe.ts [--quick] [--runs N] [--ms N]
//
// Somebody waits in two ways. Held: another request shares the worker and waits itself, so that a loop yields after each budget
// and nothing else runs. Beside: a client asks for something light every 20 ms. What such a request costs is measured
// without a loop, and taken off the loop's CPU time by the number of them. CPU time is told, not the clock's, as the machine has other
// work; the loops take turns in each round.
import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { app } from '../tests/support/sluice.ts';
import { readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, median, percent, printTable, short } from './lib/report.ts';
import { startSluiceServer } from './lib/servers.ts';

const BUDGET_MS = 10;
const OTHERS_EVERY_MS = 20;
const ALONE_COST_MAX = 0.01;
const COMPANY_COST_MAX = 0.05;
const OTHERS_P95_MS_MAX = BUDGET_MS + 10;
/** Items of a loop, and how it is written. The first is too cheap for its form, and has no bar. */
const LOOPS = [
  { form: 'breathing', item_us: 10, hasBar: false },
  { form: 'breathing', item_us: 50, hasBar: true },
  { form: 'breather', item_us: 1, hasBar: true },
] as const;

interface Told {
  cpu_us: number;
  took_ms: number;
  yields: number;
  beside: number;
}

type Company = 'nobody' | 'held' | 'beside';

interface Figure {
  form: string;
  item_us: number;
  company: Company;
  round: number;
  /** CPU time of the loop over that of the plain one. */
  ratio: number;
  yields: number;
  took_ms: number;
}

const options = readOptions({ runs: 9, runsQuick: 2, workers: 1, numbers: { ms: [1_000, 200] } });
const { ms: loop_ms = 0 } = options.numbers;
const about = describe('Loops that let others in', options);
const server = await startSluiceServer({ entry: app('breathes.js'), workers: 1 });
const [target = ''] = server.targets;
const agent = new http.Agent({ keepAlive: true });

function get(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.get(`http://${target}${path}`, { agent }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => (response.statusCode === 200 ? resolve(body) : reject(new Error(body))));
    });
    request.on('error', reject);
  });
}

async function loop(form: string, item_us: number): Promise<Told> {
  const items = Math.round((loop_ms * 1000) / item_us);
  return JSON.parse(
    await get(`/loop?form=${form}&item_us=${item_us}&items=${items}&budget_ms=${BUDGET_MS}`),
  ) as Told;
}

/** CPU time of the worker for a light request while it does nothing else, in microseconds. */
async function lightCost_us(): Promise<number> {
  const asked = options.quick ? 50 : 300;
  const used_us = async (): Promise<number> => Number(await get('/cpu'));
  const before_us = await used_us();
  for (let count = 0; count < asked; count += 1) {
    await get('/light');
    await wait(2);
  }
  return ((await used_us()) - before_us) / asked;
}

/** Asks every 20 ms until it is stopped; how long each answer took, milliseconds. */
function askBeside(): { stop: () => Promise<number[]> } {
  let isOver = false;
  const waited: number[] = [];
  const asking = (async () => {
    while (!isOver) {
      const began = performance.now();
      await get('/light');
      waited.push(performance.now() - began);
      await wait(OTHERS_EVERY_MS);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await asking;
      // The last was answered after the loop.
      return waited.slice(0, -1);
    },
  };
}

const figures: Figure[] = [];
const others_ms = new Map<string, number[]>();
let light_us = 0;

async function measure(round: number, form: string, item_us: number): Promise<void> {
  for (const company of ['nobody', 'held', 'beside'] as const) {
    const plain = await loop('plain', item_us);
    // Until its client leaves.
    const held = company === 'held' ? http.get(`http://${target}/hold`).on('error', () => {}) : undefined;
    if (held !== undefined) await wait(50);
    const asking = company === 'beside' ? askBeside() : undefined;
    const told = await loop(form, item_us);
    const waited = (await asking?.stop()) ?? [];
    held?.destroy();
    if (round < 0) continue;
    const own_us = told.cpu_us - told.beside * light_us;
    figures.push({
      form,
      item_us,
      company,
      round,
      ratio: own_us / plain.cpu_us,
      yields: told.yields,
      took_ms: told.took_ms,
    });
    const key = `${form} ${item_us}`;
    others_ms.set(key, [...(others_ms.get(key) ?? []), ...waited]);
  }
}

try {
  // Compiled, and learned: the first round is not counted.
  for (const { form, item_us } of LOOPS) await measure(-1, form, item_us);
  light_us = await lightCost_us();
  for (let round = 0; round < options.runs; round += 1) {
    process.stderr.write(`round ${round + 1} of ${options.runs}\n`);
    for (const { form, item_us } of LOOPS) await measure(round, form, item_us);
  }
} finally {
  agent.destroy();
  await server.stop();
}

const of = (form: string, item_us: number, company: Company): Figure[] =>
  figures.filter((each) => each.form === form && each.item_us === item_us && each.company === company);
const cost = (form: string, item_us: number, company: Company): number =>
  median(of(form, item_us, company).map(({ ratio }) => ratio)) - 1;
const perSecond = (form: string, item_us: number, company: Company): number =>
  median(of(form, item_us, company).map(({ yields, took_ms }) => (1000 * yields) / took_ms));
function p95(form: string, item_us: number): number {
  const sorted = (others_ms.get(`${form} ${item_us}`) ?? []).toSorted((one, other) => one - other);
  return sorted[Math.ceil(0.95 * sorted.length) - 1] ?? Number.NaN;
}

printTable(
  ['loop', 'item, µs', 'nobody waits', 'held', 'beside', 'yields/s', 'held', 'beside', 'others p95, ms'],
  LOOPS.map(({ form, item_us }) => [
    form,
    item_us,
    ...(['nobody', 'held', 'beside'] as const).map((company) => percent(cost(form, item_us, company))),
    ...(['nobody', 'held', 'beside'] as const).map((company) => short(perSecond(form, item_us, company))),
    short(p95(form, item_us)),
  ]),
);
console.log(`A light request costs the worker ${short(light_us)} µs of CPU time.\n`);

const bars = LOOPS.filter(({ hasBar }) => hasBar).flatMap(({ form, item_us }): Bar[] => {
  const [alone, held, beside] = [
    cost(form, item_us, 'nobody'),
    cost(form, item_us, 'held'),
    cost(form, item_us, 'beside'),
  ];
  const others = p95(form, item_us);
  const name = `${form}, items of ${item_us} µs`;
  return [
    {
      what: `${name}: slower when nobody waits`,
      bar: `≤ ${percent(ALONE_COST_MAX)}`,
      figure: percent(alone),
      met: alone <= ALONE_COST_MAX,
    },
    {
      what: `${name}: slower when somebody waits`,
      bar: `≤ ${percent(COMPANY_COST_MAX)}`,
      figure: percent(Math.max(held, beside)),
      met: Math.max(held, beside) <= COMPANY_COST_MAX,
    },
    {
      what: `${name}: p95 of others`,
      bar: `≤ ${OTHERS_P95_MS_MAX} ms`,
      figure: `${short(others)} ms`,
      met: others <= OTHERS_P95_MS_MAX,
    },
  ];
});
conclude('breathe', options, about, bars, { figures, light_us, others_ms: Object.fromEntries(others_ms) });
