/**
 * Answers for loops of the app that let others in (`packages/breathe`): whether somebody waits for the main thread. Such are the
 * other requests inside, and those that the gateway has given to this worker since. The event loop, which would read them, does not
 * turn during a loop, so the gateway counts them in a file, where a read takes a microsecond. What threads of that package work
 * counts for the request that asked for it.
 *
 * It must not know loops.
 */
import { openSync, readSync } from 'node:fs';
import type { Control } from '../control/control.js';
import type { OwnCpu } from '../cpu/own-cpu.js';
import { now_ms } from '../timers.js';

/** Symbol as `packages/breathe/src/host.ts` has it. */
export const breathingKey = Symbol.for('sluice.breathe.1');
/** The gateway takes it for 120 ms that such a loop runs. */
const SAY_EVERY_MS = 50;

/** Requests in the app's hands. */
interface Inside {
  readonly inside: number;
}

export class Breathing {
  readonly #control: Pick<Control, 'send'>;
  readonly #requests: Inside;
  readonly #cpu: Pick<OwnCpu, 'offload'>;
  readonly #given: GivenCount;
  #said_ms = Number.NEGATIVE_INFINITY;

  constructor(
    control: Pick<Control, 'send'>,
    requests: Inside,
    cpu: Pick<OwnCpu, 'offload'>,
    socketPath: string,
  ) {
    this.#cpu = cpu;
    this.#control = control;
    this.#requests = requests;
    this.#given = new GivenCount(`${socketPath}.given`);
  }

  /** The request that runs has work done by another thread from now on. Returns what takes the CPU time of that work at its end. */
  offloads(): (cpu_us: number) => void {
    return this.#cpu.offload();
  }

  /** Whether another request is known to wait for this thread. Asked by loops once a used-up budget. */
  somebodyWaits(): boolean {
    const at_ms = now_ms();
    const isGiven = this.#given.hasChanged();
    if (isGiven || at_ms - this.#said_ms >= SAY_EVERY_MS) {
      this.#said_ms = at_ms;
      // It goes out at once, without a turn of the event loop.
      this.#control.send({ type: 'breathes' });
    }
    return isGiven || this.#requests.inside > 1;
  }
}

/** Offers that to the app. */
export function offerBreathing(control: Control, requests: Inside, cpu: OwnCpu, socketPath: string): void {
  Object.defineProperty(globalThis, breathingKey, {
    value: new Breathing(control, requests, cpu, socketPath),
  });
}

/** The byte that the gateway counts up. It is there soon after the first line. */
class GivenCount {
  readonly #path: string;
  readonly #byte = Buffer.alloc(1);
  #fd: number | undefined;
  #seen = 0;

  constructor(path: string) {
    this.#path = path;
  }

  hasChanged(): boolean {
    try {
      this.#fd ??= open(this.#path, 'r');
      read(this.#fd, this.#byte, 0, 1, 0);
    } catch {
      return false; // It is not there yet.
    }
    const [count = 0] = this.#byte;
    if (count === this.#seen) return false;
    this.#seen = count;
    return true;
  }
}

// Before the app can replace them.
const open = openSync;
const read = readSync;
