/**
 * Notices that nothing but some servers keeps this process alive: no timer, no connection, no work under way. Nothing that the
 * app has begun can open a further server then, so nobody has to wait for one. It must not know what the servers are for.
 */
import type { Server } from 'node:net';
import { isLetGo } from './misfits.js';

type Emit = (this: unknown, event: string | symbol, ...parts: unknown[]) => boolean;

export class Idle {
  readonly #onIdle: () => void;
  /** Whether the app wants each of them to keep the process alive. */
  readonly #wishes = new Map<Server, boolean>();
  #emit: Emit | undefined;

  constructor(onIdle: () => void) {
    this.#onIdle = onIdle;
  }

  /** The server keeps the process alive no more, until the end of the watch. */
  leaveOut(server: Server): void {
    if (this.#wishes.has(server)) return;
    this.#wishes.set(server, !isLetGo(server));
    server.unref();
    const wish = (isWanted: boolean): Server => {
      this.#wishes.set(server, isWanted);
      return server;
    };
    Object.assign(server, { ref: () => wish(true), unref: () => wish(false) });
    if (this.#emit === undefined) this.#catchBeforeExit();
  }

  /** Gives every server back what the app wants of it. */
  end(): void {
    for (const [server, isWanted] of this.#wishes) {
      Reflect.deleteProperty(server, 'ref');
      Reflect.deleteProperty(server, 'unref');
      if (isWanted) server.ref();
    }
    this.#wishes.clear();
  }

  /** The app must not hear of it: alone, its servers keep it alive. */
  #catchBeforeExit(): void {
    // Left in place after the end, because others may have put theirs around it.
    const before = process.emit as Emit;
    this.#emit = (event, ...parts) => {
      if (event !== 'beforeExit' || this.#wishes.size === 0)
        return Reflect.apply(before, process, [event, ...parts]);
      // First, so that a server of theirs keeps the process alive whatever is done.
      this.end();
      this.#onIdle();
      return true;
    };
    Object.assign(process, { emit: this.#emit });
  }
}
