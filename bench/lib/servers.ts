// The servers that are compared, behind one interface. Every configuration is what a careful user of that server would
// write: kept connections on both sides, access log off, one thread of the front, TCP on loopback between the processes.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../tests/support/eventually.ts';
import { freePort } from '../../tests/support/ports.ts';
import { type Sluice, type StartOptions, startSluice } from '../../tests/support/sluice.ts';
import { familyOf, programOf } from './processes.ts';

export interface Server {
  name: string;
  /** `127.0.0.1:3000`; more than one where clients spread themselves. */
  targets: string[];
  /** Processes between the clients and the workers. */
  frontPids: number[];
  workerPids(): Promise<number[]>;
  stop(): Promise<void>;
}

export interface AppToServe {
  entry: string;
  workers: number;
  env?: Record<string, string>;
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
  const nodes = await startNodes(app);
  const front = await runHaproxy(nodes.ports);
  return {
    name: 'HAProxy',
    targets: [local(front.port)],
    frontPids: [pidOf(front.child)],
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
  const front = await runNginx(balancer.port);
  return {
    name: 'nginx + HAProxy',
    targets: [local(front.port)],
    frontPids: [...familyOf(pidOf(front.child)), pidOf(balancer.child)],
    workerPids: nodes.pids,
    stop: async () => {
      await stopAll([front.child, balancer.child]);
      await nodes.stop();
      front.clean();
    },
  };
}

/** nginx in front of one upstream. */
export async function runNginx(
  upstreamPort: number,
): Promise<{ port: number; child: ChildProcess; clean(): void }> {
  const port = await freePort();
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-nginx-'));
  fs.chmodSync(dir, 0o755);
  fs.writeFileSync(
    path.join(dir, 'nginx.conf'),
    configuration('nginx.conf', nginxConfig(dir, port, upstreamPort)),
  );
  const child = run(find('nginx'), [
    '-p',
    dir,
    '-c',
    path.join(dir, 'nginx.conf'),
    '-e',
    path.join(dir, 'error.log'),
  ]);
  await answering(port, child);
  return {
    port,
    child,
    clean: () => {
      fs.rmSync(dir, { recursive: true, force: true });
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
  {
    accessLog = false,
    env = {},
    ...options
  }: { accessLog?: boolean } & Omit<StartOptions, 'entry' | 'workers'> = {},
): Promise<SluiceServer> {
  const sluice = await startSluice({
    ...options,
    ...(options.command === undefined ? { entry: app.entry } : {}),
    workers: app.workers,
    cwd: path.dirname(app.entry),
    env: { ...app.env, SLUICE_LOG_ACCESS: String(accessLog), ...env },
  });
  const gatewayPid = await sluice.gatewayPid();
  const binary = programOf(gatewayPid);
  return {
    name: accessLog ? 'Sluice, access log on' : 'Sluice',
    targets: [local(sluice.port)],
    // The gateway and its guardian; the workers are children too, but run another program.
    frontPids: familyOf(gatewayPid).filter((pid) => programOf(pid) === binary),
    workerPids: async () => (await sluice.status()).workers.flatMap(({ pid }) => (pid === null ? [] : [pid])),
    sluice,
    gatewayPid,
    stop: async () => {
      await sluice.stop();
    },
  };
}

/** One thread, as Sluice's gateway has: on few cores more threads only add to what a request costs. */
function haproxyConfig(port: number, workerPorts: number[], more: string[]): string {
  const servers = workerPorts.map((worker, at) => `  server node${at} 127.0.0.1:${worker} maxconn 1`);
  return `global
  nbthread 1
  maxconn 8000
defaults
  mode http
  option redispatch
  retries 3
  http-reuse always
  timeout connect 5s
  timeout client 75s
  timeout server 60s
  timeout queue 60s
frontend clients
  bind 127.0.0.1:${port}
  default_backend workers
backend workers
${more.map((line) => `  ${line}\n`).join('')}${servers.join('\n')}
`;
}

function nginxConfig(dir: string, port: number, upstreamPort: number): string {
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${dir}/${name};`,
  );
  return `daemon off;
pid ${dir}/nginx.pid;
worker_processes 1;
error_log ${dir}/error.log crit;
events {
  worker_connections 16384;
}
http {
  access_log off;
${temp.join('\n')}
  keepalive_timeout 75s;
  keepalive_requests 1000000;
  upstream haproxy {
    server 127.0.0.1:${upstreamPort};
    keepalive 64;
    keepalive_requests 1000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://haproxy;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_buffers 32 16k;
      proxy_busy_buffers_size 64k;
    }
  }
}
`;
}

/** `more`: further lines of the backend. */
export async function runHaproxy(
  workerPorts: number[],
  more: string[] = [],
): Promise<{ port: number; child: ChildProcess }> {
  const port = await freePort();
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-haproxy-'));
  const file = path.join(dir, 'haproxy.cfg');
  fs.writeFileSync(file, configuration('haproxy.cfg', haproxyConfig(port, workerPorts, more)));
  const child = run(find('haproxy'), ['-db', '-q', '-f', file]);
  await answering(port, child);
  fs.rmSync(dir, { recursive: true, force: true });
  return { port, child };
}

interface Nodes {
  ports: number[];
  pids: () => Promise<number[]>;
  stop: () => Promise<void>;
}

async function startNodes(app: AppToServe): Promise<Nodes> {
  const started = await Promise.all(
    Array.from({ length: app.workers }, async () => {
      const port = await freePort();
      const child = run(process.execPath, [app.entry], nodeEnvironment(app, port));
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

/** Debian keeps servers where the path of an ordinary user does not lead. */
export function find(program: string): string {
  const dirs = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];
  const found = dirs.map((dir) => path.join(dir, program)).find((file) => fs.existsSync(file));
  if (found === undefined) throw new Error(`${program} is not installed; run bench/install-peers.sh`);
  return found;
}

/** First line of what a program says of its version. */
export function versionOf(program: string, flag: string): string {
  const { stdout, stderr } = spawnSync(program, [flag], { encoding: 'utf8' });
  return `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n')[0] ?? '';
}

const commands: string[] = [];

/** Every command line that started a server, for the report. */
export function commandsRun(): string[] {
  return [...new Set(commands)];
}

const configurations: Record<string, string> = {};

/** The last configuration of each kind, to keep with the results. */
export function configurationsUsed(): Record<string, string> {
  return configurations;
}

/** Keeps a configuration for the report, and hands it on. */
export function configuration(name: string, text: string): string {
  configurations[name] = text;
  return text;
}

export function run(
  program: string,
  args: string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): ChildProcess {
  commands.push([path.basename(program), ...args].join(' '));
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'inherit'] });
  const killAtExit = () => child.kill('SIGTERM');
  process.once('exit', killAtExit);
  child.once('exit', () => process.removeListener('exit', killAtExit));
  return child;
}

export async function answering(port: number, child: ChildProcess): Promise<void> {
  await eventually(
    async () => {
      if (child.exitCode !== null) return 'gone';
      const socket = net.connect(port, '127.0.0.1');
      try {
        await once(socket, 'connect');
        return true;
      } finally {
        socket.destroy();
      }
    },
    { deadlineMs: 30_000, what: `a listener on port ${port}` },
  );
  if (child.exitCode !== null)
    throw new Error(`${child.spawnfile} left with ${child.exitCode} before it listened`);
}

export async function stopAll(children: ChildProcess[]): Promise<void> {
  await Promise.all(
    children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await gone;
      clearTimeout(timer);
    }),
  );
}

export function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error(`${child.spawnfile} did not start`);
  return child.pid;
}

export function local(port: number): string {
  return `127.0.0.1:${port}`;
}
