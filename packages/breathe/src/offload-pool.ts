/**
 * Threads that run one task each at a time, and the tasks that wait for one. A task loses its thread only with its own death: those that
 * wait get another one. It must not know limits of time, nor whose a task is.
 */
import { AsyncResource } from 'node:async_hooks';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { copyFailed, memoryExceeded, threadLost } from './offload-errors.js';
import type { FromThread, Outcome, Task, ToThread } from './offload-thread.js';

export interface Limits {
  readonly threads_max: number;
  /** Milliseconds without a task after which a thread ends. */
  readonly idle_ms: number;
  /** Largest heap of a thread, in MiB; Infinity for that of Node.js. */
  readonly heap_mb_max: number;
  /** Tasks after which a thread is replaced; Infinity for never. */
  readonly recycle_tasks: number;
  /** Heap in MiB, garbage included, above which a thread is replaced after its task; Infinity for never. */
  readonly recycle_heap_mb: number;
}

/** Objects that `postMessage` can move. */
export type Moved = ArrayBuffer | MessagePort;

interface Job {
  readonly task: Task;
  readonly transfer: readonly Moved[];
  readonly settle: (end: End) => void;
}

/** A task has an outcome, or the pool an error for it. */
type End = { readonly outcome: Outcome } | { readonly error: unknown };

const MIB = 1024 * 1024;

export class Pool {
  readonly #limits: Limits;
  readonly #waiting: Job[] = [];
  readonly #threads = new Set<Thread>();
  /** A thread must not keep the async context of the request that it was started for. */
  readonly #scope = new AsyncResource('sluice-offload');

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Runs the task, and ends its thread when the signal is aborted. Rejects with the reason, or with an `OffloadError`. */
  run(task: Task, transfer: readonly Moved[], signal: AbortSignal): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#end(job);
        job.settle({ error: signal.reason });
      };
      const job: Job = {
        task,
        transfer,
        settle(end) {
          signal.removeEventListener('abort', abort);
          if ('outcome' in end) resolve(end.outcome);
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- reasons are the caller's
          else reject(end.error);
        },
      };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(job);
      this.#next();
    });
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #end(job: Job): void {
    const place = this.#waiting.indexOf(job);
    if (place >= 0) this.#waiting.splice(place, 1);
    for (const thread of this.#threads) if (thread.job === job) void thread.end();
  }

  #next(): void {
    while (this.#waiting.length > 0) {
      let thread: Thread | undefined;
      try {
        thread = this.#free();
        if (thread === undefined) return;
      } catch (error) {
        this.#waiting.shift()?.settle({ error: threadLost('could not be started', error) });
        continue;
      }
      const job = this.#waiting.shift();
      if (job !== undefined) thread.run(job);
    }
  }

  #free(): Thread | undefined {
    for (const thread of this.#threads) if (thread.job === undefined) return thread;
    if (this.#threads.size >= this.#limits.threads_max) return undefined;
    const thread = this.#scope.runInAsyncScope(
      () =>
        new Thread(
          this.#limits,
          () => this.#next(),
          () => {
            this.#threads.delete(thread);
            this.#next();
          },
        ),
    );
    this.#threads.add(thread);
    return thread;
  }
}

class Thread {
  job: Job | undefined;
  readonly #limits: Limits;
  readonly #worker: Worker;
  /** The thread's code has the other end. `parentPort` belongs to the modules of its tasks. */
  readonly #port: MessagePort;
  readonly #isFree: () => void;
  readonly #isGone: () => void;
  /** Number of the present task, or of the last one. */
  #number = 0;
  #tasks = 0;
  #hasEnded = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(limits: Limits, isFree: () => void, isGone: () => void) {
    this.#limits = limits;
    this.#isFree = isFree;
    this.#isGone = isGone;
    // In these threads nothing serves, so Sluice's preload has nothing to do there.
    const { SLUICE_SOCKET: _socket, SLUICE_CONTROL: _control, ...env } = process.env;
    const { heap_mb_max } = limits;
    const resourceLimits = Number.isFinite(heap_mb_max) ? { maxOldGenerationSizeMb: heap_mb_max } : {};
    // `--input-type` is for the code of `node -e`, and no thread starts with it.
    const isEval = process.execArgv.some((flag) => flag.startsWith('--input-type'));
    const file = new URL('offload-thread.js', import.meta.url);
    const { port1: port, port2: workerData } = new MessageChannel();
    const options = { env, resourceLimits, workerData, transferList: [workerData] };
    try {
      this.#worker = new Worker(file, { ...options, ...(isEval && { execArgv: [] }) });
    } catch (error) {
      port.close();
      throw error;
    }
    this.#port = port;
    port.on('message', (message: FromThread) => this.#hear(message));
    port.on('messageerror', (error) => this.#settle({ error: copyFailed('the result', error) }));
    // The worker alone keeps the process while a task runs.
    port.unref();
    this.#worker.on('error', (error) => this.#lose(error));
    this.#worker.on('exit', (code) => this.#lose(new Error(`worker exited with code: ${code}`)));
    this.#worker.unref();
  }

  run(job: Job): void {
    clearTimeout(this.#idle);
    this.job = job;
    this.#worker.ref();
    try {
      this.#number += 1;
      const message: ToThread = { number: this.#number, task: job.task };
      this.#port.postMessage(message, [...job.transfer]);
    } catch (error) {
      this.#settle({ error: copyFailed('the arguments', error) });
    }
  }

  /** Ends the thread, and what it does. Its task is the caller's to settle. */
  async end(): Promise<void> {
    this.#leave();
    await this.#worker.terminate();
  }

  #hear(message: FromThread): void {
    if (this.#hasEnded || !this.#isAwaited(message)) return;
    this.#tasks += 1;
    const { recycle_tasks, recycle_heap_mb } = this.#limits;
    if (this.#tasks < recycle_tasks && message.heap_bytes <= recycle_heap_mb * MIB) {
      this.#settle(endOf(message));
      return;
    }
    const { job } = this;
    void this.end();
    job?.settle(endOf(message));
  }

  #isAwaited({ number }: FromThread): boolean {
    return this.job !== undefined && number === this.#number;
  }

  #settle(end: End): void {
    const { job } = this;
    this.job = undefined;
    job?.settle(end);
    if (this.#hasEnded) return;
    this.#worker.unref();
    const { idle_ms } = this.#limits;
    if (Number.isFinite(idle_ms)) this.#idle = setTimeout(() => void this.end(), idle_ms).unref();
    this.#isFree();
  }

  /** The thread has died by itself. */
  #lose(error: unknown): void {
    if (this.#hasEnded) return;
    const { job } = this;
    const answer = this.#lastAnswer();
    const failure = isOutOfMemory(error)
      ? memoryExceeded(this.#limits.heap_mb_max, error)
      : threadLost('ended', error);
    this.#leave();
    if (job !== undefined) job.settle(answer === undefined ? { error: failure } : endOf(answer));
    // Something that a task left behind, such as a timer, has failed.
    else if (!(error instanceof Error && error.message.endsWith('code: 0'))) {
      process.stderr.write(`sluice: an idle thread of offload() ended: ${String(error)}\n`);
    }
  }

  /** Returns the answer that the thread gave before its end, if the news of the end came first. */
  #lastAnswer(): FromThread | undefined {
    try {
      const answer = receiveMessageOnPort(this.#port)?.message as FromThread | undefined;
      return answer !== undefined && this.#isAwaited(answer) ? answer : undefined;
    } catch {
      return undefined; // It cannot be copied.
    }
  }

  #leave(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#port.close();
    this.job = undefined;
    clearTimeout(this.#idle);
    this.#isGone();
  }
}

function endOf({ result, thrown, uncopied }: FromThread): End {
  if (uncopied !== undefined) return { error: copyFailed('the result', new Error(uncopied)) };
  return { outcome: { result, thrown } };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
