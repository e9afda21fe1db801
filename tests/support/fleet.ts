// Several gateways on this machine behind a real balancer, which runs with the configuration of examples/behind.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { eventually } from './eventually.ts';
import { freePort } from './ports.ts';
import { repositoryDir, type Sluice, startSluice } from './sluice.ts';

interface Cleanup {
  after(clean: () => void | Promise<void>): void;
}

const places = ['', '/usr/sbin', '/usr/local/sbin'];
const sluiceTools = path.join(repositoryDir, 'node_modules/.cache/sluice');

/** Path of a program, or undefined. */
export function find(program: string): string | undefined {
  const candidates = [...places.map((place) => path.join(place, program)), path.join(sluiceTools, program)];
  return candidates.find((candidate) => {
    const flag = program === 'envoy' ? '--version' : '-v';
    return spawnSync(candidate, [flag], { stdio: 'ignore' }).error === undefined;
  });
}

/** Reason for the `skip` of a test: false if the program is installed. Envoy is had from no archive that every machine reaches. */
export const missing = (program: string): string | false =>
  find(program) !== undefined || (process.env['CI'] === 'true' && program !== 'envoy')
    ? false
    : `${program} is not installed; see tests/scenarios/install.sh`;

export interface Instance {
  name: string;
  port: number;
  agentPort: number;
  sluice: Sluice;
}

/** Options of a fleet: settings of each gateway, and its app. */
export interface FleetOptions {
  entry?: string;
  workers?: number;
  env?: Record<string, string>;
  /** Way to end a gateway; `stop` unless said. */
  end?: (sluice: Sluice) => Promise<unknown>;
}

/** Gateways that are called `a`, `b` and `c`. */
export class Fleet {
  readonly dir: string = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-fleet-'));
  readonly onceFile: string = path.join(this.dir, 'once');
  readonly instances: Instance[] = [];
  readonly #context: Cleanup;
  readonly #options: FleetOptions;

  constructor(context: Cleanup, options: FleetOptions) {
    this.#context = context;
    this.#options = options;
    context.after(() => {
      fs.rmSync(this.dir, { recursive: true, force: true });
    });
  }

  static async start(context: Cleanup, options: FleetOptions = {}): Promise<Fleet> {
    const fleet = new Fleet(context, options);
    for (const name of ['a', 'b', 'c']) {
      const [port, agentPort] = [await freePort(), await freePort()];
      fleet.instances.push({ name, port, agentPort, sluice: await fleet.#boot(name, port, agentPort) });
    }
    return fleet;
  }

  /** The instance with this name. */
  instance(name: string): Instance {
    const found = this.instances.find((each) => each.name === name);
    if (found === undefined) throw new Error(`there is no instance ${name}`);
    return found;
  }

  /** Starts an instance that has ended, at its old addresses. */
  async restart(name: string): Promise<void> {
    const instance = this.instance(name);
    instance.sluice = await this.#boot(name, instance.port, instance.agentPort);
  }

  async #boot(name: string, port: number, agentPort: number): Promise<Sluice> {
    const sluice = await startSluice({
      entry: this.#options.entry ?? path.join(repositoryDir, 'tests/scenarios/apps/once.js'),
      workers: this.#options.workers ?? 1,
      port,
      config: '[server]\ntrusted_peers = ["127.0.0.1"]\n',
      env: {
        INSTANCE: name,
        ONCE_FILE: this.onceFile,
        SLUICE_ADMIN_AGENT_ADDRESS: `127.0.0.1:${agentPort}`,
        ...this.#options.env,
      },
    });
    this.#context.after(async () => {
      await (this.#options.end?.(sluice) ?? sluice.stop());
    });
    return sluice;
  }

  /** Targets of POSTs that apps have seen more than once. */
  get twice(): string[] {
    const lines = fs.existsSync(this.onceFile) ? fs.readFileSync(this.onceFile, 'utf8').split('\n') : [];
    const targets = lines.filter(Boolean).map((line) => line.split(' ')[0] ?? '');
    return targets.filter((target, at) => targets.indexOf(target) !== at);
  }

  /** Runs a balancer in front of the fleet, and returns its port. */
  async balance(program: 'haproxy' | 'nginx' | 'envoy', change = (text: string) => text): Promise<number> {
    const port = await freePort();
    const [file, config] = [
      { haproxy: 'haproxy.cfg', nginx: 'nginx.conf', envoy: 'envoy.yaml' }[program],
      CONFIGS[program],
    ];
    const shipped = fs.readFileSync(path.join(repositoryDir, 'examples/behind', file), 'utf8');
    const written = path.join(this.dir, file);
    fs.writeFileSync(written, change(config(shipped, port, this.instances, this.dir)));
    const args = {
      haproxy: ['-db', '-f', written],
      nginx: ['-p', this.dir, '-c', written, '-e', path.join(this.dir, 'error.log')],
      envoy: ['-c', written, '--concurrency', '1', '--disable-hot-restart', '-l', 'error'],
    }[program];
    const log = fs.openSync(path.join(this.dir, `${program}.log`), 'a');
    const child = spawn(find(program) ?? program, args, { stdio: ['ignore', log, log] });
    fs.closeSync(log);
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    this.#context.after(async () => {
      process.removeListener('exit', kill);
      await ended(child);
    });
    await eventually(async () => (await get(port, '/')).status === 200, {
      deadlineMs: 20_000,
      what: `answers through ${program}`,
    });
    return port;
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

const ADDRESSES = ['10.0.0.11', '10.0.0.12', '10.0.0.13'];

/** The shipped configuration for instances on this machine. A text that is not found would leave one that tests nothing. */
function replaced(text: string, changes: readonly (readonly [string, string])[]): string {
  let result = text;
  for (const [before, after] of changes) {
    if (!result.includes(before)) throw new Error(`the configuration has no ${before}`);
    result = result.replaceAll(before, after);
  }
  return result;
}

type Write = (text: string, port: number, instances: readonly Instance[], dir: string) => string;

const CONFIGS: Record<'haproxy' | 'nginx' | 'envoy', Write> = {
  haproxy: (text, port, instances) =>
    replaced(text, [
      ['bind :80', `bind 127.0.0.1:${port}`],
      ...instances.map(
        (instance, at) =>
          [`${ADDRESSES[at]}:3000`, `127.0.0.1:${instance.port} agent-port ${instance.agentPort}`] as const,
      ),
    ]),
  nginx: (text, port, instances, dir) =>
    replaced(text, [
      ['events {', `daemon off;\npid ${dir}/nginx.pid;\nerror_log ${dir}/error.log;\nevents {`],
      [
        'http {\n',
        `http {\n  access_log off;\n${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
          .map((name) => `  ${name}_temp_path ${dir}/${name};\n`)
          .join('')}`,
      ],
      ['listen 80;', `listen 127.0.0.1:${port};`],
      ...instances.map(
        (instance, at) => [`server ${ADDRESSES[at]}:3000`, `server 127.0.0.1:${instance.port}`] as const,
      ),
    ]),
  envoy: (text, port, instances) =>
    replaced(text, [
      ['address: 0.0.0.0, port_value: 80', `address: 127.0.0.1, port_value: ${port}`],
      ...instances.map(
        (instance, at) =>
          [
            `address: ${ADDRESSES[at]}, port_value: 3000`,
            `address: 127.0.0.1, port_value: ${instance.port}`,
          ] as const,
      ),
    ]),
};

export interface Got {
  status: number;
  instance: string;
  headers: http.IncomingHttpHeaders;
}

/** A request on a connection of its own, or on one of the agent's. Rejects where the connection fails. */
export async function get(
  port: number,
  target: string,
  { method = 'GET', agent, body = '' }: { method?: string; agent?: http.Agent; body?: string } = {},
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      { port, host: '127.0.0.1', path: target, method, agent: agent ?? false, timeout: 30_000 },
      (response) => {
        response.on('error', reject).resume();
        response.on('end', () => {
          const { statusCode = 0, headers } = response;
          resolve({ status: statusCode, instance: String(headers['x-instance'] ?? ''), headers });
        });
      },
    );
    request.on('timeout', () => request.destroy(new Error('no answer within 30 s')));
    request.on('error', reject).end(body);
  });
}

/** Clients that ask one request after the other until they are stopped. */
export class Load {
  /** Answers by instance. */
  readonly answers = new Map<string, number>();
  readonly failures: string[] = [];
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  readonly #clients: Promise<void>[];
  #stopped = false;
  #number = 0;

  constructor(port: number, { clients = 6, posts = true, target = '/busy?ms=2' } = {}) {
    this.#clients = Array.from({ length: clients }, async (_, client) => {
      while (!this.#stopped) {
        const isPost = posts && (client + this.#number) % 3 === 0;
        await this.#ask(port, isPost ? `/post/${this.#number++}` : target, isPost ? 'POST' : 'GET');
      }
    });
  }

  get count(): number {
    return [...this.answers.values()].reduce((sum, each) => sum + each, 0) + this.failures.length;
  }

  async #ask(port: number, target: string, method: string): Promise<void> {
    this.#number += 1;
    try {
      const { status, instance } = await get(port, target, {
        method,
        agent: this.#agent,
        body: method === 'POST' ? 'x' : '',
      });
      if (status === 200) this.answers.set(instance, (this.answers.get(instance) ?? 0) + 1);
      else this.failures.push(`${method} ${target}: ${status} of ${instance}`);
    } catch (error) {
      this.failures.push(`${method} ${target}: ${String(error)}`);
    }
  }

  /** Waits for this many further answers. */
  async more(count: number): Promise<void> {
    const from = this.count;
    await eventually(() => this.count >= from + count, { deadlineMs: 60_000, what: `${count} answers` });
  }

  /** Answers of an instance so far. */
  of(name: string): number {
    return this.answers.get(name) ?? 0;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#clients);
    this.#agent.destroy();
  }
}
