/**
 * Reports to the gateway on the work: CPU per request in batches, a beat every second, and a sign of life in between.
 * It must not know how a request gets in and out.
 */
import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { ComponentCache } from '../host/component-cache.js';
import type { Control } from './control.js';
import type { RequestEnd, Leaving } from './messages.js';
import { idOf } from '../requests/peer.js';
import { type Cost, cpuUs, OwnCpu, UNMEASURED } from '../cpu/own-cpu.js';
import { ReactRenders } from '../host/react-renders.js';
import { handled_us } from '../cpu/handler-clock.js';
import { Routers } from '../routes/routers.js';
import { Routes } from '../routes/routes.js';
import { named, type RunOwner } from '../cpu/run-watch.js';

const BATCH_MS = 20;
/** Maximum number of ended requests in one line. */
const BATCH_REQUESTS_MAX = 500;
const BEAT_MS = 1000;
const TURN_MS = 250;
/** Requests that the app holds more than when memory was told last, before it is told again; a quarter more where that is more. */
const HELD_STEP = 16;
/** Young generation that V8 counts into the limit of the heap: three semi-spaces of 16 MiB. */
const YOUNG_BYTES = 3 * 16 * 1024 * 1024;

/** A request that the app had, and what is told of it. */
export interface Told {
  readonly request: IncomingMessage;
  readonly owner: RunOwner;
}

type Draft = { -readonly [Name in keyof RequestEnd]: RequestEnd[Name] };

export class Report {
  readonly #control: Control;
  readonly #cpu: OwnCpu;
  readonly #routes = new Routes();
  readonly #routers: Routers;
  #batch: RequestEnd[] = [];
  /** Ended requests of light classes of which nothing else is told. */
  #ended: number[] = [];
  #batchTimer: NodeJS.Timeout | undefined;
  readonly #renders: ReactRenders;
  readonly #componentCache = new ComponentCache();
  #utilization = performance.eventLoopUtilization();
  #done_total = 0;
  #beats_total = 0;
  /** Requests that the app held when memory was told last. */
  #heldTold = 0;
  #inside = 0;
  /** Streams that have begun since the last beat. They leave the app's slots, and still take memory. */
  #streamed = 0;
  overlaps_total = 0;

  constructor(control: Control, rendersFast: boolean, cpu = new OwnCpu(), routers = new Routers()) {
    this.#control = control;
    this.#routers = routers;
    this.#cpu = cpu;
    this.#renders = new ReactRenders(rendersFast);
  }

  start(watchesRuns = true): void {
    if (watchesRuns) this.#cpu.watch.start(() => this.#tellRuns());
    this.#every(BEAT_MS, () => this.#beat());
    this.#every(TURN_MS, () => this.#turn());
    // A small line to a unix socket still goes out while the process exits.
    process.once('exit', () => {
      this.flush();
      this.#tellRenders();
      this.#tellRuns();
    });
    // It stands in whatever has called `listen()`, which is no run of the preload's own.
    this.#beat();
  }

  #every(period_ms: number, work: () => void): void {
    const fire = (): void => {
      this.#cpu.watch.disown();
      work();
    };
    setInterval(fire, period_ms).unref();
  }

  done(label: string, cost: Cost, left: Leaving, stay?: Told): void {
    const id = idOf(label);
    if (id === undefined) return;
    this.#done_total += 1;
    if (cost === UNMEASURED && left === 'end' && stay?.owner.runs === undefined) this.#ended.push(id);
    else this.#batch.push(this.#draft(id, cost, left, stay));
    if (this.#batch.length + this.#ended.length >= BATCH_REQUESTS_MAX) this.flush();
    else this.#batchTimer ??= setTimeout(() => this.flush(), BATCH_MS).unref();
  }

  #draft(id: number, { cpu_us, isShared, weight }: Cost, left: Leaving, stay: Told | undefined): RequestEnd {
    const done: Draft = { id, cpu_us, left };
    if (left !== 'end' && left !== 'abandoned') this.#streamed += 1;
    if (isShared) done.shared = true;
    else if (weight !== undefined) done.weight = weight;
    if (stay !== undefined) this.#tell(done, stay);
    return done;
  }

  #tell(done: Draft, { request, owner: { runs, longest } }: Told): void {
    const route = this.#routes.news(request);
    if (route !== undefined) done.route = route;
    // Of the first of a batch: that is enough to see it grow.
    const handler_us = this.#batch.length === 0 ? handled_us(request) : undefined;
    if (handler_us !== undefined) done.handler_us = handler_us;
    if (runs !== undefined) done.runs = runs;
    if (longest === undefined) return;
    this.#cpu.watch.takeCollections();
    done.longest = named(longest);
  }

  /** The request of this label was not handed to the app, which has not ended the other. */
  busy(label: string, unended: string): void {
    const [id, by] = [idOf(label), idOf(unended)];
    if (id !== undefined && by !== undefined) this.#control.send({ type: 'busy', id, by });
  }

  /** The app holds so many requests. Those that only wait take memory, and the gateway has to know before the heap is full. */
  holds(inside: number): void {
    this.#inside = inside;
    const requests = inside + this.#streamed;
    if (requests - this.#heldTold < Math.max(HELD_STEP, this.#heldTold / 4)) return;
    this.#tellMemory(requests, process.memoryUsage.rss());
  }

  #tellMemory(requests: number, rss_bytes: number): void {
    this.#heldTold = requests;
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    const heap_bytes_max = Math.max(heap_size_limit - YOUNG_BYTES, heap_size_limit / 2);
    this.#control.send({
      type: 'memory',
      heap_used_bytes: used_heap_size,
      heap_bytes_max,
      rss_bytes,
      ...(process.listenerCount('SIGUSR1') > 0 && { handles_sigusr1: true }),
    });
  }

  /** The app holds no request at this moment. */
  idle(): void {
    this.#control.send({ type: 'idle' });
  }

  /** Sends what is known of ended requests now instead of with the next batch. */
  flush(): void {
    if (this.#batchTimer !== undefined) clearTimeout(this.#batchTimer);
    this.#batchTimer = undefined;
    // First, as it names requests that the batch ends.
    if (this.#cpu.watch.isUrgent) this.#tellRuns();
    const [requests, ended] = [this.#batch, this.#ended];
    if (requests.length + ended.length === 0) return;
    this.#control.send({ type: 'done', requests, ...(ended.length > 0 && { ended }) });
    this.#batch = [];
    this.#ended = [];
  }

  #tellRenders(): void {
    for (const news of [this.#renders.news(this.#done_total), this.#componentCache.news()])
      if (news !== undefined) this.#control.send(news);
  }

  #tellRuns(): void {
    const { long, ...news } = this.#cpu.watch.news();
    const lines = long.map((run) => named(run, run.owner === undefined ? undefined : idOf(run.owner.label)));
    this.#control.send({ type: 'runs', ...news, long: lines });
  }

  /** The gateway takes a turn for word that all requests that have ended are reported, and a beat as well. */
  #turn(): void {
    this.flush();
    this.#control.send({ type: 'turn' });
  }

  #beat(): void {
    // Every second, as a worker that is killed takes along what it has not told. Before the requests that the lines name.
    this.#tellRuns();
    // Apps register routes after `listen()` as well.
    const grown = this.#beats_total === 0 ? undefined : this.#routers.news();
    if (grown !== undefined) this.#control.send({ type: 'routes-grown', ...grown });
    this.#beats_total += 1;
    this.flush();
    this.#tellRenders();
    const memory = process.memoryUsage();
    this.#streamed = 0;
    this.#tellMemory(this.#inside, memory.rss);
    const { shares } = this.#cpu;
    const utilization = performance.eventLoopUtilization();
    const { utilization: elu } = performance.eventLoopUtilization(utilization, this.#utilization);
    this.#utilization = utilization;
    this.#control.send({
      type: 'beat',
      rss_bytes: memory.rss,
      heap_used_bytes: memory.heapUsed,
      elu: round(Number.isFinite(elu) ? elu : 0),
      loop_delay_ms_max: round(this.#cpu.watch.takeLongestSinceBeat_ms()),
      overlaps_total: this.overlaps_total,
      cpu_us_total: cpuUs(),
      ...(shares && { gc_share: round(shares.collections), lost_share: round(shares.lost) }),
    });
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
