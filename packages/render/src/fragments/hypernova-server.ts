/**
 * A process that serves fragments until it is told to stop: hooks before it listens and after it has closed, and the signals and
 * errors between. It must not know the protocol.
 */
import type { Server } from 'node:http';
import type { Fragments } from './fragments.js';
import type { Logger } from './hypernova-options.js';
import { withDeadline } from '../tasks/deadline.js';
import { logText } from '../thrown.js';

const CLOSE_TIMEOUT_MS = 1_000;

export class FragmentServer {
  readonly #fragments: Fragments;
  readonly #listen: () => Server;
  readonly #logger: Logger;
  #server: Server | undefined;
  #isStopping = false;

  constructor(fragments: Fragments, listen: () => Server, logger: Logger) {
    this.#fragments = fragments;
    this.#listen = listen;
    this.#logger = logger;
  }

  async start(): Promise<void> {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void this.stop(0));
    process.on('uncaughtException', (error) => void this.stop(1, error));
    try {
      await this.#fragments.initialize();
      this.#server = this.#listen();
    } catch (error) {
      await this.stop(1, error);
    }
  }

  /** Answers what has come, runs the `shutDown` hooks, and ends the process. */
  async stop(code: number, error?: unknown): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    if (error !== undefined) this.#log(error);
    let exitCode = code;
    try {
      await this.#close();
      await this.#fragments.shutDown(error);
    } catch (failure) {
      this.#log(failure);
      exitCode = 1;
    }
    process.exit(exitCode);
  }

  #log(thrown: unknown): void {
    this.#logger.log('error', logText(thrown));
  }

  async #close(): Promise<void> {
    const server = this.#server;
    if (server?.listening !== true) return;
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    try {
      await withDeadline(closed, CLOSE_TIMEOUT_MS, () => new Error(`${CLOSE_TIMEOUT_MS} ms`));
    } catch {
      this.#logger.log(
        'info',
        `Connections were still open ${CLOSE_TIMEOUT_MS} ms after the server was closed.`,
      );
    }
  }
}
