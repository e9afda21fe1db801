// A server of Redis on a socket in a temporary directory, and a proxy that stands between it and a gateway and breaks what passes.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { eventually } from './eventually.ts';

/** A test's context, or whatever else says when all is over. */
interface Cleanup {
  after(clean: () => void | Promise<void>): void;
}

/** Reason for the `skip` of a test: false if the server is installed. */
export const missing: string | false =
  spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).error === undefined ||
  process.env['CI'] === 'true'
    ? false
    : 'redis-server is not installed; see tests/scenarios/install.sh';

export class Redis {
  readonly dir: string;
  readonly socket: string;
  readonly #flags: string[];
  #child: ChildProcess | undefined;

  private constructor(dir: string, flags: string[]) {
    this.dir = dir;
    this.socket = path.join(dir, 'redis.sock');
    this.#flags = flags;
  }

  static async start(t: Cleanup, ...flags: string[]): Promise<Redis> {
    const redis = new Redis(fs.mkdtempSync(path.join(os.tmpdir(), 'slu-redis-')), flags);
    t.after(async () => {
      await redis.kill();
      fs.rmSync(redis.dir, { recursive: true, force: true });
    });
    await redis.begin();
    return redis;
  }

  get url(): string {
    return `unix://${this.socket}`;
  }

  /** Starts it, with nothing in it. */
  async begin(): Promise<void> {
    const args = [
      '--port',
      '0',
      '--unixsocket',
      this.socket,
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      this.dir,
    ];
    this.#child = spawn('redis-server', [...args, ...this.#flags], { stdio: 'ignore' });
    await eventually(async () => /PONG|NOAUTH/.test(await this.ask('PING')), {
      what: 'an answer of redis-server',
    });
  }

  /** SIGKILL; what was in it is lost. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    fs.rmSync(this.socket, { force: true });
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(name);
  }

  /** A command in one line; its answer as it comes. */
  ask(command: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(this.socket, () => socket.write(`${command}\r\nQUIT\r\n`));
      let answer = '';
      socket.setEncoding('utf8');
      socket.on('data', (piece: string) => (answer += piece));
      socket.on('end', () => resolve(answer));
      socket.on('error', reject);
    });
  }
}

/** Treatment of answers by a proxy: passes them on, late, as something else, or the first half of one; `shut` lets nobody through. */
export type Fault = 'none' | 'late' | 'garbage' | 'half' | 'shut';

let proxies = 0;

export class Proxy {
  fault: Fault = 'none';
  readonly url: string;
  readonly #pairs = new Set<[net.Socket, net.Socket]>();

  private constructor(url: string) {
    this.url = url;
  }

  static async before(t: Cleanup, redis: Redis): Promise<Proxy> {
    const socket = path.join(redis.dir, `proxy-${(proxies += 1)}.sock`);
    const proxy = new Proxy(`unix://${socket}`);
    const server = net.createServer((client) => proxy.#carry(client, net.connect(redis.socket)));
    server.listen(socket);
    await once(server, 'listening');
    t.after(() => {
      server.close();
      proxy.#end();
    });
    return proxy;
  }

  /** Lets nobody through any more. */
  shut(): void {
    this.fault = 'shut';
    this.#end();
  }

  #end(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  #carry(client: net.Socket, server: net.Socket): void {
    const pair: [net.Socket, net.Socket] = [client, server];
    const end = (): void => {
      this.#pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    if (this.fault === 'shut') return end();
    this.#pairs.add(pair);
    for (const socket of pair) socket.on('error', end).on('close', end);
    client.on('data', (data) => server.write(data));
    server.on('data', (data) => {
      const pass = (): boolean => client.write(data);
      if (this.fault === 'garbage') client.write('HTTP/1.1 400 Bad Request\r\n\r\n');
      else if (this.fault === 'half') client.end(data.subarray(0, data.length / 2));
      else if (this.fault === 'late') setTimeout(pass, 50);
      else pass();
    });
  }
}
