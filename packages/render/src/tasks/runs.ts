/**
 * Charges CPU time to the component that runs. A synchronous render is one run. An asynchronous one is many: its
 * continuations run between those of others, and Node tells by its hooks whose continuation begins. The hooks slow every
 * promise of the process down, so they are on only while somebody follows. It must not know components or pages.
 */
import { createHook, executionAsyncResource } from 'node:async_hooks';
import type { CpuClock } from '#host/cpu-clock.js';

/** Takes the CPU time of one component. */
export interface Account {
  /** Called at the end of each run, with its CPU microseconds. */
  charge(ran_us: number): void;
}

export class Runs {
  readonly #clock: CpuClock;
  /** Symbol under which resources (promises, timers, sockets) note their owner. */
  readonly #owner = Symbol('account');
  readonly #hook = createHook({
    init: (_id, type, _trigger, resource) => {
      if (this.#current === undefined) return;
      (resource as Owned)[this.#owner] = this.#current;
      if (type === 'Immediate') this.#hasImmediate = true;
    },
    before: () => {
      this.#around.push(this.#current);
      this.#switch((executionAsyncResource() as Owned)[this.#owner]);
    },
    after: () => this.#switch(this.#around.pop()),
  });
  /** Accounts that ran when the callbacks began that run now: one may run within another. */
  readonly #around: (Account | undefined)[] = [];
  #current: Account | undefined;
  #since_us = 0;
  #followers = 0;
  #hasImmediate = false;
  /** Calls of `run` that have not returned. */
  #within = 0;

  constructor(clock: CpuClock) {
    this.#clock = clock;
  }

  /** Charges what `work` takes, which is called with `given`, if to anybody. Its continuations are charged while somebody follows. */
  run<Given, T>(account: Account | undefined, work: (given: Given) => T, given: Given): T {
    const around = this.#current;
    this.#switch(account);
    this.#within += 1;
    try {
      return work(given);
    } finally {
      this.#within -= 1;
      this.#switch(around);
    }
  }

  /** Whether, since it was asked last, somebody who is followed has asked for a turn by `setImmediate`: so React resumes. */
  takeImmediate(): boolean {
    const hasImmediate = this.#hasImmediate;
    this.#hasImmediate = false;
    return hasImmediate;
  }

  /** Charges continuations too, from now until the same number of `unfollow`. */
  follow(): void {
    this.#followers += 1;
    if (this.#followers === 1) this.#hook.enable();
  }

  unfollow(): void {
    this.#followers -= 1;
    if (this.#followers > 0) return;
    this.#hook.disable();
    this.#around.length = 0;
    // The hook will not say that this continuation is at its end.
    if (this.#within === 0) this.#switch(undefined);
  }

  #switch(to: Account | undefined): void {
    const from = this.#current;
    if (from === to) return;
    this.#clock.read();
    const at_us = this.#clock.main_us;
    const ran_us = at_us - this.#since_us;
    this.#current = to;
    this.#since_us = at_us;
    from?.charge(ran_us);
  }
}

type Owned = Record<symbol, Account | undefined>;
