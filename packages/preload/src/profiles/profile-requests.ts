/**
 * Times of requests while a profile is taken: from when to when each was with the app and, where several were at once, whose
 * continuation ran. The reader of both gives each sample to the request that ran then.
 */
import type { Account } from '../cpu/own-cpu-runs.js';
import type { Follower, Requests } from '../requests/requests.js';
import { clock_us } from '../timers.js';

/** Maximum number of requests noted during one profile. */
const STAYS_MAX = 100_000;
/** Maximum number of switches between requests noted during one profile. */
const RUNS_MAX = 1_000_000;

/** Content of the file. Times in microseconds since the profile's begin, which may be before it. */
export interface RequestTimes {
  /** Number, when it came, when it left; what is before that for one that was still there. */
  readonly stays: readonly (readonly [id: number, entered_us: number, left_us: number])[];
  /** Starts of continuations: time and number in turn, -1 for nobody's. Empty if requests never shared the worker. */
  readonly runs: readonly number[];
  /** Some were not noted, as there were too many. */
  readonly isCut: boolean;
}

const NOBODY = -1;

export class RequestLog implements Follower {
  readonly #requests: Requests;
  readonly #stays = new Map<number, [id: number, entered_us: number, left_us: number]>();
  readonly #runs: number[] = [];
  readonly #ids = new WeakMap<Account, number>();
  #isCut = false;

  constructor(requests: Requests) {
    this.#requests = requests;
    requests.follow(this);
  }

  entered(id: number, account: Account): void {
    this.#ids.set(account, id);
    if (this.#stays.size >= STAYS_MAX) this.#isCut = true;
    else this.#stays.set(id, [id, clock_us(), -1]);
  }

  left(id: number): void {
    const stay = this.#stays.get(id);
    if (stay !== undefined) stay[2] = clock_us();
  }

  ran(account: Account | undefined, isSince: boolean): void {
    const id = account === undefined ? NOBODY : (this.#ids.get(account) ?? NOBODY);
    const runs = this.#runs;
    // What was nobody's so far turned out to be this one's.
    if (isSince && runs.at(-1) === NOBODY) {
      runs[runs.length - 1] = id;
      return;
    }
    if (runs.at(-1) === id) return;
    if (runs.length >= 2 * RUNS_MAX) this.#isCut = true;
    else runs.push(clock_us(), id);
  }

  end(): void {
    this.#requests.unfollow(this);
  }

  /** `began_us`: when the profile began, by `clock_us`. */
  taken(began_us: number): RequestTimes {
    const at = (us: number): number => us - began_us;
    return {
      stays: [...this.#stays.values()].map(([id, entered_us, left_us]) => [id, at(entered_us), at(left_us)]),
      runs: this.#runs.map((value, index) => (index % 2 === 0 ? at(value) : value)),
      isCut: this.#isCut,
    };
  }
}
