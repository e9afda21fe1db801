// CPU time of the gateway while dashboards are open, beside the same load without one.
//
//   npx tsx bench/dashboard.ts [--seconds N] [--viewers N] [--rate N] [--rounds N]
//
// A viewer is what the page is to the gateway: a reader of `/events`. CPU time is the gateway's own, from the operating system; rounds
// without and with viewers take turns, and the median difference counts.
import fs from 'node:fs';
import http from 'node:http';
import { parseArgs } from 'node:util';
import { app, startSluice } from '../tests/support/sluice.ts';
import { median } from './lib/report.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    viewers: { type: 'string', default: '1' },
    rate: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '5' },
  },
});
const seconds = Number(values.seconds);
const viewers = Number(values.viewers);
const rate = Number(values.rate);
const rounds = Number(values.rounds);
const CPU_BAR = 0.02;

const sluice = await startSluice({ entry: app('trivial.js'), env: { SLUICE_LOG_ACCESS: 'false' } });
const pid = await sluice.gatewayPid();
const ticks = (): number => {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
};
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const agent = new http.Agent({ keepAlive: true });
let sent = 0;
const load = setInterval(() => {
  http
    .get(`${sluice.url}/class-${sent++ % 50}`, { agent }, (answer) => answer.resume())
    .on('error', () => undefined);
}, 1000 / rate);

/** Cores that the gateway uses with so many viewers. */
async function round(open: number): Promise<number> {
  const readers = Array.from({ length: open }, () =>
    http.get(`${sluice.admin}/events`, (answer) => answer.resume()),
  );
  await pause(1000);
  const [before, began] = [ticks(), performance.now()];
  await pause(seconds * 1000);
  const cores = (ticks() - before) / 100 / ((performance.now() - began) / 1000);
  for (const reader of readers) reader.destroy();
  return cores;
}

try {
  const differences: number[] = [];
  for (let at = 0; at < rounds; at++) {
    const without = await round(0);
    const beside = await round(viewers);
    differences.push(beside - without);
    const share = (cores: number): string => `${(cores * 100).toFixed(2)} %`;
    console.log(
      `round ${at + 1}: ${share(without)} of a core without, ${share(beside)} with ${viewers} open`,
    );
  }
  const cost = median(differences);
  console.log(`open dashboard: ${(cost * 100).toFixed(2)} % of a core (bar ${CPU_BAR * 100} %)`);
  process.exitCode = cost <= CPU_BAR ? 0 : 1;
} finally {
  clearInterval(load);
  agent.destroy();
  await sluice.stop();
}
