/**
 * Turns of the event loop: when the last one was, and how a loop waits for the next. Several loops of a thread share the turns:
 * each turn resumes one of them, so that others wait for one budget and not for the sum. It must not know why somebody yields.
 */

/** `scheduler.yield()`, which browsers have. */
interface Yielder {
  readonly scheduler?: { readonly yield?: () => Promise<void> };
}

/** `MessageChannel` of browsers, whose types are not Node's. */
interface Channel {
  readonly port1: { addEventListener(type: 'message', listener: () => void): void; start(): void };
  readonly port2: { postMessage(message: unknown): void };
}

// Taken before an app can replace them, by fake timers for example.
export const now_ms: () => number = performance.now.bind(performance);
const askForTurn = findWay(resumeNext);

const resumes: (() => void)[] = [];
let turned_ms = Number.NEGATIVE_INFINITY;

/**
 * Returns the time at which a loop of this thread last let others in, in milliseconds of `performance.now()`; -Infinity
 * if none has.
 */
export function lastTurn_ms(): number {
  return turned_ms;
}

/** Resolves once timers and sockets have had their turn. Loops resume in the order in which they yielded. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    resumes.push(resolve);
    if (resumes.length === 1) askForTurn();
  });
}

function resumeNext(): void {
  const resume = resumes.shift();
  if (resumes.length > 0) askForTurn();
  turned_ms = now_ms();
  resume?.();
}

/** Returns a function that has `resume` called a turn later. */
function findWay(resume: () => void): () => void {
  // Browsers have none, and a timer would wait for 4 ms there.
  if (typeof setImmediate === 'function') {
    const nodes = setImmediate;
    return () => void nodes(resume);
  }
  const { scheduler } = globalThis as Yielder;
  if (typeof scheduler?.yield === 'function') {
    const { yield: yieldTurn } = scheduler;
    return () => void yieldTurn.call(scheduler).then(resume);
  }
  const { port1, port2 } = new MessageChannel() as unknown as Channel;
  port1.addEventListener('message', resume);
  port1.start();
  return () => port2.postMessage(undefined);
}
