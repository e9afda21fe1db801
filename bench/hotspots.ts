// The cost of `sluice hotspots` on a profile of 100 MB: time from start to end, and the most memory of its process and of the one
// that reads source maps, each by the kernel's word (VmHWM).
//
//   npx tsx bench/hotspots.ts [--quick] [--runs N] [--megabytes N]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { repositoryDir } from '../tests/support/sluice.ts';
import { readOptions } from './lib/options.ts';
import { familyOf } from './lib/processes.ts';
import { conclude, describe, printTable } from './lib/report.ts';
import { pidOf, temporaryDir } from './lib/run.ts';

const SECONDS_MAX = 10;
const MEGABYTES_MAX = 1000;
const FUNCTIONS = 4000;
const DEPTH = 40;

const options = readOptions({
  runs: 3,
  runsQuick: 1,
  workers: 1,
  numbers: { megabytes: [100, 100] },
});
const { megabytes = 100 } = options.numbers;
const binary = process.env['SLUICE_BINARY'] ?? path.join(repositoryDir, 'gateway/target/release/sluice');
const directory = temporaryDir('sluice-hotspots-');
const about = describe('Hotspots of a large profile', options);

/** Half of it nodes, as large apps have, and the rest samples. The functions are in scripts that are there, with maps. */
function writeProfile(file: string): { nodes: number; samples: number } {
  const out = fs.openSync(file, 'w');
  let bytes = 0;
  let pieces: string[] = [];
  const write = (text: string): void => {
    bytes += text.length;
    pieces.push(text);
    if (pieces.length < 10_000) return;
    fs.writeSync(out, pieces.join(''));
    pieces = [];
  };
  const scripts = Array.from({ length: 20 }, (_, at) => script(path.join(directory, `script${at}.js`)));
  const half = (megabytes * 1_000_000) / 2;
  write(
    '{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","url":"","lineNumber":-1,"columnNumber":-1}},',
  );
  write(
    '{"id":2,"parent":1,"callFrame":{"functionName":"(idle)","url":"","lineNumber":-1,"columnNumber":-1}}',
  );
  let nodes = 2;
  while (bytes < half) {
    nodes += 1;
    const at = (nodes * 7919) % FUNCTIONS;
    const callFrame = {
      functionName: `function${at}`,
      scriptId: String(at % scripts.length),
      url: `file://${scripts[at % scripts.length]}`,
      lineNumber: at % 1000,
      columnNumber: 2,
    };
    const parent = nodes % DEPTH === 3 ? 1 : nodes - 1;
    const positionTicks = [{ line: (at % 1000) + 2, ticks: 1 }];
    write(`,${JSON.stringify({ id: nodes, parent, callFrame, hitCount: 1, positionTicks })}`);
  }
  write('],"startTime":0,"samples":[2');
  let samples = 1;
  // A third of the text is times.
  for (const end = half + half * 0.66; bytes < end; samples += 1) {
    write(`,${samples % 97 === 0 ? 2 : 3 + Math.floor(Math.abs(Math.sin(samples)) * (nodes - 3))}`);
  }
  write('],"timeDeltas":[0');
  for (let at = 1; at < samples; at += 1) write(',500');
  write(`],"endTime":${samples * 500}}`);
  fs.writeSync(out, pieces.join(''));
  fs.closeSync(out);
  return { nodes, samples };
}

/** A script of a thousand lines with a map that moves each by one. */
function script(file: string): string {
  const mappings = `AAAA${';AACA'.repeat(999)}`;
  const map = JSON.stringify({ version: 3, sources: [`${path.basename(file)}.ts`], names: [], mappings });
  const comment = 'sourceMappingURL';
  const lines = 'function f() {}\n'.repeat(1000);
  fs.writeFileSync(file, `${lines}//# ${comment}=data:application/json,${encodeURIComponent(map)}\n`);
  return file;
}

function peakBytes(pid: number): number {
  try {
    const found = /VmHWM:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(found?.[1] ?? 0) * 1024;
  } catch {
    return 0; // It has ended.
  }
}

async function look(file: string): Promise<{ seconds: number; bytes: number }> {
  const peaks = new Map<number, number>();
  const started = performance.now();
  const child = spawn(binary, ['hotspots', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const timer = setInterval(() => {
    for (const pid of familyOf(pidOf(child))) peaks.set(pid, Math.max(peaks.get(pid) ?? 0, peakBytes(pid)));
  }, 20);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(timer);
  if (code !== 0) throw new Error(`sluice hotspots left with ${code}`);
  const bytes = [...peaks.values()].reduce((sum, peak) => sum + peak, 0);
  return { seconds: (performance.now() - started) / 1000, bytes };
}

const file = path.join(directory, 'large.cpuprofile');
const { nodes, samples } = writeProfile(file);
const size = fs.statSync(file).size;
console.log(`${(size / 1e6).toFixed(0)} MB, ${nodes} nodes, ${samples} samples\n`);
const runs: { seconds: number; bytes: number }[] = [];
for (let run = 0; run < options.runs; run += 1) runs.push(await look(file));
printTable(
  ['run', 'seconds', 'MB at most'],
  runs.map(({ seconds, bytes }, at) => [at + 1, seconds.toFixed(2), (bytes / 1e6).toFixed(0)]),
);
const seconds = Math.max(...runs.map((run) => run.seconds));
const peak = Math.max(...runs.map((run) => run.bytes)) / 1e6;
const bars = [
  { what: 'time', bar: `< ${SECONDS_MAX} s`, figure: `${seconds.toFixed(2)} s`, met: seconds < SECONDS_MAX },
  {
    what: 'memory',
    bar: `< ${MEGABYTES_MAX} MB`,
    figure: `${peak.toFixed(0)} MB`,
    met: peak < MEGABYTES_MAX,
  },
];
conclude('hotspots', options, about, bars, { size, nodes, samples, runs });
