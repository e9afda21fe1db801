// Records visitors of the example shop who come in bursts, for the simulation of the autoscaler (`gateway/plan/tests/scaling.rs`).
//
//   npx tsx bench/record-bursts.ts gateway/plan/tests/bursts/recorded.txt [--from access.log]
//
// The shop runs with two workers, and `demo-load.ts` is its visitors: 4 of them, and twice 40 for three quarters of a minute. One line is one request for
// a worker: milliseconds since the one before, number of its class, service time and CPU time in tenths of milliseconds. The CPU time is `-`
// where it was not measured. `--from` makes the file of a log that is there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { repositoryDir, startSluice } from '../tests/support/sluice.ts';
import { storefrontEntry } from './lib/storefront.ts';

/** Visitors, and seconds for which there are so many. */
const BURSTS: readonly [visitors: number, seconds: number][] = [
  [4, 60],
  [40, 45],
  [4, 75],
  [40, 45],
  [4, 60],
];

interface Access {
  event: string;
  time: string;
  class: string;
  receive_ms: number | null;
  service_ms: number | null;
  cpu_ms: number | null;
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { from: { type: 'string' } } });
const [file] = positionals;
if (file === undefined) throw new Error('record-bursts.ts FILE [--from LOG]');
const log = values.from === undefined ? await record() : fs.readFileSync(values.from, 'utf8');
fs.writeFileSync(file, compact(log));

async function record(): Promise<string> {
  const config = fs.readFileSync(path.join(repositoryDir, 'examples/storefront/sluice.toml'), 'utf8');
  const sluice = await startSluice({ entry: storefrontEntry, workers: 2, config });
  try {
    for (const [visitors, seconds] of BURSTS) {
      const script = path.join(repositoryDir, 'examples/storefront/scripts/demo-load.ts');
      const args = ['--import', 'tsx', script, '--url', sluice.url, '--visitors', String(visitors)];
      const load = spawn(process.execPath, args, { stdio: 'ignore' });
      const ended = once(load, 'exit');
      await sleep(seconds * 1_000);
      load.kill('SIGKILL');
      await ended;
    }
    await sleep(2_000);
    return fs.readFileSync(path.join(sluice.dir, 'stdout'), 'utf8');
  } finally {
    sluice.signal('SIGTERM');
    await sluice.finished(30_000);
    fs.rmSync(sluice.dir, { recursive: true, force: true });
  }
}

function compact(text: string): string {
  const lines = text.split('\n').filter((line) => line.includes('"access"'));
  const requests = lines
    .map((line) => JSON.parse(line) as Access)
    .filter(({ event, service_ms }) => event === 'access' && service_ms !== null)
    .map((each) => ({ ...each, at_ms: Date.parse(each.time) + (each.receive_ms ?? 0) }))
    .toSorted((one, other) => one.at_ms - other.at_ms);
  const classes = [...new Set(requests.map((each) => each.class))].toSorted();
  const tenths = (ms: number | null): string => (ms === null ? '-' : String(Math.round(ms * 10)));
  let before = Math.round(requests[0]?.at_ms ?? 0);
  const rows = requests.map(({ at_ms, class: name, service_ms, cpu_ms }) => {
    const since = Math.round(at_ms) - before;
    before += since;
    return `${since} ${classes.indexOf(name)} ${tenths(service_ms)} ${tenths(cpu_ms)}`;
  });
  return `${[classes.join('\t'), ...rows].join('\n')}\n`;
}
