// The servers of the scheduling benchmark, and the one place where Sluice's configuration for it is written. Passenger and
// Watt are started here as their manuals say.
import fs from 'node:fs';
import path from 'node:path';
import { freePort } from '../../tests/support/ports.ts';
import { installFromNpm, versionIn } from '../lib/npm.ts';
import { runPassenger } from '../lib/passenger.ts';
import { familyOf } from '../lib/processes.ts';
import { pm2Version, startPm2 } from '../lib/pm2.ts';
import {
  answering,
  configuration,
  find,
  local,
  pidOf,
  run,
  stopAll,
  temporaryDir,
  versionOf,
} from '../lib/run.ts';
import {
  type AppToServe,
  type Server,
  nodeEnvironment,
  startByHand,
  startCluster,
  startDirect,
  startHaproxyLeastconn,
  startNginx,
  startNginxHaproxy,
  startSluiceServer,
} from '../lib/servers.ts';
import { turnsEnvironment } from './cost.ts';
import { HEAVY_PATH } from './mixes.ts';

export interface Contender {
  name: string;
  /** Whether it is Sluice, as against what users would pick instead. */
  isOurs: boolean;
  /** True for a server that knows what no other is told. No bar compares with it. */
  isReference?: boolean;
  /** `installed`: settings of every Sluice that says nothing else. */
  start(app: AppToServe, installed: Settings): Promise<Server>;
  /** Version of the server, for the report; installs the server where that is the benchmark's to do. */
  version?(): string;
}

export type Settings = Record<string, Record<string, string | number | boolean>>;

/** Settings of Sluice for sharing its workers. */
export const SHARING: Record<string, Settings> = {
  'as-installed': {},
  strict: { workers: { concurrency: 1 } },
  'while-waiting': { workers: { concurrency: 'while-waiting' } },
};

const FIFO = { queue: { order: 'fifo' }, workers: { lanes: 'off' } };

export const CONTENDERS: Record<string, Contender> = {
  'sluice-fifo': sluice('Sluice, fifo, no lanes', FIFO),
  sluice: sluice('Sluice', {}),
  'sluice-strict': sluice('Sluice, strict', SHARING['strict']),
  'sluice-while-waiting': sluice('Sluice, while-waiting', SHARING['while-waiting']),
  'sluice-unlimited': sluice('Sluice, concurrency 10000', { workers: { concurrency: 10_000 } }),
  'nginx-haproxy': {
    name: 'nginx + HAProxy',
    isOurs: false,
    start: startNginxHaproxy,
    version: () => `${versionOf(find('nginx'), '-v')}; ${versionOf(find('haproxy'), '-v')}`,
  },
  passenger: {
    name: 'Passenger',
    isOurs: false,
    start: startPassenger,
    version: () => versionOf(find('passenger'), '--version'),
  },
  watt: {
    name: 'Watt',
    isOurs: false,
    start: startWatt,
    version: () => `${versionIn(installWatt(), 'wattpm')} on Node ${versionIn(installWatt(), 'node')}`,
  },
  cluster: { name: 'node:cluster', isOurs: false, start: startCluster },
  pm2: { name: 'PM2', isOurs: false, start: async (app) => startPm2(app), version: pm2Version },
  nginx: {
    name: 'nginx least_conn',
    isOurs: false,
    start: startNginx,
    version: () => versionOf(find('nginx'), '-v'),
  },
  haproxy: {
    name: 'HAProxy leastconn',
    isOurs: false,
    start: startHaproxyLeastconn,
    version: () => versionOf(find('haproxy'), '-v'),
  },
  node: { name: 'Node alone', isOurs: false, start: startDirect },
  'by-hand': {
    name: 'by hand',
    isOurs: false,
    isReference: true,
    start: async (app) => startByHand(app, HEAVY_PATH),
    version: () => `nginx with a rule for ${HEAVY_PATH}, whose processes are SCHED_IDLE`,
  },
};

function sluice(name: string, settings: Settings = {}): Contender {
  const start = async (app: AppToServe, installed: Settings): Promise<Server> => {
    const all = merged(merged(installed, settings), { log: { server_timing: true } });
    const config = configuration(`${name}: sluice.toml`, toml(all));
    const server = await startSluiceServer(app, { config, ...(app.finds === true ? { workers: null } : {}) });
    if (app.finds === true) {
      const { workers } = await server.sluice.status();
      const found = workers.filter(({ lane }) => lane !== 'long').length;
      if (found !== app.workers)
        throw new Error(`${name} started ${found} workers instead of ${app.workers}`);
    }
    return { ...server, name };
  };
  return { name, isOurs: true, start };
}

function merged(all: Settings, more: Settings): Settings {
  const sections = new Set([...Object.keys(all), ...Object.keys(more)]);
  return Object.fromEntries([...sections].map((name) => [name, { ...all[name], ...more[name] }]));
}

function toml(settings: Settings): string {
  return Object.entries(settings)
    .map(([section, keys]) => {
      const lines = Object.entries(keys).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
      return `[${section}]\n${lines.join('')}`;
    })
    .join('');
}

async function startPassenger(app: AppToServe): Promise<Server> {
  const { port, watchdog, stop } = await runPassenger(app);
  return {
    name: 'Passenger',
    targets: [local(port)],
    frontPids: [watchdog],
    workerPids: async () => familyOf(watchdog),
    stop,
  };
}

/** Watt needs a later Node.js than Sluice does, and gets one from npm. */
async function startWatt(app: AppToServe): Promise<Server> {
  const modules = path.join(installWatt(), 'node_modules');
  const node = path.join(modules, 'node/bin/node');
  const port = await freePort();
  const dir = temporaryDir('bench-watt-');
  fs.symlinkSync(modules, path.join(dir, 'node_modules'));
  fs.writeFileSync(path.join(dir, 'package.json'), JSON.stringify({ name: 'bench', private: true }));
  const config = {
    $schema: `https://schemas.platformatic.dev/@platformatic/node/${versionIn(path.dirname(modules), '@platformatic/node')}.json`,
    node: { main: app.entry },
    runtime: {
      logger: { level: 'error' },
      server: { hostname: '127.0.0.1', port },
      workers: { static: app.workers },
    },
  };
  fs.writeFileSync(path.join(dir, 'watt.json'), configuration('watt.json', JSON.stringify(config, null, 2)));
  const { env } = nodeEnvironment(app, port);
  const turns = app.env?.['BENCH_TURNS_PER_MS'] === undefined ? {} : await turnsEnvironment(node);
  const child = run(node, [path.join(modules, 'wattpm/bin/cli.js'), 'start'], {
    env: { ...env, ...turns },
    cwd: dir,
  });
  await answering(port, child);
  const pid = pidOf(child);
  return {
    name: 'Watt',
    targets: [local(port)],
    frontPids: [],
    // Its workers are threads.
    workerPids: async () => [pid],
    stop: async () => {
      await stopAll([child]);
      fs.rmSync(dir, { recursive: true, force: true });
    },
  };
}

const WATT = ['wattpm@3', '@platformatic/node@3', 'node@22'];

function installWatt(): string {
  return installFromNpm('watt-3', WATT, 'wattpm/bin/cli.js');
}
