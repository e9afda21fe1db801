/**
 * Plays the gateway for real child processes: a control server that records what the preload says, and a client on
 * the worker's unix socket. It does not queue or limit; that is what lets it break the rules on purpose.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, request as httpRequest, type RequestOptions } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const PUBLIC_PORT = 39_417;
/** Who the client of a further address is. */
export const CLIENT = 'PROXY TCP4 203.0.113.9 192.0.2.1 51234 9091\r\n';
const DEADLINE_MS = 15_000;
const PRELOAD = new URL('../dist/index.js', import.meta.url).href;
const NODE = process.env['SLUICE_TEST_NODE'] ?? process.execPath;

export type Line = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Ask {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly label?: string | null;
  readonly agent?: Agent;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Loads the preload as `sluice start -- command` does. */
  readonly viaNodeOptions?: boolean;
  readonly concurrency?: number;
  /** Requests may be handed over ahead of time. */
  readonly takesAhead?: boolean;
}

export class FakeGateway {
  readonly folder = mkdtempSync(join(tmpdir(), 'slu-'));
  readonly socketPath = join(this.folder, '7.sock');
  readonly controlPath = join(this.folder, 'c.sock');
  readonly lines: Line[] = [];
  readonly agent = new Agent({ keepAlive: true, maxSockets: 50 });
  output = '';
  exitCode: number | null | undefined;
  child: ChildProcess | undefined;
  #control: Server | undefined;
  #connections: Socket[] = [];
  #nextId = 1;
  #handed: number | undefined;
  #handedAs = 4_294_967_290;

  static async start(fixture: string, options: StartOptions = {}): Promise<FakeGateway> {
    const gateway = new FakeGateway();
    if (options.takesAhead === true) gateway.openPipe();
    await gateway.#open();
    gateway.#spawn(fixture, options);
    return gateway;
  }

  /** Starts and waits until the main server listens. */
  static async serve(fixture: string, options: StartOptions = {}): Promise<FakeGateway> {
    const gateway = await FakeGateway.start(fixture, options);
    try {
      await gateway.line('listening');
    } catch (error) {
      await gateway.stop();
      throw error;
    }
    return gateway;
  }

  async #open(): Promise<void> {
    const control = createServer((socket) => {
      this.#connections.push(socket);
      let rest = '';
      socket.setEncoding('utf8');
      socket.on('error', () => {});
      socket.on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) this.lines.push(JSON.parse(line) as Line);
      });
    });
    this.#control = control;
    await new Promise<void>((done) => control.listen(this.controlPath, done));
  }

  /** Before the worker starts: it may get requests ahead of time then. */
  openPipe(): void {
    const path = `${this.socketPath}.handed`;
    execFileSync('mkfifo', [path]);
    this.#handed = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  }

  /** Asks ahead of time: the request is the worker's if it takes the number out of the pipe first. */
  hand(ask: Ask = {}): { readonly id: number; readonly number: number; readonly answer: Promise<Answer> } {
    const { id, number, label } = this.number();
    return { id, number, answer: this.ask({ ...ask, label }) };
  }

  /** Puts the number of a request into the pipe that is still to be sent. */
  number(): { readonly id: number; readonly number: number; readonly label: string } {
    const label = this.label();
    const id = Number(/^id=(\d+)/.exec(label)?.[1]);
    const number = ++this.#handedAs;
    const entry = Buffer.alloc(8);
    entry.writeBigUInt64LE(BigInt(number));
    writeSync(this.#handed ?? -1, entry);
    return { id, number, label: `${label};handed=${number}` };
  }

  /** Takes back what the worker has not begun. */
  takeBack(): number[] {
    const numbers: number[] = [];
    const entry = Buffer.alloc(8);
    for (;;) {
      try {
        readSync(this.#handed ?? -1, entry);
      } catch {
        return numbers; // EAGAIN: it is empty.
      }
      numbers.push(Number(entry.readBigUInt64LE()));
    }
  }

  #spawn(fixture: string, options: StartOptions): void {
    const file = fileURLToPath(new URL(`fixtures/${fixture}`, import.meta.url));
    const load = `--import=${PRELOAD}`;
    const viaOptions = options.viaNodeOptions === true;
    const { NODE_OPTIONS: _inherited, NODE_TEST_CONTEXT: _context, ...inherited } = process.env;
    this.child = spawn(NODE, [...(viaOptions ? [] : [load]), file, ...(options.args ?? [])], {
      // A group of its own, like under the gateway, so that its children end with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...inherited,
        ...(viaOptions ? { NODE_OPTIONS: load } : {}),
        PORT: String(PUBLIC_PORT),
        NODE_ENV: 'production',
        SLUICE_WORKER: '7',
        SLUICE_SOCKET: this.socketPath,
        SLUICE_CONTROL: this.controlPath,
        SLUICE_CONCURRENCY: String(options.concurrency ?? 1),
        SLUICE_PORT_PUBLIC: String(PUBLIC_PORT),
        SLUICE_MAIN_WAIT_MS: '100',
        ...options.env,
      },
    });
    this.child.stdout?.on('data', (data: Buffer) => (this.output += data.toString()));
    this.child.stderr?.on('data', (data: Buffer) => (this.output += data.toString()));
    this.child.on('exit', (code) => (this.exitCode = code));
  }

  /** Polls until the check gives something. */
  async until<T>(what: string, check: () => T | undefined | false): Promise<T> {
    const deadline = performance.now() + DEADLINE_MS;
    let afterExit = 0; // What an exited child still sent may be on its way.
    for (;;) {
      const found = check();
      if (found !== undefined && found !== false) return found;
      if (
        performance.now() > deadline ||
        (this.exitCode !== undefined && what !== 'exit' && ++afterExit > 20)
      ) {
        assert.fail(
          `no ${what}; exit ${this.exitCode}; lines ${JSON.stringify(this.lines)}; output ${this.output}`,
        );
      }
      await pause(5);
    }
  }

  line(type: string, matches: (line: Line) => boolean = () => true): Promise<Line> {
    return this.until(type, () => this.lines.find((line) => line.type === type && matches(line)));
  }

  /** The first JSON line that the app printed with this key. */
  printed(key: string): Promise<unknown> {
    return this.until(`printed ${key}`, () => {
      for (const text of this.output.split('\n').slice(0, -1)) {
        if (!text.startsWith('{')) continue;
        const value = JSON.parse(text) as Record<string, unknown>;
        if (key in value) return { value: value[key] };
      }
      return undefined;
    }).then(({ value }) => value);
  }

  exited(): Promise<{ code: number | null }> {
    return this.until('exit', () => (this.exitCode === undefined ? undefined : { code: this.exitCode }));
  }

  tell(message: unknown): void {
    this.say({ type: 'message', message });
  }

  /** Says a line to the worker. */
  say(line: Line): void {
    for (const socket of this.#connections) socket.write(`${JSON.stringify(line)}\n`);
  }

  label(rest = 'peer=203.0.113.9:51234;local=192.0.2.1:3000;proto=http'): string {
    return `id=${this.#nextId++};${rest}`;
  }

  ask(ask: Ask = {}): Promise<Answer> {
    const label = ask.label === undefined ? this.label() : ask.label;
    return new Promise((done, fail) => {
      const request = httpRequest(
        {
          socketPath: this.socketPath,
          agent: ask.agent ?? this.agent,
          path: ask.path ?? '/',
          method: ask.method ?? 'GET',
          headers: {
            host: 'shop.test',
            ...ask.headers,
            ...(label === null ? {} : { 'x-sluice-request': label }),
          },
        },
        (response) => {
          let body = '';
          response.setEncoding('utf8');
          response.on('data', (text: string) => (body += text));
          response.on('error', fail);
          response.on('end', () =>
            done({ status: response.statusCode ?? 0, headers: response.headers, body }),
          );
        },
      );
      request.on('error', fail);
      request.end(ask.body);
    });
  }

  async askJson(ask: Ask = {}): Promise<Record<string, unknown>> {
    return JSON.parse((await this.ask(ask)).body) as Record<string, unknown>;
  }

  /** A raw connection to the worker, for what an HTTP client would not send. */
  raw(path = this.socketPath): Socket {
    const socket = connect(path);
    socket.setEncoding('utf8');
    socket.on('error', () => {});
    return socket;
  }

  /** A client's connection to a further address, as the gateway passes it on. */
  async further(aux: Line, preface = CLIENT): Promise<Socket> {
    const socket = connect(String(aux['socket']));
    socket.on('error', () => {});
    socket.write(preface);
    await this.until('acknowledgement', () => socket.readableLength > 0);
    // Until the worker acknowledges it, nothing is read that is the client's.
    assert.equal(String(socket.read(1)), '\n');
    return socket;
  }

  /** What the app answers to a GET of a client at a further address. */
  async furtherText(aux: Line, options: RequestOptions = {}): Promise<string> {
    const socket = await this.further(aux);
    return new Promise((done, fail) => {
      const request = httpRequest({ createConnection: () => socket, ...options }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => (body += text));
        response.on('end', () => done(body));
      });
      request.on('error', fail);
      request.end();
    });
  }

  dropControl(): void {
    for (const socket of this.#connections) socket.destroy();
  }

  async stop(): Promise<void> {
    this.agent.destroy();
    const child = this.child;
    if (child?.pid !== undefined) {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The whole group has ended already.
      }
      await this.until('exit', () => child.exitCode !== null || child.signalCode !== null);
    }
    this.dropControl();
    this.#control?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
