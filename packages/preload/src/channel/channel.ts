/**
 * Messages between the workers of an app: the other end of `channel` of `@sluice/preload`. Each worker that uses it has a unix socket
 * beside its own, on which the others send to it. So messages cost the gateway nothing, and a worker that is behind holds up nobody else. A
 * worker that comes reads the names of the others from the directory and says hello to them, and they connect to it in return.
 *
 * Like `process.on('message')` under Sluice, it keeps no process alive.
 */
import { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { chmodSync, readdirSync } from 'node:fs';
import { connect, createServer, Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { Channel as ChannelHost } from '../api.js';
import type { Control } from '../control/control.js';
import { parseLine, readLines } from './lines.js';

/** Maximum length of a message as JSON, characters. */
const MESSAGE_CHARACTERS_MAX = 1024 * 1024;
/** Maximum size of messages that wait for a worker that does not read, bytes. */
const UNSENT_BYTES_MAX = 4 * 1024 * 1024;
/** Maximum number of messages that wait until this process serves. */
const EARLY_MAX = 100;
/** Maximum length of a line with a message, characters. */
const LINE_CHARACTERS_MAX = MESSAGE_CHARACTERS_MAX + 100;

type Listener = (message: unknown, from: number) => void;

interface Early {
  readonly to: number | undefined;
  readonly line: string;
}

export class Channel implements ChannelHost {
  readonly worker: number;
  readonly #directory: string;
  readonly #listen: (this: Server, options: object) => Server;
  /** A first use in a request's handler must not make its async context that of all messages. */
  readonly #scope = new AsyncResource('sluice-channel');
  readonly #emitter = new EventEmitter();
  /** Connections to the others, on which only this side sends. */
  readonly #others = new Map<number, Socket>();
  readonly #early: Early[] = [];
  readonly #warned = new Set<number>();
  #serves = false;
  #isWanted = false;
  #isOpen = false;

  /** Takes Node's own `listen()`, so it is made before that is caught. */
  constructor(
    { worker, socketPath }: { readonly worker: number; readonly socketPath: string },
    control: Control,
  ) {
    this.worker = worker;
    this.#directory = dirname(socketPath);
    this.#listen = Server.prototype.listen as (this: Server, options: object) => Server;
    control.onOpen(() => {
      this.#serves = true;
      if (this.#isWanted) this.#open();
    });
  }

  get workers(): readonly number[] {
    this.#want();
    return [...this.#others.keys()].sort((one, other) => one - other);
  }

  on(event: 'message', listener: Listener): void {
    this.#emitter.on(event, listener);
    this.#want();
  }

  off(event: 'message', listener: Listener): void {
    this.#emitter.off(event, listener);
  }

  send(to: number, message: unknown): boolean {
    const line = lineOf(message);
    this.#want();
    if (!this.#isOpen) return this.#keep({ to, line });
    return this.#write(to, line);
  }

  broadcast(message: unknown): readonly number[] {
    const line = lineOf(message);
    this.#want();
    if (!this.#isOpen) {
      if (this.#keep({ to: undefined, line })) return [];
      throw new RangeError(`${EARLY_MAX} messages wait until this worker listens; send them when it does`);
    }
    return this.workers.filter((to) => !this.#write(to, line));
  }

  #want(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    if (this.#serves) this.#open();
  }

  #keep(early: Early): boolean {
    if (this.#early.length >= EARLY_MAX) return false;
    this.#early.push(early);
    return true;
  }

  #write(to: number, line: string): boolean {
    const socket = this.#others.get(to);
    if (socket === undefined) return false;
    if (socket.writableLength <= UNSENT_BYTES_MAX) {
      socket.write(line);
      return true;
    }
    if (!this.#warned.has(to)) {
      this.#warned.add(to);
      process.stderr.write(
        `sluice: worker ${to} receives messages of the app more slowly than worker ${this.worker} sends them: over ${UNSENT_BYTES_MAX / 1024 / 1024} MiB wait, so it misses some. Send fewer, or find what keeps it busy with sluice profile --worker ${to}.\n`,
      );
    }
    return false;
  }

  #open(): void {
    this.#scope.runInAsyncScope(() => {
      const server = createServer((socket) => this.#hear(socket)).unref();
      server.on('error', (error) => {
        process.stderr.write(
          `sluice: worker ${this.worker} cannot receive messages of the app: ${error.message}\n`,
        );
      });
      const path = this.#pathOf(this.worker);
      // Exclusive, because in a node:cluster worker the primary would otherwise listen in its place.
      Reflect.apply(this.#listen, server, [{ path, exclusive: true }]);
      // Its folder is private already; this keeps the rule where somebody loosens that.
      if (server.listening) chmodSync(path, 0o600);
      // From here on whoever comes finds this worker, so nobody is missed.
      for (const name of readdirSync(this.#directory)) {
        const [, other] = /^(\d{1,15})\.channel$/.exec(name) ?? [];
        if (other !== undefined && Number(other) !== this.worker) this.#connect(Number(other));
      }
      this.#isOpen = true;
      for (const { to, line } of this.#early.splice(0)) {
        for (const other of to === undefined ? this.workers : [to]) this.#write(other, line);
      }
    });
  }

  #connect(other: number): void {
    if (this.#others.has(other)) return;
    const socket = connect({ path: this.#pathOf(other) }).unref();
    this.#others.set(other, socket);
    socket.on('error', () => {}); // 'close' follows: that worker has gone.
    socket.on('close', () => {
      this.#others.delete(other);
      this.#warned.delete(other);
    });
    socket.resume();
    socket.write(`${JSON.stringify({ worker: this.worker })}\n`);
  }

  #hear(socket: Socket): void {
    let from: number | undefined;
    socket.unref();
    socket.on('error', () => {}); // The other end sees to it.
    readLines(socket, LINE_CHARACTERS_MAX, (line) => {
      const said = parseLine(line);
      if (from !== undefined && said !== undefined && 'message' in said) {
        this.#emitter.emit('message', said['message'], from);
      } else if (from === undefined && typeof said?.['worker'] === 'number') {
        from = said['worker'];
        this.#connect(from);
      }
    });
  }

  #pathOf(worker: number): string {
    return join(this.#directory, `${worker}.channel`);
  }
}

function lineOf(message: unknown): string {
  const text = JSON.stringify(message) as string | undefined;
  if (text === undefined) throw new TypeError('a message must be a value that JSON can represent');
  if (text.length > MESSAGE_CHARACTERS_MAX) {
    throw new RangeError(
      `a message has ${text.length} characters as JSON, ${MESSAGE_CHARACTERS_MAX} at most: send the name of a file or of a key instead`,
    );
  }
  return `{"message":${text}}\n`;
}
