/**
 * Uninterrupted runs of the main thread, every one of them: from the event loop's call into JavaScript until the callbacks, ticks and
 * microtasks of that call are done. Nothing else of the worker runs meanwhile.
 *
 * A hook tells where runs begin. Where one ends is not asked: it lasted until the next began, less the time for which the event
 * loop waited between them, which libuv counts. So neither promises nor the ends of callbacks need a hook, which would be dear at
 * each of them.
 *
 * A run belongs to the request that it was handed to, or whose answer it wrote. Of several such requests, the one that took most of it
 * has it; without one, the only request inside. While the CPU time of requests is measured, contexts tell more.
 */
import { createHook, executionAsyncResource, type HookCallbacks } from 'node:async_hooks';
import { performance, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import type { LongRun } from '../control/messages.js';
import { beginsAnew } from './own-cpu-runs.js';
import { RunHistogram } from './run-histogram.js';
import { type ThreadTime, threadTime } from './thread-time.js';
import { now_ms } from '../timers.js';

/** Runs from here on count for their requests. */
const TOLD_US_MIN = 1_000;
/** Runs from here on are named. */
const LONG_US_MIN = 10_000;
/** Runs from here on are told at once. */
const URGENT_US_MIN = 1_000_000;
/** Maximum number of long runs in one line. */
const LONG_MAX = 10;
/**
 * Maximum share of a run by which the CPU time may be read before the run begins. Other runs may take this
 * part of a run in between.
 */
const BEFORE_SHARE_MAX = 0.25;
/** Maximum number of long runs to which a pause of the collector may still be assigned. */
const ENDED_MAX = 32;

/** Request in the view of runs. */
export interface RunOwner {
  readonly label: string;
  /** Runs of 1 to 10 ms, 10 to 100 ms, 100 ms to 1 s, and longer; undefined while there were none. */
  runs: number[] | undefined;
  longest: EndedRun | undefined;
}

/** A long run that is over. */
export interface EndedRun {
  readonly us: number;
  readonly owner: RunOwner | undefined;
  readonly began_ms: number;
  readonly ended_ms: number;
  collected_us: number;
  /** CPU time of the thread, and the time for which it could have run and got none; undefined if not known. */
  readonly cpu_us: number | undefined;
  readonly queued_us: number | undefined;
}

/** Use of the thread up to a moment. */
interface Used extends ThreadTime {
  readonly at_ms: number;
  /** Time that the event loop had waited by then. */
  readonly idle_ms: number;
}

export interface RunNews {
  readonly counts: number[];
  readonly time_us: number[];
  readonly observed_us: number;
  readonly collections: number;
  readonly collected_us: number;
  readonly long: readonly EndedRun[];
}

/** Node's word for the resource of a parser: a server's has its socket, a client's its request. */
const PARSER = 'HTTPINCOMINGMESSAGE';
/** The preload's own work: no request's. */
const NOBODY: RunOwner = { label: '', runs: undefined, longest: undefined };
/** Work that the operator has asked for, such as a heap snapshot: no code of the app can become cheaper by it. */
const OPERATOR: RunOwner = { label: '', runs: undefined, longest: undefined };

const { nodeTiming } = performance;
// Taken before the app can replace it.
const nextTick = process.nextTick.bind(process);

export class RunWatch {
  readonly #hook = createHook(hookOf(() => this.#before()));
  readonly #collector = new PerformanceObserver((list) => {
    this.#take(list.getEntries());
  });
  readonly #histogram = new RunHistogram();
  readonly #inside = new Set<RunOwner>();
  readonly #readTime: () => ThreadTime;
  /** The latest look at the thread's time, and the latest from before this run. */
  #used: Used | undefined;
  #usedBefore: Used | undefined;
  #isOn = false;
  #started_ms = 0;
  #began_ms = 0;
  /** Time that the event loop had waited by then. */
  #idleBefore_ms = 0;
  /** Resource whose callback began this run. */
  #resource: object | undefined;
  /** Owner of the run, if known, and the time at which it took the run over from another. */
  #owner: RunOwner | undefined;
  #ownedSince_ms = 0;
  /** Owner before the present one that took most of this run, if there are several. */
  #most: RunOwner | undefined;
  #most_ms = 0;
  #longestSinceBeat_us = 0;
  #collections = 0;
  #collected_us = 0;
  /** The latest long runs, and those that are to be told. */
  #ended: EndedRun[] = [];
  #untold: EndedRun[] = [];
  isUrgent = false;
  #tell = (): void => {};

  constructor(readTime = threadTime) {
    this.#readTime = readTime;
  }

  /**
   * Starts watching; called once, in the process that serves. Without a count of the time that the event loop waits,
   * nothing is watched. `tell` is called soon after a run that is to be told at once.
   */
  start(tell: () => void = () => {}): void {
    if (this.#isOn || typeof nodeTiming.idleTime !== 'number') return;
    this.#isOn = true;
    this.#tell = tell;
    this.#started_ms = this.#began_ms = now_ms();
    this.#idleBefore_ms = nodeTiming.idleTime;
    this.#usedBefore = this.#look();
    this.#hook.enable();
    this.#collector.observe({ entryTypes: ['gc'] });
  }

  /** Counts the present run as ended, and stops: the process exits in it. */
  end(): void {
    if (!this.#isOn) return;
    this.#turn();
    this.stop();
  }

  stop(): void {
    this.#hook.disable();
    this.#collector.disconnect();
    this.#isOn = false;
  }

  enter(owner: RunOwner): void {
    this.#inside.add(owner);
  }

  leave(owner: RunOwner): void {
    this.#inside.delete(owner);
  }

  /** Gives the rest of this run to this request. The part before it is its, too, if nobody else is known. */
  touch(owner: RunOwner): void {
    const before = this.#owner;
    if (before === owner) return;
    this.#owner = owner;
    if (before === undefined) return;
    const at_ms = now_ms();
    const owned_ms = at_ms - Math.max(this.#ownedSince_ms, this.#began_ms);
    if (owned_ms > this.#most_ms) [this.#most, this.#most_ms] = [before, owned_ms];
    this.#ownedSince_ms = at_ms;
  }

  /** Marks the current run as the preload's own. Called by its timers. */
  disown(): void {
    if (!this.#isOn) return;
    this.touch(NOBODY);
    this.#look();
  }

  /** Owner of this run so far, if that is known. */
  get running(): RunOwner | undefined {
    return this.#isOn ? this.#ownerAt(now_ms()) : undefined;
  }

  #look(): Used {
    this.#used = { ...this.#readTime(), at_ms: now_ms(), idle_ms: nodeTiming.idleTime };
    return this.#used;
  }

  /** Marks this run as the operator's: it is counted, and is no reason for an alarm. */
  serveOperator(): void {
    if (this.#isOn) this.touch(OPERATOR);
  }

  /** Returns the news. `long` begins anew. */
  news(): RunNews {
    this.takeCollections();
    const long = this.#untold;
    this.#untold = [];
    this.isUrgent = false;
    return {
      counts: this.#histogram.counts,
      time_us: this.#histogram.time_us,
      observed_us: Math.round((now_ms() - this.#started_ms) * 1000),
      collections: this.#collections,
      collected_us: Math.round(this.#collected_us),
      long,
    };
  }

  takeLongestSinceBeat_ms(): number {
    const longest_us = this.#longestSinceBeat_us;
    this.#longestSinceBeat_us = 0;
    return longest_us / 1000;
  }

  #before(): void {
    const resource = resourceNow();
    if (resource !== undefined && !beginsAnew(resource)) return;
    if (this.#goesOn(resource)) return;
    this.#resource = resource;
    this.#turn();
  }

  /**
   * The parser of requests calls up to three times for what it has read, and only after the last do microtasks get their turn. That of
   * responses calls within the callback of the socket that read them.
   */
  #goesOn(resource: object | undefined): boolean {
    if (resource === undefined || !('type' in resource) || resource.type !== PARSER) return false;
    return 'req' in resource || (resource === this.#resource && nodeTiming.idleTime === this.#idleBefore_ms);
  }

  /** A run begins, so the one before it has ended. */
  #turn(): void {
    const at_ms = now_ms();
    const idle_ms = nodeTiming.idleTime;
    const us = (at_ms - this.#began_ms - (idle_ms - this.#idleBefore_ms)) * 1000;
    this.#histogram.add(us);
    if (us > this.#longestSinceBeat_us) this.#longestSinceBeat_us = us;
    if (us >= TOLD_US_MIN) this.#end(us, at_ms);
    this.#began_ms = at_ms;
    this.#idleBefore_ms = idle_ms;
    this.#usedBefore = this.#used;
    this.#owner = undefined;
    this.#most = undefined;
    this.#most_ms = 0;
    this.#ownedSince_ms = 0;
  }

  #end(us: number, at_ms: number): void {
    const owner = this.#ownerAt(this.#began_ms + us / 1000);
    if (owner === OPERATOR) return;
    const runs = owner === undefined ? undefined : (owner.runs ??= [0, 0, 0, 0]);
    if (runs !== undefined) {
      const length = us < LONG_US_MIN ? 0 : us < 10 * LONG_US_MIN ? 1 : us < URGENT_US_MIN ? 2 : 3;
      runs[length] = (runs[length] ?? 0) + 1;
    }
    if (us < LONG_US_MIN) return;
    const began_ms = this.#began_ms;
    const run: EndedRun = { us, owner, began_ms, ended_ms: at_ms, collected_us: 0, ...this.#timeOf(us) };
    if (owner !== undefined && us > (owner.longest?.us ?? 0)) owner.longest = run;
    this.#ended.push(run);
    if (this.#ended.length > ENDED_MAX) this.#ended.shift();
    if (us >= URGENT_US_MIN && !this.isUrgent) {
      this.isUrgent = true;
      // Without waiting for a turn: a worker that stood still for so long may be told to leave with its answer.
      nextTick(this.#tell);
    }
    if (us >= URGENT_US_MIN || owner === undefined) this.#keep(run);
  }

  /** Returns the CPU time of the run that has ended. Runs since the look before it are taken to have had the CPU. */
  #timeOf(us: number): Pick<EndedRun, 'cpu_us' | 'queued_us'> {
    const before = this.#usedBefore;
    const now = this.#look();
    if (before === undefined) return { cpu_us: undefined, queued_us: undefined };
    const others_ms = this.#began_ms - before.at_ms - (this.#idleBefore_ms - before.idle_ms);
    const others_us = Math.max(others_ms * 1000, 0);
    if (others_us > us * BEFORE_SHARE_MAX) return { cpu_us: undefined, queued_us: undefined };
    const cpu_us = Math.min(Math.max(now.cpu_us - before.cpu_us - others_us, 0), us);
    if (now.queued_us === undefined || before.queued_us === undefined)
      return { cpu_us, queued_us: undefined };
    return { cpu_us, queued_us: Math.min(now.queued_us - before.queued_us, us - cpu_us) };
  }

  #ownerAt(ended_ms: number): RunOwner | undefined {
    const last = this.#owner;
    if (last === undefined) return this.#inside.size === 1 ? this.#inside.values().next().value : undefined;
    const last_ms = ended_ms - this.#ownedSince_ms;
    const owner = this.#most !== undefined && this.#most_ms > last_ms ? this.#most : last;
    return owner === NOBODY ? undefined : owner;
  }

  /** Keeps the run; of more than can be reported, the longest stay. */
  #keep(run: EndedRun): void {
    this.#untold.push(run);
    if (this.#untold.length <= LONG_MAX) return;
    this.#untold.sort((one, other) => other.us - one.us).pop();
  }

  /** Pauses that Node would tell of with the next turn. */
  takeCollections(): void {
    this.#take(this.#collector.takeRecords());
  }

  #take(pauses: PerformanceEntry[]): void {
    for (const { startTime, duration } of pauses) this.#collected(startTime, duration);
  }

  /** Node tells of a pause a turn of the loop later. */
  #collected(start_ms: number, duration_ms: number): void {
    this.#collections += 1;
    this.#collected_us += duration_ms * 1000;
    for (let at = this.#ended.length - 1; at >= 0; at -= 1) {
      const run = this.#ended[at];
      if (run === undefined || start_ms >= run.ended_ms) return;
      if (start_ms < run.began_ms) continue;
      run.collected_us += duration_ms * 1000;
      return;
    }
  }
}

/** A long run as a line names it. */
export function named({ us, collected_us, cpu_us, queued_us, ended_ms }: EndedRun, id?: number): LongRun {
  const run = {
    us: Math.round(us),
    collected_us: Math.round(collected_us),
    ...(cpu_us !== undefined && { cpu_us: Math.round(cpu_us) }),
    ...(queued_us !== undefined && { queued_us: Math.round(queued_us) }),
    ago_ms: Math.max(0, Math.round(now_ms() - ended_ms)),
  };
  return id === undefined ? run : { ...run, id };
}

/** Undefined where it is no object: the resource of a native module may be anything. */
function resourceNow(): object | undefined {
  const resource: unknown = executionAsyncResource();
  return typeof resource === 'object' && resource !== null ? resource : undefined;
}

/** Newer Nodes can leave out promises, of which nothing is asked here; those that cannot ignore the word. */
function hookOf(before: () => void): HookCallbacks {
  const callbacks: HookCallbacks & { trackPromises: boolean } = { before, trackPromises: false };
  return callbacks;
}
