/**
 * HTTP servers that listen before it is known which one is the app's main server: one for metrics or health often listens
 * long before the app does. They wait for a server on the port that is meant, as long as the app still does anything but
 * wait for connections. Without one, the first of them is taken. It must not know how a server becomes the main one.
 */
import type { Server as HttpServer } from 'node:http';
import { Idle } from './idle.js';
import type { ListenAddress } from '../control/messages.js';
import { later } from '../timers.js';

export interface Candidate {
  readonly server: HttpServer;
  readonly requested: ListenAddress;
  /** Path on which it listens meanwhile; undefined for port 0, which has its address on loopback already. */
  readonly socketPath: string | undefined;
}

export class Candidates {
  readonly #wait_ms: number;
  readonly #decide: (waited_ms: number) => void;
  readonly #idle: Idle;
  #waiting: Candidate[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Waits for ever where `wait_ms` is Infinity. `decide` hears 0 where nothing was left to wait for. */
  constructor(wait_ms: number, decide: (waited_ms: number) => void) {
    this.#wait_ms = wait_ms;
    this.#decide = decide;
    this.#idle = new Idle(() => decide(0));
  }

  add(candidate: Candidate): void {
    this.#waiting.push(candidate);
    if (this.#wait_ms === Infinity) return;
    this.#idle.leaveOut(candidate.server);
    this.#timer ??= later(() => this.#decide(this.#wait_ms), this.#wait_ms).unref();
  }

  /** Takes those that still listen, in the order in which they came; none waits any more. */
  take(): Candidate[] {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#idle.end();
    return this.#waiting.splice(0).filter(({ server }) => server.listening);
  }

  /** Whether one of them still listens. */
  get areThere(): boolean {
    return this.#waiting.some(({ server }) => server.listening);
  }
}

/** The one on a fixed address that came first. A server on port 0 is another's inner one, if there is another. */
export function best(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.find(({ requested }) => requested.port !== 0) ?? candidates[0];
}
