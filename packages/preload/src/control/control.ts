/**
 * The control channel to the gateway. Before this process has the role it only remembers what the app said. From
 * `open()` on it is one unix connection that never keeps the app alive and whose end means that the gateway is gone. It
 * must not know what the messages mean.
 */
import { writeSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import type { Settings } from '../env.js';
import { parseLine, readLines } from '../channel/lines.js';
import { type FromGateway, PROTOCOL, type ToGateway } from './messages.js';

/** Maximum number of lines that wait for the connection to the gateway. */
const EARLY_LINES_MAX = 100;
/** Maximum size of lines that wait for a gateway that does not read, bytes. */
const UNSENT_BYTES_MAX = 4 * 1024 * 1024;
/** Maximum length of a line from the gateway, characters. */
const LINE_CHARACTERS_MAX = 16 * 1024 * 1024;

export class Control {
  readonly #settings: Settings;
  readonly #early: string[] = [];
  #socket: Socket | undefined;
  readonly #listeners: ((message: FromGateway) => void)[] = [];
  readonly #openers: (() => void)[] = [];

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  onMessage(listener: (message: FromGateway) => void): void {
    this.#listeners.push(listener);
  }

  /** Called when this process has got the role, after `hello`. */
  onOpen(opener: () => void): void {
    this.#openers.push(opener);
  }

  /**
   * Connects and says hello. Called once, by the process that has the role. `marks` says whether answers carry tokens,
   * `takesAhead` whether requests may be handed over ahead of time.
   */
  open(marks: boolean, takesAhead: boolean): void {
    if (this.#socket !== undefined) return;
    const socket = connect({ path: this.#settings.controlPath });
    this.#socket = socket;
    socket.unref();
    socket.on('error', () => {}); // 'close' follows and is the one place that acts.
    socket.on('close', leaveAsOrphan);
    readLines(socket, LINE_CHARACTERS_MAX, (line) => {
      const message = parseFromGateway(line);
      if (message !== undefined) for (const listener of this.#listeners) listener(message);
    });
    this.send({
      type: 'hello',
      worker: this.#settings.worker,
      marks,
      takes_ahead: takesAhead,
      protocol: PROTOCOL,
    });
    for (const line of this.#early.splice(0)) socket.write(line);
    for (const opener of this.#openers) opener();
  }

  /** False when the line could not be taken: too much is waiting for the gateway to read. */
  send(message: ToGateway): boolean {
    const line = `${JSON.stringify(message)}\n`;
    if (this.#socket === undefined) {
      if (this.#early.length >= EARLY_LINES_MAX) return false;
      this.#early.push(line);
      return true;
    }
    if (this.#socket.writableLength > UNSENT_BYTES_MAX) return false;
    this.#socket.write(line);
    return true;
  }
}

const exit = process.exit.bind(process);

/** Exits at once: without its gateway a worker would hold memory and serve nobody. */
function leaveAsOrphan(): void {
  try {
    writeSync(2, 'sluice: the gateway has exited, so this worker exits.\n');
  } catch {
    // Whoever read the output may be gone as well.
  }
  // In a thread `process.exit` ends only the thread.
  if (isMainThread) exit(1);
  else process.kill(process.pid, 'SIGTERM');
}

/** Undefined for a line that this version does not know, which is skipped so that the gateway may learn new ones. */
function parseFromGateway(line: string): FromGateway | undefined {
  const value = parseLine(line);
  if (value === undefined) return undefined;
  const { type } = value;
  if (type === 'message' && 'message' in value) return { type, message: value['message'] };
  if (type === 'look' || type === 'drop-profile' || type === 'close-inspector') return { type };
  if (type === 'render') return parseRender(value);
  if (type === 'overruns') return parseOverruns(value);
  if (type === 'routes') return parseRoutes(value);
  if (type === 'purged' || type === 'purge-parts') return parsePurging(value);
  return type === 'profile' || type === 'heap' ? parseProfiling(value) : undefined;
}

function parseRender({ server, vitals }: Readonly<Record<string, unknown>>): FromGateway | undefined {
  if (typeof server !== 'object' || server === null || typeof vitals !== 'string') return undefined;
  const shares = Object.entries(server).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number' && entry[1] >= 0 && entry[1] <= 1,
  );
  return { type: 'render', server: Object.fromEntries(shares), vitals };
}

function parseOverruns({ heard, components }: Readonly<Record<string, unknown>>): FromGateway | undefined {
  if (typeof heard !== 'number' || typeof components !== 'object' || components === null) return undefined;
  const counts = Object.entries(components).filter((entry): entry is [string, OverrunCount] => {
    const { count, ago_ms } = (entry[1] ?? {}) as Partial<Record<string, unknown>>;
    return typeof count === 'number' && typeof ago_ms === 'number';
  });
  return { type: 'overruns', heard, components: Object.fromEntries(counts) };
}

type OverrunCount = Extract<FromGateway, { type: 'overruns' }>['components'][string];

function parsePurging(value: Readonly<Record<string, unknown>>): FromGateway | undefined {
  const { type, serial, counts, tags, all } = value;
  if (typeof serial !== 'number') return undefined;
  if (type === 'purged' && Array.isArray(counts)) return { type, serial, counts: counts.map(Number) };
  if (type !== 'purge-parts' || !Array.isArray(tags)) return undefined;
  return { type, serial, tags: tags.map(String), all: all === true };
}

function parseRoutes({ number, file }: Readonly<Record<string, unknown>>): FromGateway | undefined {
  return typeof number === 'number' && typeof file === 'string'
    ? { type: 'routes', number, file }
    : undefined;
}

function parseProfiling(value: Readonly<Record<string, unknown>>): FromGateway | undefined {
  const { type, number, duration_ms, file, requests, kind } = value;
  if (typeof number !== 'number' || typeof duration_ms !== 'number' || typeof file !== 'string')
    return undefined;
  if (type === 'profile') return { type, number, duration_ms, file, requests: requests === true };
  if (kind !== 'snapshot' && kind !== 'sampling' && kind !== 'allocations') return undefined;
  return { type: 'heap', number, kind, duration_ms, file };
}
