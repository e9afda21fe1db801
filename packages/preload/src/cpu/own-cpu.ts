/**
 * CPU time that is each request's own. A request that was alone in its worker used what the process used meanwhile. Those
 * that share the worker are measured now and then (`own-cpu-windows.ts`), by whose continuation runs (`own-cpu-runs.ts`);
 * of the others it is not known. Nor is it of most requests of light classes: the gateway knows enough of them, and asking the
 * kernel takes a noticeable part of what they take. It must not know what becomes of a figure.
 */
import { CpuClock } from '#host/cpu-clock.js';
import { type Account, Runs, type Shares, type TellRun } from './own-cpu-runs.js';
import { type Phase, Windows } from './own-cpu-windows.js';
import { type RunOwner, RunWatch } from './run-watch.js';
import { active_us, every, nextTurn, now_ms } from '../timers.js';

/**
 * Maximum share of the CPU time that belongs to no request. Above it, the figures of requests that share
 * the worker are not reported.
 */
const LOST_SHARE_MAX = 0.2;
const LOOK_EVERY_MS = 250;
/** A request that was not to be measured is, where the event loop was active for so long meanwhile. */
const LONG_US_MIN = 5_000;

/** A request's stay with the app. */
export interface Stay extends Account, RunOwner {
  /** Requests of its class for which its CPU time stands; 0 where it is not to be measured. Undefined for one. */
  readonly weight: number | undefined;
  /** CPU microseconds of the process when it came, and how many more when it left. */
  readonly cpu_us_before: number;
  process_us: number;
  /** Event loop's active time before a request that is not to be measured; the two figures above are then a guess and 0. */
  readonly active_us_before: number;
  /** True if the response has ended, and the request leaves with the next turn of the loop. */
  isEnding: boolean;
  /** Another request was inside at some time. */
  isShared: boolean;
  /** Number of the window in which it came, and of that in which it is measured; 0 for none. */
  window: number;
  measuredIn: number;
  isMeasured: boolean;
}

export interface Cost {
  readonly cpu_us: number;
  /** The CPU time of others is in it, or it is not the CPU time at all. */
  readonly isShared: boolean;
  /** Requests of its class for which it stands, where not for itself alone. */
  readonly weight?: number | undefined;
}

export class OwnCpu {
  readonly #measuresShared: boolean;
  readonly #windows: Windows;
  /** All runs of the main thread. */
  readonly watch = new RunWatch();
  readonly #runs = new Runs((account) => this.watch.touch(account as Stay));
  #phase: Phase = 'off';
  /** Number of the latest window. */
  #window = 0;
  #looks: NodeJS.Timeout | undefined;
  #inside = 0;
  /** The one that is inside and was alone so far. */
  #sole: Stay | undefined;

  constructor(measuresShared = true, windows = new Windows()) {
    this.#windows = windows;
    this.#measuresShared = measuresShared;
  }

  /** Shares of the CPU time in windows: the collector's, and nobody's; undefined before the first. */
  get shares(): Shares | undefined {
    return this.#runs.shares;
  }

  /** Request that is served now, if that is known. It may have been answered already. */
  get running(): RunOwner | undefined {
    return (this.#runs.context as Stay | undefined) ?? this.watch.running;
  }

  /** Tells whose continuation runs, from now on until this is called without anybody to tell. */
  follow(tell: TellRun | undefined): void {
    if (!this.#measuresShared) return;
    this.#runs.tell = tell;
    this.#windows.hold(now_ms(), tell !== undefined);
    this.#follow();
  }

  enter(entered_ms: number, label = '', weight?: number): Stay {
    const others = this.#others();
    const active_us_before = weight === 0 ? active_us(entered_ms) : 0;
    const stay: Stay = {
      label,
      weight,
      runs: undefined,
      longest: undefined,
      cpu_us_before: weight === 0 ? clock.guess(active_us_before) : cpuUs(),
      active_us_before,
      process_us: 0,
      isEnding: false,
      isShared: others > 0,
      window: 0,
      measuredIn: 0,
      isMeasured: false,
      own_us: 0,
      offloaded_us: 0,
      lostBefore_us: 0,
      hasLeft: false,
    };
    this.#inside += 1;
    this.watch.enter(stay);
    if (others === 0) this.#sole = stay;
    else if (this.#sole !== undefined) {
      this.#sole.isShared = true;
      this.#sole = undefined;
    }
    if (others > 0 || this.#phase !== 'off') this.#enterWindow(stay, entered_ms, others);
    return stay;
  }

  /** Number of requests that share the worker with a new one. A request that was alone and has ended does not count. */
  #others(): number {
    const sole = this.#sole;
    if (sole?.isEnding !== true) return this.#inside;
    sole.process_us = this.process_us(sole);
    this.#sole = undefined;
    return 0;
  }

  #enterWindow(stay: Stay, entered_ms: number, others: number): void {
    if (!this.#measuresShared) return;
    const isMeasured = this.#windows.enter(entered_ms, others, stay.weight === 0);
    this.#follow();
    if (this.#phase === 'off') return;
    stay.window = this.#window;
    if (isMeasured) stay.measuredIn = this.#window;
    this.#runs.enter(stay, this.#inside);
  }

  /** Hands the request to the app. */
  run(stay: Stay, hand: () => void): void {
    this.watch.touch(stay);
    if (this.#phase === 'off') return hand();
    this.#runs.run(stay, hand);
  }

  /** The app writes the response to a request, if it is one of the gateway's. */
  writes(stay: Stay | undefined): void {
    if (stay === undefined || stay.hasLeft) return;
    this.watch.touch(stay);
    if (this.#runs.isOn) this.#runs.writes(stay);
  }

  /** Marks that the response has ended. The request leaves a turn later, unless the app's hooks still run. */
  ends(stay: Stay): void {
    stay.isEnding = true;
  }

  /**
   * The request whose continuation runs has work done by another thread. Returns what takes the CPU microseconds of that work, at its
   * end. They are in the process's time anyway, which is that of a request that was alone.
   */
  offload(): (cpu_us: number) => void {
    return this.#runs.offload();
  }

  /** CPU microseconds of the process since the request came, or 0 where it is not to be measured and took little. */
  process_us({ weight, cpu_us_before, active_us_before }: Stay): number {
    if (weight === 0 && active_us(now_ms()) - active_us_before < LONG_US_MIN) return 0;
    return cpuUs() - cpu_us_before;
  }

  /** True when `cost` is to be asked a turn later: what the collector took of its time is not known before. */
  leave(stay: Stay): boolean {
    if (stay.process_us === 0) stay.process_us = this.process_us(stay);
    this.#inside -= 1;
    this.watch.leave(stay);
    if (this.#sole === stay) this.#sole = undefined;
    if (this.#phase === 'off') {
      stay.hasLeft = true;
      return false;
    }
    this.#runs.leave(stay, this.#inside);
    stay.isMeasured = stay.measuredIn === this.#window;
    this.#windows.leave(now_ms(), stay.window !== this.#window, stay.isMeasured);
    this.#follow();
    return stay.isMeasured && stay.isShared;
  }

  cost(stay: Stay): Cost {
    if (!stay.isShared) {
      const { weight, process_us } = stay;
      // A long one is told even so, unless others had the CPU meanwhile.
      if (weight === 0 && process_us < LONG_US_MIN) return UNMEASURED;
      return { cpu_us: Math.round(process_us), isShared: false, weight };
    }
    if (!stay.isMeasured || this.#runs.lostShare > LOST_SHARE_MAX) {
      return stay.weight === 0 ? UNMEASURED : { cpu_us: stay.process_us, isShared: true };
    }
    return { cpu_us: this.#runs.cost_us(stay), isShared: false };
  }

  /** Carries out what the windows decide. */
  #follow(): void {
    const { phase } = this.#windows;
    if (phase === this.#phase) return;
    if (this.#phase === 'off') {
      this.#window += 1;
      this.#looks = every(() => this.#look(), LOOK_EVERY_MS).unref();
    }
    this.#phase = phase;
    if (phase === 'open') {
      if (!this.#runs.isOn) this.#runs.start(this.#inside);
    } else if (phase === 'off') {
      clearInterval(this.#looks);
      // Those that have just left are still to be told of.
      nextTurn(() => nextTurn(() => this.#stop()));
    }
  }

  #look(): void {
    this.#windows.look(now_ms());
    this.#follow();
  }

  #stop(): void {
    if (this.#phase === 'off') this.#runs.stop();
  }
}

/** The gateway knows its class. */
export const UNMEASURED: Cost = { cpu_us: 0, isShared: true, weight: 0 };

const clock = new CpuClock();

/** CPU microseconds of the whole process so far, its garbage collector's and compiler's threads included. */
export function cpuUs(): number {
  clock.read();
  return Math.round(clock.process_us);
}
