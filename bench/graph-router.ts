// CPU time of a router of JSON Graph: 60 titles with six fields each, behind references, against falcor-router, and against graphql-js with
// DataLoader, which answers the same from a list of its schema. All get their titles from one function, and make the text of the answer.
//
//   npx tsx bench/graph-router.ts [--quick] [--runs N]
//
// In a process all take turns. The optimizing compiler's results differ by process, so several are measured. A figure is the median over
// the rounds; a ratio is the median of the rounds' ratios.
import { execFileSync } from 'node:child_process';
import { installFromNpm, versionIn } from './lib/npm.ts';
import { readOptions } from './lib/options.ts';
import { conclude, describe, median, printTable, type Bar } from './lib/report.ts';

const bars_times: Readonly<Record<string, number>> = { 'falcor-router': 5, 'graphql-js + DataLoader': 2 };
const own = '@sluice/graph';
const measure_timeout_ms = 10 * 60_000;

const options = readOptions({ runs: 15, runsQuick: 3, workers: 1 });
const peers = installFromNpm(
  'graph',
  ['falcor-router@0.8.3', 'graphql@17.1.0', 'dataloader@2.2.3'],
  'dataloader',
);
const about = {
  ...describe('A router of JSON Graph', options),
  ...Object.fromEntries(
    ['falcor-router', 'graphql', 'dataloader'].map((name) => [name, versionIn(peers, name)]),
  ),
};
const processes = options.quick ? 1 : 3;
const rounds = Math.ceil(options.runs / processes);
const figures: Record<string, number[]> = {};
for (let at = 0; at < processes; at += 1) {
  for (const [name, values] of Object.entries(measured())) (figures[name] ??= []).push(...values);
}

const ours = figures[own] ?? [];
const columns = ['router', 'CPU per answer, µs', 'answers per CPU second', `× ${own}`];
printTable(
  columns,
  Object.entries(figures).map(([name, values]) => [
    name,
    median(values).toFixed(0),
    (1e6 / median(values)).toFixed(0),
    timesOf(values).toFixed(2),
  ]),
);
const bars: Bar[] = Object.entries(bars_times).map(([name, least]) => {
  const times = timesOf(figures[name] ?? []);
  return {
    what: `answers per CPU second, ${own} against ${name}`,
    bar: `≥ ${least} ×`,
    figure: `${times.toFixed(2)} ×`,
    met: times >= least,
  };
});
conclude('graph-router', options, about, bars, figures);

/** CPU time as a multiple of ours, by rounds. */
function timesOf(values: readonly number[]): number {
  return median(values.map((value, round) => value / (ours[round] ?? Number.NaN)));
}

function measured(): Record<string, number[]> {
  const batch_ms = options.quick ? '30' : '150';
  const args = [
    '--import',
    'tsx',
    `${import.meta.dirname}/graph/measure.ts`,
    peers,
    String(rounds),
    batch_ms,
  ];
  const output = execFileSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'production' },
    timeout: measure_timeout_ms,
  });
  return JSON.parse(output) as Record<string, number[]>;
}
