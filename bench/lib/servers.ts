// The servers that are compared, behind one interface. Every configuration is what a careful user of that server would
// write: kept connections on both sides, access log off, one thread of the front, TCP on loopback between the processes.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tests/support/ports.ts';
import { type Sluice, type StartOptions, startSluice } from '../../tests/support/sluice.ts';
import { type Balance, runHaproxy, runNginx } from './fronts.ts';
import { familyOf, programOf } from './processes.ts';
import { answering, find, local, pidOf, removedAtExit, run, stopAll } from './run.ts';

export interface Server {
  name: string;
  /** `127.0.0.1:3000`; more than one where clients spread themselves. */
  targets: string[];
  /** Processes between the clients and the workers. */
  frontPids: number[];
  workerPids(): Promise<number[]>;
  /** Problems that the server itself reports. */
  alarms?(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface AppToServe {
  entry: string;
  workers: number;
  env?: Record<string, string>;
  /** Whether Sluice itself finds out how many workers it needs. */
  finds?: boolean;
}

/** Plain Node processes, each on a port of its own; clients spread themselves over them. */
export async function startDirect(app: AppToServe): Promise<Server> {
  const nodes = await startNodes(app);
  return {
    name: 'Node alone',
    targets: nodes.ports.map(local),
    frontPids: [],
    workerPids: nodes.pids,
    stop: nodes.stop,
  };
}

/** node:cluster with its default schedule, round robin over connections. */
export async function startCluster(app: AppToServe): Promise<Server> {
  const port = await freePort();
  const primary = fileURLToPath(new URL('cluster-primary.js', import.meta.url));
  const child = run(process.execPath, [primary, app.entry, String(app.workers)], nodeEnvironment(app, port));
  await answering(port, child);
  const pid = pidOf(child);
  return {
    name: 'node:cluster',
    targets: [local(port)],
    frontPids: [pid],
    workerPids: async () => familyOf(pid).filter((member) => member !== pid),
    stop: async () => {
      await stopAll([child]);
    },
  };
}

/** HAProxy, one request per process. */
export async function startHaproxy(app: AppToServe): Promise<Server> {
  return startBehindHaproxy(app, 'one-each', 'HAProxy');
}

/** HAProxy as most of its users run it: each request at once to the process that has the fewest. */
export async function startHaproxyLeastconn(app: AppToServe): Promise<Server> {
  return startBehindHaproxy(app, 'leastconn', 'HAProxy leastconn');
}

async function startBehindHaproxy(app: AppToServe, balance: Balance, name: string): Promise<Server> {
  const nodes = await startNodes(app);
  const front = await runHaproxy(nodes.ports, [], balance);
  return {
    name,
    targets: [local(front.port)],
    frontPids: [pidOf(front.child)],
    workerPids: nodes.pids,
    stop: async () => {
      await stopAll([front.child]);
      await nodes.stop();
    },
  };
}

/** nginx with `least_conn`. */
export async function startNginx(app: AppToServe): Promise<Server> {
  const nodes = await startNodes(app);
  const front = await runNginx([{ path: '/', ports: nodes.ports }]);
  return {
    name: 'nginx least_conn',
    targets: [local(front.port)],
    frontPids: familyOf(pidOf(front.child)),
    workerPids: nodes.pids,
    stop: async () => {
      await stopAll([front.child]);
      await nodes.stop();
    },
  };
}

/** nginx, which takes whole requests and responses, in front of HAProxy, which hands out one per process. */
export async function startNginxHaproxy(app: AppToServe): Promise<Server> {
  const nodes = await startNodes(app);
  const balancer = await runHaproxy(nodes.ports);
  const front = await runNginx([{ path: '/', ports: [balancer.port] }]);
  return {
    name: 'nginx + HAProxy',
    targets: [local(front.port)],
    frontPids: [...familyOf(pidOf(front.child)), pidOf(balancer.child)],
    workerPids: nodes.pids,
    stop: async () => {
      await stopAll([front.child, balancer.child]);
      await nodes.stop();
    },
  };
}

/**
 * Processes by hand, for somebody who knows the app. Paths that begin with `heavy` have processes of their own, as many as the
 * others, which get the CPU that the others leave. nginx has a rule for the path.
 */
export async function startByHand(app: AppToServe, heavy: string): Promise<Server> {
  const light = await startNodes(app);
  const rest = await startNodes(app, [find('chrt', 'util-linux'), '--idle', '0']);
  const front = await runNginx([
    { path: '/', ports: light.ports },
    { path: heavy, ports: rest.ports },
  ]);
  return {
    name: 'by hand',
    targets: [local(front.port)],
    frontPids: familyOf(pidOf(front.child)),
    workerPids: async () => [...(await light.pids()), ...(await rest.pids())],
    stop: async () => {
      await stopAll([front.child]);
      await Promise.all([light.stop(), rest.stop()]);
    },
  };
}

export interface SluiceServer extends Server {
  sluice: Sluice;
  gatewayPid: number;
}

/** Sluice, with its access log off unless asked for. */
export async function startSluiceServer(
  app: AppToServe,
  { accessLog = false, env = {}, ...options }: { accessLog?: boolean } & Omit<StartOptions, 'entry'> = {},
): Promise<SluiceServer> {
  const sluice = await startSluice({
    workers: app.workers,
    ...options,
    ...(options.command === undefined ? { entry: app.entry } : {}),
    cwd: path.dirname(app.entry),
    env: { ...app.env, SLUICE_LOG_ACCESS: String(accessLog), ...env },
  });
  // After Ctrl-C nobody stops it in the usual way.
  const isRemoved = removedAtExit(sluice.dir);
  const gatewayPid = await sluice.gatewayPid();
  const binary = programOf(gatewayPid);
  return {
    name: accessLog ? 'Sluice, access log on' : 'Sluice',
    targets: [local(sluice.port)],
    // The gateway and its guardian; the workers are children too, but run another program.
    frontPids: familyOf(gatewayPid).filter((pid) => programOf(pid) === binary),
    workerPids: async () => (await sluice.status()).workers.flatMap(({ pid }) => (pid === null ? [] : [pid])),
    alarms: async () => (await sluice.status()).alarms.map(({ alarm, text }) => `${alarm}: ${text}`),
    sluice,
    gatewayPid,
    stop: async () => {
      await sluice.stop();
      isRemoved();
    },
  };
}

export interface Nodes {
  ports: number[];
  pids: () => Promise<number[]>;
  stop: () => Promise<void>;
}

/** `through`: a program with its arguments that becomes each process. */
export async function startNodes(app: AppToServe, through: string[] = []): Promise<Nodes> {
  const started = await Promise.all(
    Array.from({ length: app.workers }, async () => {
      const port = await freePort();
      const [program, ...args] = [...through, process.execPath, app.entry];
      const child = run(program ?? process.execPath, args, nodeEnvironment(app, port));
      await answering(port, child);
      return { port, child };
    }),
  );
  return {
    ports: started.map(({ port }) => port),
    pids: async () => started.map(({ child }) => pidOf(child)),
    stop: async () => stopAll(started.map(({ child }) => child)),
  };
}

export function nodeEnvironment(app: AppToServe, port: number): { env: NodeJS.ProcessEnv; cwd: string } {
  return {
    env: { ...process.env, NODE_ENV: 'production', ...app.env, PORT: String(port) },
    cwd: path.dirname(app.entry),
  };
}
