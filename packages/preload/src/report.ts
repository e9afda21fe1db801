/**
 * What the gateway is told about the work: CPU per request in batches, and a beat every second. Measuring happens
 * here so that the path of a request only takes two readings.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Control } from './control.js';
import type { DoneRequest, Leaving } from './messages.js';
import { idOf } from './peer.js';

const BATCH_MS = 20;
const BATCH_REQUESTS_MAX = 500;
const BEAT_MS = 1000;
const LOOP_RESOLUTION_MS = 20;

interface Ended {
  readonly label: string;
  readonly cpu_us: number;
  sync_ms: number;
  readonly held_ms: number;
  readonly left: Leaving;
}

export class Report {
  readonly #control: Control;
  readonly #loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  #batch: Ended[] = [];
  #batchTimer: NodeJS.Timeout | undefined;
  #watching = false;
  #loopMsMaxSinceBeat = 0;
  #utilization = performance.eventLoopUtilization();
  overlaps_total = 0;

  constructor(control: Control) {
    this.#control = control;
  }

  start(): void {
    this.#loop.enable();
    setInterval(() => this.#beat(), BEAT_MS).unref();
    // A small line to a unix socket still goes out while the process exits.
    process.once('exit', () => this.#flush());
    this.#beat();
  }

  /** Forgets blocks of the loop from before the first request of a batch. */
  entered(): void {
    if (this.#watching) return;
    this.#watching = true;
    this.#takeLoopMsMax();
  }

  /** `sync_ms` is how long the app kept the loop when it was handed the request. */
  done(label: string, cpu_us: number, sync_ms: number, held_ms: number, left: Leaving): void {
    this.#batch.push({ label, cpu_us, sync_ms, held_ms, left });
    if (this.#batch.length >= BATCH_REQUESTS_MAX) this.#flush();
    else this.#batchTimer ??= setTimeout(() => this.#flush(), BATCH_MS).unref();
  }

  #flush(): void {
    if (this.#batchTimer !== undefined) clearTimeout(this.#batchTimer);
    this.#batchTimer = undefined;
    this.#watching = false;
    if (this.#batch.length === 0) return;
    const ended = this.#batch;
    this.#batch = [];
    this.#attributeBlock(ended);
    const requests: DoneRequest[] = [];
    for (const { label, cpu_us, sync_ms, left } of ended) {
      const id = idOf(label);
      if (id !== undefined) requests.push({ id, cpu_us, loop_ms_max: round(sync_ms), left });
    }
    this.#control.send({ type: 'done', requests });
  }

  /** The monitor knows the longest block but not whose it was. A block of its length fits best the longest stay. */
  #attributeBlock(ended: Ended[]): void {
    const block_ms = this.#takeLoopMsMax();
    const longest = ended.reduce((a, b) => (b.held_ms > a.held_ms ? b : a));
    if (block_ms <= longest.held_ms) longest.sync_ms = Math.max(longest.sync_ms, block_ms);
  }

  #beat(): void {
    const memory = process.memoryUsage();
    const utilization = performance.eventLoopUtilization();
    const { utilization: elu } = performance.eventLoopUtilization(utilization, this.#utilization);
    this.#utilization = utilization;
    this.#takeLoopMsMax();
    this.#control.send({
      type: 'beat',
      rss_bytes: memory.rss,
      heap_used_bytes: memory.heapUsed,
      heap_total_bytes: memory.heapTotal,
      external_bytes: memory.external,
      elu: round(Number.isFinite(elu) ? elu : 0),
      loop_delay_ms_max: round(this.#loopMsMaxSinceBeat),
      overlaps_total: this.overlaps_total,
      cpu_us_total: cpuUs(),
    });
    this.#loopMsMaxSinceBeat = 0;
  }

  /** Longest block of the loop since the last call. The monitor's readings include its own interval. */
  #takeLoopMsMax(): number {
    const block_ms = this.#loop.count === 0 ? 0 : Math.max(0, this.#loop.max / 1e6 - LOOP_RESOLUTION_MS);
    this.#loop.reset();
    this.#loopMsMaxSinceBeat = Math.max(this.#loopMsMaxSinceBeat, block_ms);
    return block_ms;
  }
}

/** CPU microseconds of the whole process so far, its garbage collector's and compiler's threads included. */
export function cpuUs(): number {
  const usage = process.cpuUsage();
  return usage.user + usage.system;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
