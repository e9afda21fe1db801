// Workers killed one by one, and all at once.
//
// `kills`: an open loop at 120 % of the capacity that was measured just before, a worker killed every second. The queue is made
// long and patient enough that nothing is refused, so every request that fails was lost. `all-killed`: clients wait in the
// queue when every worker is killed; the time from the first that is ready again to the first answer.
import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { randomFrom } from '../../tests/support/chance.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { type LoadResult, load, startLoad } from '../lib/load.ts';
import type { Options } from '../lib/options.ts';
import { type Bar, printTable, short, sum } from '../lib/report.ts';
import { every, heal, kill9, killOne, workersOf } from './inject.ts';
import { type FaultSluice, startFaultSluice } from './peers.ts';
import { mixedRoutes } from './routes.ts';

/** Room for all that 120 % of the load can leave behind. */
const PATIENT = { SLUICE_QUEUE_LENGTH_MAX: '100000', SLUICE_QUEUE_WAIT_MS_MAX: '300000' };
const KILLS_MS = 20;

/** Requests a second that the workers answer, measured with four clients for each. */
export async function capacityOf(server: FaultSluice, ms: number, seconds: number): Promise<number> {
  const result = await load({
    targets: server.targets,
    routes: mixedRoutes(ms),
    mode: {
      kind: 'closed',
      connections: 4 * server.workers,
      requests: Math.ceil((seconds * 1_000 * server.workers) / ms),
    },
  });
  return result.ok / result.elapsed_s;
}

/** Value of each code of `sluice_errors_total`. */
async function errorsOf(server: FaultSluice): Promise<Record<string, number>> {
  const text = await (await fetch(`${server.sluice.admin}/metrics`)).text();
  const found = text.matchAll(/^sluice_errors_total\{code="([^"]+)"\} (\S+)/gm);
  return Object.fromEntries([...found].map(([, code = '', value]) => [code, Number(value)]));
}

export async function kills(options: Options): Promise<{ bars: Bar[]; data: unknown }> {
  const seconds = options.numbers['seconds'] ?? 60;
  const server = await startFaultSluice(options.workers, PATIENT);
  let result: LoadResult;
  let killed: number;
  let errors: Record<string, number>;
  let overlaps: number;
  let rate: number;
  try {
    await heal(server);
    rate = 1.2 * (await capacityOf(server, KILLS_MS, 5));
    console.log(
      `${rate.toFixed(0)} requests of ${KILLS_MS} ms a second for ${seconds} s, a fifth of them POST.\n`,
    );
    const running = startLoad({
      targets: server.targets,
      routes: mixedRoutes(KILLS_MS),
      timeout_ms: 300_000,
      resend: false,
      mode: {
        kind: 'open',
        rate_per_s: rate,
        duration_ms: seconds * 1_000,
        requests_max: Math.ceil(rate * seconds * 2),
      },
    });
    const random = randomFrom(1);
    const killer = every(1_000, async () => killOne(server, random));
    await wait(seconds * 1_000);
    killed = (await killer.stop()).length;
    result = await running.result;
    errors = await errorsOf(server);
    overlaps = (await server.sluice.status()).overlaps_total;
  } finally {
    await server.stop();
  }
  const failed = (name: string): number => result.classes[name]?.failed ?? 0;
  const inFlight = errors['SLU-WORKER-DIED'] ?? 0;
  const lost = result.failed + result.refused - inFlight;
  printTable(
    [
      'killed',
      'sent',
      'answered',
      'refused',
      'failed GETs',
      'failed POSTs',
      'p50 ms',
      'p99 ms',
      'statuses',
      'errors',
      'codes',
    ],
    [
      [
        killed,
        result.sent,
        result.ok,
        result.refused,
        failed('GET'),
        failed('POST'),
        short(result.latency_ms.p50),
        short(result.latency_ms.p99),
        JSON.stringify(result.statuses),
        JSON.stringify(result.errors),
        JSON.stringify(errors),
      ],
    ],
  );
  return {
    bars: [
      { what: 'queued requests lost', bar: '0', figure: String(lost), met: lost === 0 && killed > 0 },
      { what: 'failed GETs', bar: '0', figure: String(failed('GET')), met: failed('GET') === 0 },
      {
        what: 'failed POSTs',
        bar: '≤ in flight in the killed',
        figure: `${failed('POST')} of ${killed} killed, ${inFlight} answered with SLU-WORKER-DIED`,
        met: failed('POST') <= Math.min(killed, inFlight),
      },
      { what: 'overlaps', bar: '0', figure: String(overlaps), met: overlaps === 0 },
    ],
    data: { rate, killed, errors, overlaps, result },
  };
}

interface Answered {
  begun_ms: number;
  ended_ms: number;
  status: number;
  code: string;
}

/** The death of all workers. */
interface Death {
  ready_ms: number;
  /** Time until the first answer after that. */
  served_ms: number;
  waiting: number;
  lost: number;
  inFlight: number;
}

const CLIENTS = 20;

export async function allKilled(options: Options): Promise<{ bars: Bar[]; data: unknown }> {
  const rounds = options.quick ? 2 : Math.max(5, options.runs);
  const server = await startFaultSluice(options.workers);
  const found: Death[] = [];
  try {
    await heal(server);
    for (let round = 0; round < rounds; round += 1) found.push(await killAll(server));
  } finally {
    await server.stop();
  }
  printTable(
    ['round', 'waiting', 'first ready after ms', 'served after that ms', 'queued lost', 'failed in flight'],
    found.map((each, at) => [at + 1, each.waiting, each.ready_ms, each.served_ms, each.lost, each.inFlight]),
  );
  const slowest = Math.max(...found.map(({ served_ms }) => served_ms));
  const lost = sum(found.map((each) => each.lost));
  return {
    bars: [
      {
        what: 'served again after the first ready',
        bar: '≤ 1 s',
        figure: `${slowest} ms at most`,
        met: slowest <= 1_000,
      },
      { what: 'queued requests lost', bar: '0', figure: String(lost), met: lost === 0 },
    ],
    data: { rounds: found },
  };
}

async function killAll(server: FaultSluice): Promise<Death> {
  const answers: Answered[] = [];
  let isOver = false;
  const agent = new http.Agent({ keepAlive: true });
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) answers.push(await ask(server, agent));
  });
  await eventually(() => answers.length > 5 * CLIENTS, { what: 'a running load' });
  const killed_ms = Date.now();
  for (const { pid } of workersOf(server.mark)) kill9(pid);
  await eventually(
    () => answers.filter(({ begun_ms, status }) => begun_ms > killed_ms && status === 200).length > CLIENTS,
    {
      deadlineMs: 30_000,
      what: 'service after the death of all workers',
    },
  );
  isOver = true;
  await Promise.all(clients);
  agent.destroy();
  const ready = server.sluice.logs
    .filter(({ event, time }) => event === 'worker_ready' && Date.parse(String(time)) > killed_ms)
    .map(({ time }) => Date.parse(String(time)));
  const firstReady_ms = Math.min(...ready);
  const served = answers.filter(({ status, ended_ms }) => status === 200 && ended_ms >= firstReady_ms);
  const failed = answers.filter(({ status }) => status !== 200);
  const inFlight = failed.filter(({ code }) => code === 'SLU-WORKER-DIED').length;
  return {
    ready_ms: firstReady_ms - killed_ms,
    served_ms: Math.min(...served.map(({ ended_ms }) => ended_ms)) - firstReady_ms,
    waiting: answers.filter(({ begun_ms, ended_ms }) => begun_ms <= killed_ms && ended_ms > killed_ms).length,
    lost: failed.length - inFlight,
    inFlight,
  };
}

async function ask(server: FaultSluice, agent: http.Agent): Promise<Answered> {
  const begun_ms = Date.now();
  return new Promise((resolve) => {
    const end = (status: number, body: string): void =>
      resolve({ begun_ms, ended_ms: Date.now(), status, code: /SLU-[A-Z-]+/.exec(body)?.[0] ?? '' });
    http
      .get(`http://${server.targets[0]}/?ms=20`, { agent }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => (body += text));
        response.on('end', () => end(response.statusCode ?? 0, body));
        response.on('error', (error) => end(0, String(error)));
      })
      .on('error', (error) => end(0, String(error)));
  });
}
