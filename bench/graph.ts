// Model of `@sluice/graph`: CPU time of reading 360 cached values against Falcor, Apollo Client and a plain tree of objects, memory over
// many writes at a bound, and bytes in a browser.
//
//   npx tsx bench/graph.ts [--quick] [--runs N] [--reads N] [--writes N]
//
// The readers take turns within each round in one process; a figure is the median over the rounds. References: the items of lists are
// references to titles, as graphs have them. The bars are for reads of one name; reads of eight names by turns are shown beside.
// Apollo Client gives the same object again while nothing changes, unless that is switched off: both are shown. By path: a function that reads the tree by the same path set. By hand: loops written for
// this path, which no library can be as fast as.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { installFromNpm, versionIn } from './lib/npm.ts';
import { readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, mebibytes, median, printTable, short } from './lib/report.ts';

const FALCOR_RATIO_MIN = 5;
const PLAIN_RATIO_MAX = 3;
const GZIP_BYTES_MAX = 10 * 1024;
const BOUND_BYTES = 10 * 1024 * 1024;
const HEAP_GROWTH_MAX = 1.1;

interface Reads {
  readonly figures: Readonly<Record<string, number[]>>;
  readonly falcor: string;
}

interface Memory {
  readonly heaps: readonly number[];
  readonly most: number;
  readonly dangling: number;
}

const options = readOptions({
  runs: 15,
  runsQuick: 3,
  workers: 1,
  numbers: { reads: [500, 200], writes: [1_000_000, 50_000] },
});
const peers = installFromNpm(
  'graph-model',
  ['@apollo/client@4.3.8', 'graphql@17.1.0', 'rxjs@7.8.2'],
  '@apollo/client',
);
const about = {
  ...describe('Model of a graph', options),
  '@apollo/client': versionIn(peers, '@apollo/client'),
};
const { reads = 0, writes = 0 } = options.numbers;

const file = (name: string): string => fileURLToPath(new URL(`graph/${name}`, import.meta.url));
const run = (flags: string[], name: string, args: (number | string)[]): unknown =>
  JSON.parse(
    execFileSync(process.execPath, [...flags, file(name), ...args.map(String)], { encoding: 'utf8' }),
  );

const { figures, falcor } = run([], 'reads.mjs', [options.runs, reads, 1, `${peers}/`]) as Reads;
const { figures: ofEight } = run([], 'reads.mjs', [options.runs, reads, 8, `${peers}/`]) as Reads;
const readers = Object.keys(figures);
const medianOf = (name: string): number => median(figures[name] ?? []) / 1000;
printTable(
  ['360 values', 'µs a read', 'ns a value', 'µs, eight names'],
  readers.map((name) => [
    name,
    short(medianOf(name)),
    short((medianOf(name) * 1000) / 360),
    short(median(ofEight[name] ?? []) / 1000),
  ]),
);

const memory = run(['--expose-gc'], 'memory.mjs', [BOUND_BYTES, writes]) as Memory;
printTable(
  [`after writes, of ${writes}`, 'heap'],
  memory.heaps.map((bytes, at) => [(writes / 10) * (at + 1), mebibytes(bytes)]),
);

const graphRequire = createRequire(new URL('../packages/graph/package.json', import.meta.url));
const { buildSync } = graphRequire('esbuild') as typeof import('esbuild');
const { outputFiles } = buildSync({
  entryPoints: [file('browser.mjs')],
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  absWorkingDir: fileURLToPath(new URL('../packages/graph', import.meta.url)),
});
const bundle = outputFiles[0]?.contents ?? new Uint8Array();
const gzipBytes = gzipSync(bundle, { level: 9 }).length;
console.log(`In a browser: ${bundle.length} bytes, ${gzipBytes} with gzip\n`);

const ratio = (over: string, under: string): number => medianOf(over) / medianOf(under);
const [warm = 0] = memory.heaps.slice(4);
const growth = (memory.heaps.at(-1) ?? 0) / warm;
const bars: Bar[] = ['references', 'no references'].flatMap((kind) => {
  const theirs = ratio(`falcor, ${kind}`, `sluice, ${kind}`);
  const plain = ratio(`sluice, ${kind}`, 'plain tree, by path');
  const byHand = ratio(`sluice, ${kind}`, 'plain tree, by hand');
  return [
    bar(
      `CPU time of falcor ${falcor} over ours, ${kind}`,
      theirs,
      theirs >= FALCOR_RATIO_MIN,
      `≥ ${FALCOR_RATIO_MIN}`,
    ),
    bar(`ours over a plain tree by path, ${kind}`, plain, plain <= PLAIN_RATIO_MAX, `≤ ${PLAIN_RATIO_MAX}`),
    bar(`ours over a plain tree by hand, ${kind}`, byHand, byHand <= PLAIN_RATIO_MAX, `≤ ${PLAIN_RATIO_MAX}`),
  ];
});
bars.push(
  bar('heap at the end over half-way', growth, growth <= HEAP_GROWTH_MAX, `≤ ${HEAP_GROWTH_MAX}`),
  bar('estimated bytes over the bound', memory.most / BOUND_BYTES, memory.most <= BOUND_BYTES, '≤ 1'),
  bar('references that led to a wrong value', memory.dangling, memory.dangling === 0, '0'),
  bar('bytes of the model with gzip', gzipBytes, gzipBytes <= GZIP_BYTES_MAX, `≤ ${GZIP_BYTES_MAX}`),
);
conclude('graph', options, about, bars, { figures, ofEight, memory, bytes: bundle.length, gzipBytes });

function bar(what: string, figure: number, met: boolean, limit: string): Bar {
  return { what, bar: limit, figure: short(figure), met };
}
