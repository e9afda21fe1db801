/**
 * Time limits that are honest. A timer that fires while the process was busy says nothing about the reply it guards: that may
 * lie unread in its socket. So the event loop reads its sockets once more before anything is called late.
 */

/** Turns of the event loop after the timer: one reads the sockets, one runs what they have set off. */
const TURNS = 2;

export interface Deadline {
  /** What is waited for has come. */
  clear(): void;
}

/** Calls `late` once, `ms` milliseconds from now at the earliest. */
export function startDeadline(ms: number, late: () => void): Deadline {
  let isCleared = false;
  let turn: NodeJS.Immediate | undefined;
  const wait = (turns: number): void => {
    if (isCleared) return;
    if (turns === 0) late();
    else turn = setImmediate(wait, turns - 1);
  };
  const timer = setTimeout(wait, ms, TURNS);
  return {
    clear() {
      isCleared = true;
      clearTimeout(timer);
      clearImmediate(turn);
    },
  };
}

/** `work`'s result; rejects with `lateError()` where there is none after `ms` milliseconds. `work` itself goes on. */
export async function withDeadline<T>(work: PromiseLike<T>, ms: number, lateError: () => Error): Promise<T> {
  let deadline: Deadline | undefined;
  const lateness = new Promise<never>((_resolve, reject) => {
    deadline = startDeadline(ms, () => reject(lateError()));
  });
  try {
    return await Promise.race([work, lateness]);
  } finally {
    deadline?.clear();
  }
}
