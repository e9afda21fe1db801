// Short requests through HAProxy to three instances, one of which has a stuck worker again and again: weights of the agent check against
// connections alone. Both run examples/behind/haproxy.cfg with `balance leastconn`; one of them without its agent check.
//
//   npx tsx bench/front.ts [--quick] [--runs N] [--rate N] [--seconds N]
//
// Each instance has one worker that takes one request at a time, so 50 ms of waiting make 20 requests a second whatever the machine. They
// come at random moments, the same in both, at half of what all three can do. One worker is stuck for 5 s of each 10.
import http from 'node:http';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { randomFrom, seed } from '../tests/support/chance.ts';
import { Fleet, get } from '../tests/support/fleet.ts';
import { repositoryDir } from '../tests/support/sluice.ts';
import { readOptions } from './lib/options.ts';
import { type Bar, conclude, describe, median, printTable } from './lib/report.ts';

const SERVICE_MS = 50;
const STUCK_MS = 5_000;
const RATIO_MAX = 1 / 3;
const AGENT = ' agent-check agent-port 9101 agent-inter 500ms';

interface Round {
  front: string;
  count: number;
  failed: number;
  p50: number;
  p99: number;
}

const options = readOptions({
  runs: 3,
  runsQuick: 1,
  workers: 1,
  numbers: { rate: [30, 30], seconds: [100, 40] },
});
const { rate = 0, seconds = 0 } = options.numbers;
const about = describe('A stuck worker behind a balancer', options, ['haproxy']);
const rounds: Round[] = [];
for (let run = 0; run < options.runs; run += 1)
  for (const hasAgent of run % 2 === 0 ? [true, false] : [false, true]) rounds.push(await measure(hasAgent));
printTable(
  ['front', 'requests', 'failed', 'p50 ms', 'p99 ms'],
  rounds.map(({ front, count, failed, p50, p99 }) => [front, count, failed, p50.toFixed(0), p99.toFixed(0)]),
);
const p99Of = (front: string): number =>
  median(rounds.filter((round) => round.front === front).map(({ p99 }) => p99));
const ratio = p99Of('agent check') / p99Of('leastconn');
const bars: Bar[] = [
  {
    what: 'short p99 with agent check against leastconn without',
    bar: `≤ ${RATIO_MAX.toFixed(2)}`,
    figure: ratio.toFixed(2),
    met: ratio <= RATIO_MAX,
  },
];
conclude('front', options, about, bars, { rounds });

async function measure(hasAgent: boolean): Promise<Round> {
  const cleanUps: (() => void | Promise<void>)[] = [];
  const context = { after: (clean: () => void | Promise<void>) => void cleanUps.unshift(clean) };
  try {
    const env = { SLUICE_WORKERS_CONCURRENCY: '1' };
    const entry = path.join(repositoryDir, 'tests/scenarios/apps/once.js');
    const fleet = await Fleet.start(context, { entry, workers: 1, env });
    const port = await fleet.balance('haproxy', (text) => (hasAgent ? text : withoutAgent(text)));
    const agent = new http.Agent({ keepAlive: true, maxSockets: 2_000 });
    let running = true;
    const { port: stuck } = fleet.instance('a');
    const sticking = (async () => {
      while (running) {
        await pause(STUCK_MS);
        if (running) await get(stuck, `/stuck?wait=${STUCK_MS}`);
      }
    })();
    const times: number[] = [];
    let failed = 0;
    const random = randomFrom(seed);
    let at = performance.now();
    const asked: Promise<void>[] = [];
    for (let number = 0; number < rate * seconds; number += 1) {
      at += (-Math.log((random(1_000_000) + 1) / 1_000_001) * 1_000) / rate;
      const wait = at - performance.now();
      if (wait > 0) await pause(wait);
      const due = at;
      asked.push(
        get(port, `/short?wait=${SERVICE_MS}`, { agent })
          .then(({ status }) => status === 200)
          .catch(() => false)
          .then((isOk) => {
            if (!isOk) failed += 1;
            times.push(performance.now() - due);
          }),
      );
    }
    await Promise.all(asked);
    running = false;
    await sticking;
    agent.destroy();
    times.sort((one, other) => one - other);
    const quantile = (part: number): number => times[Math.floor(times.length * part)] ?? 0;
    const front = hasAgent ? 'agent check' : 'leastconn';
    return { front, count: times.length, failed, p50: quantile(0.5), p99: quantile(0.99) };
  } finally {
    for (const clean of cleanUps) await clean();
  }
}

function withoutAgent(text: string): string {
  if (!text.includes(AGENT)) throw new Error(`examples/behind/haproxy.cfg has no${AGENT}`);
  return text.replace(AGENT, '').replaceAll(/ agent-port \d+/g, '');
}
