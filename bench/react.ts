// What a render of React costs on the server: CPU per render with garbage collection and encoding, fresh data each time;
// time to the first byte; memory. Against react-dom, and on the listing against other libraries.
//
//   NODE_ENV=production npx tsx bench/react.ts [--quick] [--runs N] [--only listing,table,libraries]
//
// In a process all that render a page take turns. What the optimizing compiler makes of them differs by process, so CPU time is
// measured in several. A figure is the median over the rounds; a ratio is the median of the rounds' ratios.
import { execFileSync } from 'node:child_process';
import { readOptions, type Options } from './lib/options.ts';
import { conclude, describe, median, mebibytes, printTable, short, type Bar } from './lib/report.ts';
import { build, built } from './react/lib/build.ts';
import { libraryPages } from './react/lib/libraries.ts';
import { checkPages } from './react/lib/same.ts';
import { installIfStale } from '../tests/conformance/prepare.ts';
import { ownRuntime, runtimeFor } from '../tests/conformance/runtime.ts';

if (process.env['NODE_ENV'] !== 'production') throw new Error('run this with NODE_ENV=production');

type Figures = Record<string, number[]>;
const apis = ['renderToString', 'renderToBuffer', 'renderToPipeableStream', 'renderToReadableStream'];
/** Counterpart of react-dom. */
const stockOf = (api: string): string => `react-dom ${api === 'renderToBuffer' ? 'renderToString' : api}`;
const measure_timeout_ms = 30 * 60_000;
const processes_cpu = 3;

const options: Options = readOptions({ runs: 15, runsQuick: 3, workers: 1 });
await installIfStale(`${import.meta.dirname}/react`, ownRuntime.bin);
const about = describe('React on the server', options);
await build();
const only = options.only.flatMap((name) => (name === 'libraries' ? libraryPages : [name]));
const { names: pages, sizes } = await checkPages(only);
const newer = await runtimeFor('24.0.0', true);
const nodes = [ownRuntime, ...(newer === undefined || newer.version === ownRuntime.version ? [] : [newer])];

const bars: Bar[] = [];
const data: Record<string, unknown> = { sizes };
for (const page of pages) {
  const { elements, bytes } = sizes[page] ?? { elements: 0, bytes: 0 };
  for (const node of options.quick && page !== 'listing' ? [ownRuntime] : nodes) {
    const cpu = measured('cpu', page, node.bin);
    const memory = measured('memory', page, node.bin);
    const first = measured('first-byte', page, node.bin);
    console.log(`${page}: ${elements} elements, ${bytes} bytes; Node ${node.version.slice(1)}\n`);
    print(cpu, memory, first);
    const where = `${page}, Node ${node.version.slice(1)}`;
    judge(where, page, cpu, memory, first);
    const server = page === 'listing' ? served(page, node.bin, Object.keys(cpu)) : undefined;
    if (server !== undefined) judgeServer(where, server);
    data[`${page} ${node.version}`] = { cpu, memory, first, server };
  }
}
conclude('react', options, about, bars, data);

function measured(what: 'cpu' | 'memory' | 'first-byte', page: string, bin: string): Figures {
  const flags =
    what === 'memory' ? ['--expose-gc', '--min-semi-space-size=256', '--max-semi-space-size=256'] : [];
  const processes = what === 'cpu' && !options.quick ? processes_cpu : 1;
  const runs = Math.ceil((what === 'cpu' ? options.runs : Math.min(options.runs, 7)) / processes);
  const length = options.quick ? 'short' : 'long';
  const all = Array.from({ length: processes }, () => {
    const command = [...flags, built('measure'), what, page, String(runs), length];
    const output = execFileSync(`${bin}/node`, command, {
      encoding: 'utf8',
      timeout: measure_timeout_ms,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return JSON.parse(output.trim().split('\n').at(-1) ?? '{}') as Figures;
  });
  const names = Object.keys(all[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, all.flatMap((figures) => figures[name] ?? [])]));
}

/** Each behind an HTTP server of its own, as in production: in one process they would share what the compiler has learnt. */
function served(page: string, bin: string, names: readonly string[]): Figures {
  const measuredNames = names.filter((name) => apis.some((api) => name.endsWith(api)));
  const figures: Figures = Object.fromEntries(measuredNames.map((name) => [name, []]));
  const rounds = options.quick ? 1 : 5;
  for (let round = 0; round < rounds; round += 1)
    for (const name of measuredNames) {
      const command = [built('measure'), 'server', page, '3', options.quick ? 'short' : 'long', name];
      const output = execFileSync(`${bin}/node`, command, { encoding: 'utf8', timeout: measure_timeout_ms });
      const found = JSON.parse(output.trim().split('\n').at(-1) ?? '{}') as Figures;
      figures[name]?.push(median(found[name] ?? []));
    }
  return figures;
}

function print(cpu: Figures, memory: Figures, first: Figures): void {
  const rows = Object.entries(cpu).map(([name, values]) => {
    const api = apis.find((each) => name.endsWith(each));
    const stock = cpu[stockOf(api ?? 'renderToString')];
    return [
      name,
      short(median(values)),
      stock === undefined ? '-' : `${short(ratio(stock, values))}×`,
      short(median(first[name] ?? [])),
      mebibytes(median(memory[name] ?? [])),
    ];
  });
  printTable(['renders', 'CPU ms', 'against react-dom', 'first byte ms', 'memory'], rows);
}

/** Ratios of the first cost to the second, round by round. */
function ratio(expected: number[], actual: number[]): number {
  return median(expected.map((value, round) => value / (actual[round] ?? Number.NaN)));
}

function judge(where: string, page: string, cpu: Figures, memory: Figures, first: Figures): void {
  for (const [side, least] of [
    ['sluice', { renderToString: 1.7, renderToPipeableStream: 3 }],
    ['sluice, compiled', { renderToString: 2.7, renderToPipeableStream: 5 }],
  ] as const)
    for (const api of apis) {
      const [stock, own] = [stockOf(api), `${side} ${api}`];
      const wanted = page === 'listing' ? ((least as Record<string, number>)[api] ?? 1) : 1;
      const speed = ratio(cpu[stock] ?? [], cpu[own] ?? []);
      if (Number.isNaN(speed)) continue;
      add(`${where}: CPU, ${own}`, `≥ ${wanted}×`, `${short(speed)}×`, speed >= wanted);
      const share = median(memory[own] ?? []) / median(memory[stock] ?? []);
      add(`${where}: memory, ${own}`, '≤ 1×', `${short(share)}×`, share <= 1);
      if (!api.endsWith('Stream')) continue;
      const wait = median(first[own] ?? []) / median(first[stock] ?? []);
      add(`${where}: first byte, ${own}`, '≤ 1×', `${short(wait)}×`, wait <= 1);
    }
}

/** The listing behind an HTTP server. */
function judgeServer(where: string, figures: Figures): void {
  const wanted: Record<string, number> = {
    'sluice renderToString': 2.2,
    'sluice renderToBuffer': 2.2,
    'sluice renderToPipeableStream': 4,
    'sluice, compiled renderToString': 3,
    'sluice, compiled renderToBuffer': 3,
    'sluice, compiled renderToPipeableStream': 5,
  };
  const rows = Object.entries(figures).map(([name, values]) => {
    const api = apis.find((each) => name.endsWith(each)) ?? '';
    const speed = ratio(figures[stockOf(api)] ?? [], values);
    const least = wanted[name];
    if (least !== undefined)
      add(`${where}: CPU in an HTTP server, ${name}`, `≥ ${least}×`, `${short(speed)}×`, speed >= least);
    return [name, short(median(values)), `${short(speed)}×`];
  });
  printTable(['in an HTTP server', 'CPU ms', 'against react-dom'], rows);
}

function add(what: string, bar: string, figure: string, met: boolean): void {
  bars.push({ what, bar, figure, met });
}
