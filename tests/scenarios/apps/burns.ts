// An app with the faults that `sluice hotspots` is to name. A test compiles it, so that lines of what runs are others than these.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

interface Fault {
  readonly path: string;
  readonly run: () => number;
}

interface Kept {
  readonly text: string;
  readonly next: readonly number[];
}

const file = process.env['BURNS_FILE'] ?? '';
const text = readFileSync(file, 'utf8');

function matchSlowly(): number {
  return Number(/^(a+)+$/.test(`${'a'.repeat(23)}!`));
}

function readWhole(): number {
  let bytes = 0;
  for (let at = 0; at < 10; at += 1) bytes += readFileSync(file).length;
  return bytes;
}

function parseWhole(): number {
  return Object.keys(JSON.parse(text) as object).length;
}

function litter(): number {
  let kept: Kept[] = [];
  for (let at = 0; at < 1_000_000; at += 1) {
    kept.push({ text: `item ${at}`, next: [at, at + 1] });
    if (kept.length > 200_000) kept = [];
  }
  return kept.length;
}

const faults: readonly Fault[] = [
  { path: '/regex', run: matchSlowly },
  { path: '/read', run: readWhole },
  { path: '/parse', run: parseWhole },
  { path: '/litter', run: litter },
];

if (process.env['PORT'] === undefined) {
  for (const { run } of faults) run();
} else {
  createServer((request, response) => {
    const fault = faults.find(({ path }) => path === request.url);
    response.end(String(fault?.run() ?? 0));
  }).listen(Number(process.env['PORT']));
}
