/**
 * Owners of continuations: charges the CPU time between two switches to the request in whose async context the process
 * was. The clock is read when that changes, not at each continuation; while the process sleeps it stops. It must not
 * know when to measure (`own-cpu-windows.ts`).
 *
 * Contexts get lost: what a pooled connection receives runs in the context in which the connection was opened, which is
 * that of no request, or of one that has left. Such a run is charged to the request that turns out to have been served:
 * the one whose answer it writes, or whose promise it resolves. The rest is shared out evenly among those inside.
 */
import { AsyncLocalStorage, AsyncResource, createHook, executionAsyncResource } from 'node:async_hooks';
import { CpuClock } from '#host/cpu-clock.js';
import { Collections } from './own-cpu-collections.js';

/** CPU time of a request so far, in microseconds. */
export interface Account {
  own_us: number;
  /** CPU time on other threads, of those that report it. */
  offloaded_us: number;
  /** `lostEach_us` when it came. */
  lostBefore_us: number;
  hasLeft: boolean;
}

/** Maximum CPU time for reading a request, directly before it has a context. The rest is lost. */
const INTAKE_US_MAX = 200;
/**
 * Maximum factor that garbage collection and helper threads of V8 add. Threads that work for the app cannot
 * be distinguished from them.
 */
const SPREAD_MAX = 1.5;

/** CPU time of the main thread after which the part of lost runs in it says something. */
const SHARE_AFTER_US = 50_000;

/** CPU microseconds, of the latest window and decayed of those before. */
interface Sums {
  /** CPU time of the main thread, collections left out. */
  main: number;
  process: number;
}

/** A resource is asked for its context, which is no run of it. */
let isAsking = false;

/** Parts of the main thread's CPU time in the latest windows, from 0 to 1. */
export interface Shares {
  /** CPU time in pauses of the collector. */
  readonly collections: number;
  /** CPU time of no request. */
  readonly lost: number;
}

/** Listener that hears which request's continuation runs from now on, or since it was called last. */
export type TellRun = (account: Account | undefined, isSince: boolean) => void;

export class Runs {
  readonly #context = new AsyncLocalStorage<Account>();
  readonly #hook = createHook({ before: () => this.#before(), after: () => this.#after() });
  readonly #collections = new Collections();
  /** Whether an `AsyncResource` enters its context only after the hook, as it does from Node 24 on; unknown before the first start. */
  #entersLate: boolean | undefined;
  readonly #sums: Sums = { main: 0, process: 0 };
  /** CPU time of this window, and of those before it that were too short: the main thread's, and nobody's. */
  #spent_us = 0;
  #lost_us = 0;
  #pausesBefore_us = 0;
  #shares: Shares | undefined;
  #isOn = false;
  #current: Account | undefined;
  readonly #clock = new CpuClock(true);
  /** Requests around the callbacks that run now: `AsyncResource` makes one run within another. */
  readonly #around: (Account | undefined)[] = [];
  readonly #entered: (account: Account) => void;
  /** Requests that share what is lost. */
  #inside = 0;
  #lostEach_us = 0;
  /** Listener for the request whose continuation runs. */
  tell: TellRun | undefined;

  /** `entered` is told of each request whose context the process is in. */
  constructor(entered: (account: Account) => void = () => {}) {
    this.#entered = entered;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** The request in whose async context the process is, while that is kept. */
  get context(): Account | undefined {
    return this.#context.getStore();
  }

  /** Shares of the latest windows before this one that had enough to say. */
  get shares(): Shares | undefined {
    return this.#shares;
  }

  /** Part of the CPU time that was nobody's, of this window or the one before, the greater of both. 1 before that is known. */
  get lostShare(): number {
    if (this.#spent_us < SHARE_AFTER_US) return this.#shares?.lost ?? 1;
    return Math.max(this.#lost_us / this.#spent_us, this.#shares?.lost ?? 0);
  }

  start(inside: number): void {
    this.#inside = inside;
    this.#sums.main /= 2;
    this.#sums.process /= 2;
    this.#isOn = true;
    this.#around.length = 0;
    this.#collections.start();
    this.#clock.read();
    this.#begin(this.#context.getStore());
    this.#entersLate ??= entersLate(this.#context);
    this.#hook.enable();
  }

  stop(): void {
    if (!this.#isOn) return;
    this.#hook.disable();
    this.#isOn = false;
    this.#lose(this.#charge());
    this.#sums.main -= this.#collections.news_us();
    this.#sum();
    this.#collections.stop();
    this.#current = undefined;
    // On Node 20 and 22, each promise was looked at to give it a context.
    this.#context.disable();
  }

  #sum(): void {
    if (this.#spent_us < SHARE_AFTER_US) return;
    const { pauses_us_total } = this.#collections;
    // Pauses are told in wall-clock time.
    const collections = Math.min((pauses_us_total - this.#pausesBefore_us) / this.#spent_us, 1);
    this.#shares = { collections, lost: this.#lost_us / this.#spent_us };
    this.#pausesBefore_us = pauses_us_total;
    this.#spent_us = 0;
    this.#lost_us = 0;
  }

  enter(account: Account, inside: number): void {
    if (this.#isOn) this.#lose(this.#charge(), INTAKE_US_MAX);
    account.lostBefore_us = this.#lostEach_us;
    this.#inside = inside;
  }

  /** Hands the request to the app, in a context of its own. */
  run(account: Account, hand: () => void): void {
    if (!this.#isOn) return this.#context.run(account, hand);
    this.#lose(this.#charge(), INTAKE_US_MAX);
    const around = this.#current;
    this.#begin(account);
    try {
      this.#context.run(account, hand);
    } finally {
      if (this.#isOn) this.#switch(around);
    }
  }

  /** A response of this request is written. If nobody's context runs, it is this one's. */
  writes(account: Account): void {
    if (!this.#isOn || isInside(this.#current) || account.hasLeft) return;
    account.own_us += this.#charge();
    this.tell?.(account, true);
    this.#begin(account);
  }

  leave(account: Account, inside: number): void {
    if (this.#isOn) this.#lose(this.#charge());
    account.own_us += this.#lostEach_us - account.lostBefore_us;
    account.hasLeft = true;
    this.#inside = inside;
  }

  /**
   * Returns its own CPU time and its part of what collections and helper threads take. To be asked a turn after it has
   * left.
   */
  cost_us(account: Account): number {
    this.#sums.main -= this.#collections.news_us();
    const { main, process } = this.#sums;
    const spread = Math.min(Math.max(process / Math.max(main, 1), 1), SPREAD_MAX);
    return Math.round(Math.max(account.own_us, 1) * spread + account.offloaded_us);
  }

  /** The request that runs has work done by another thread from now on. Returns what takes the CPU time of that work at its end. */
  offload(): (cpu_us: number) => void {
    if (this.#isOn) this.#lose(this.#charge());
    const account = this.#isOn && isInside(this.#current) ? this.#current : undefined;
    this.#clock.addThread(1);
    let isOver = false;
    return (cpu_us) => {
      if (isOver) return;
      isOver = true;
      if (this.#isOn) this.#lose(this.#charge());
      this.#clock.addThread(-1);
      if (account !== undefined) account.offloaded_us += cpu_us;
    };
  }

  #before(): void {
    if (isAsking) return;
    const account = this.#entering();
    const isOutermost = this.#around.length === 0;
    this.#around.push(this.#current);
    if (account === this.#current) {
      if (isOutermost && !isInside(account) && beginsAnew(executionAsyncResource())) this.#switch(account);
      return;
    }
    const lost_us = this.#charge();
    // A promise that goes on right after a run was resolved by it.
    if (lost_us > 0 && isInside(account) && executionAsyncResource() instanceof Promise) {
      account.own_us += lost_us;
      this.tell?.(account, true);
    } else this.#lose(lost_us);
    this.#begin(account);
  }

  /** Returns the request whose context the process is about to be in. */
  #entering(): Account | undefined {
    if (this.#entersLate === false) return this.#context.getStore();
    const resource = executionAsyncResource();
    if (!(resource instanceof AsyncResource)) return this.#context.getStore();
    isAsking = true;
    const account = resource.runInAsyncScope(() => this.#context.getStore());
    isAsking = false;
    return account;
  }

  #after(): void {
    if (isAsking) return;
    const around = this.#around.pop();
    if (this.#around.length > 0 && around !== this.#current) this.#switch(around);
  }

  #switch(to: Account | undefined): void {
    this.#lose(this.#charge());
    this.#begin(to);
  }

  #begin(account: Account | undefined): void {
    this.#current = account;
    this.#collections.begin(account);
    this.tell?.(account, false);
    if (isInside(account)) this.#entered(account);
  }

  /** Charges what was used since the last time. Returns what is nobody's. */
  #charge(): number {
    const { process_us, main_us } = this.#clock;
    this.#clock.read();
    const spent_us = this.#clock.main_us - main_us;
    // Beside threads that work for the app, those of V8 cannot be told.
    this.#sums.process += this.#clock.hasThreads ? spent_us : this.#clock.process_us - process_us;
    this.#sums.main += spent_us;
    this.#spent_us += spent_us;
    this.#collections.spend(spent_us);
    if (!isInside(this.#current)) return spent_us;
    this.#current.own_us += spent_us;
    return 0;
  }

  #lose(us: number, needed_us = 0): void {
    const lost_us = us - needed_us;
    if (lost_us <= 0) return;
    this.#lost_us += lost_us;
    if (this.#inside > 0) this.#lostEach_us += lost_us / this.#inside;
  }
}

function entersLate(context: AsyncLocalStorage<Account>): boolean {
  const account: Account = { own_us: 0, offloaded_us: 0, lostBefore_us: 0, hasLeft: true };
  let entered: Account | undefined;
  const resource = context.run(account, () => new AsyncResource('SluiceProbe'));
  const hook = createHook({ before: () => (entered = context.getStore()) }).enable();
  resource.runInAsyncScope(() => {});
  hook.disable();
  return entered !== account;
}

/**
 * Whether a callback of this resource begins a run of its own, as those of handles and timers do. Promises, ticks and
 * `AsyncResource`s continue the run before them, which may be one request's.
 */
export function beginsAnew(resource: object): boolean {
  if (resource instanceof Promise || resource instanceof AsyncResource) return false;
  // A tick, which is a plain object in Node 24 and of a class of its own in Node 26. Look-ups of names have a callback alone.
  return !('callback' in resource && 'args' in resource);
}

function isInside(account: Account | undefined): account is Account {
  return account !== undefined && !account.hasLeft;
}
