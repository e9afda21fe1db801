/** Programs of tests that are processes of their own, and talk by messages. */
import { fork, type ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import type { TestContext } from 'node:test';
import { withDeadline } from '../../src/tasks/deadline.js';

const DEADLINE_MS = 60_000;

export interface Program {
  readonly child: ChildProcess;
  /** The next message, in the order in which they were sent; rejects where the program ends without one. */
  message<T = unknown>(): Promise<T>;
  /** The address of a program that sends `{ listensOn }`. */
  address(): Promise<string>;
  /** Its code, or null where a signal ended it. */
  exit(): Promise<number | null>;
}

/** TypeScript is run as it is. The process ends with the test. */
export function start(t: TestContext, file: string, ...parameters: readonly string[]): Program {
  const child = fork(file, parameters, {
    execArgv: file.endsWith('.ts') ? ['--import', 'tsx'] : [],
    env: { ...process.env, NODE_TEST_CONTEXT: '', PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
  }
  const messages = on(child, 'message', { close: ['disconnect'] }) as AsyncIterableIterator<unknown[]>;
  const exited = once(child, 'exit') as Promise<[number | null]>;
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });

  const message = async <T>(): Promise<T> => {
    const late = (): Error => new Error(`no message from ${file}:\n${written}`);
    const next = await withDeadline(messages.next(), DEADLINE_MS, late);
    if (next.done === true) throw late();
    return next.value[0] as T;
  };
  return {
    child,
    message,
    async address() {
      for (;;) {
        const { listensOn } = await message<{ listensOn?: number }>();
        if (listensOn !== undefined) return `http://127.0.0.1:${listensOn}`;
      }
    },
    exit: async () => (await exited)[0],
  };
}
