/**
 * Requests that the gateway hands over ahead of time, while the app has another. They wait in the gate, and the gateway can
 * take them back as long as the app has not seen them, even while the event loop is blocked.
 *
 * Gateway and worker share a named pipe. Each handing over has a number of its own, which stands in the label; the gateway
 * writes it into the pipe when it hands the request over. Whichever side reads the number out has the request: the worker to
 * begin it, the gateway to give it to another worker.
 */
import { constants, openSync, readSync } from 'node:fs';

/** A number in the pipe: 64 bits, least significant byte first. */
const ENTRY_BYTES = 8;
/** Maximum number of request numbers read before their requests arrive. More are forgotten, oldest first. */
const TAKEN_MAX = 64;

export class Handed {
  readonly #entry = Buffer.alloc(ENTRY_BYTES);
  /** Numbers that this process has read out and not used yet. */
  readonly #taken = new Set<number>();
  #fd: number | undefined;

  /** Opens the pipe beside the worker's socket. False where there is none. */
  open(socketPath: string): boolean {
    try {
      // For writing too, so that the pipe is never without a writer, which would read as its end.
      this.#fd = openSync(`${socketPath}.handed`, constants.O_RDWR | constants.O_NONBLOCK);
    } catch {
      return false;
    }
    return true;
  }

  /** Takes the request over for good. False when the gateway has taken it back: the app must never see it then. */
  take(label: string): boolean {
    const wanted = Number(label.slice(label.lastIndexOf('=') + 1));
    if (this.#taken.delete(wanted)) return true;
    // What stands before it in the pipe has come in on another connection, or its connection was lost.
    for (let number = this.#next(); number !== undefined; number = this.#next()) {
      if (number === wanted) return true;
      if (this.#taken.size >= TAKEN_MAX) this.#forgetOldest();
      this.#taken.add(number);
    }
    return false;
  }

  #next(): number | undefined {
    if (this.#fd === undefined) return undefined;
    try {
      // The kernel moves so few bytes whole or not at all.
      if (read(this.#fd, this.#entry, 0, ENTRY_BYTES, null) !== ENTRY_BYTES) return undefined;
    } catch {
      return undefined; // EAGAIN: it is empty.
    }
    return this.#entry.readUInt32LE(4) * 2 ** 32 + this.#entry.readUInt32LE(0);
  }

  #forgetOldest(): void {
    for (const oldest of this.#taken) {
      this.#taken.delete(oldest);
      return;
    }
  }
}

// Before the app can replace it.
const read = readSync;

/** Whether the gateway has handed this request over ahead of time. The number of that stands last in the label. */
export function isHanded(label: string): boolean {
  return label.lastIndexOf(MARK) > 0;
}

const MARK = ';handed=';
