/**
 * Code of each thread of the pool: finds the task, measures it, and brings its errors across whole. It speaks with the pool on a port of its
 * own: `parentPort` and `workerData` belong to the modules of the tasks.
 */
import { syncBuiltinESMExports } from 'node:module';
import { getHeapStatistics } from 'node:v8';
import workers, { type MessagePort } from 'node:worker_threads';
import { type Thrown, thrown } from './offload-errors.js';
import { Meter } from './offload-meter.js';
import { movedOf, type Sent } from './offload-moved.js';

export interface Task {
  /** The module, and its export; or the source of a function. */
  readonly href: string | undefined;
  readonly name: string;
  readonly source: string | undefined;
  readonly args: readonly unknown[];
  readonly meter: SharedArrayBuffer;
}

/** A task with its number in this thread. */
export interface ToThread {
  readonly number: number;
  readonly task: Task;
}

/** Result of a task, or its error. */
export interface Outcome {
  readonly result: unknown;
  /** Error of a task that has no result. */
  readonly thrown: Thrown | undefined;
}

/** End of a task. */
export interface FromThread extends Outcome {
  /** Number of its task. */
  readonly number: number;
  /** Words of the error for a result that cannot be copied. */
  readonly uncopied: string | undefined;
  /** Heap of the thread after the task, garbage included. */
  readonly heap_bytes: number;
}

type Callable = (...args: readonly unknown[]) => unknown;

/** Functions that came as source. Their sources are the app's own, of which there are few. */
const SOURCES_MAX = 1000;
const compiled = new Map<string, Callable>();

const port = takePort();
port.on('message', (message: ToThread) => void answer(message));

/** Takes the pool's port out of `workerData`, before a module of a task can look there. */
function takePort(): MessagePort {
  const { workerData } = workers as { workerData: unknown };
  Object.assign(workers, { workerData: undefined });
  syncBuiltinESMExports();
  return workerData as MessagePort;
}

async function answer({ number, task }: ToThread): Promise<void> {
  const { result, ...outcome } = await run(task);
  const { used_heap_size: heap_bytes } = getHeapStatistics();
  const end = { number, ...outcome, heap_bytes };
  const send = (message: FromThread, moved: Sent['transfer'] = []): void => port.postMessage(message, moved);
  try {
    const { value, transfer } = movedOf(result);
    send({ ...end, result: value, uncopied: undefined }, transfer);
  } catch (error) {
    send({ ...end, result: undefined, uncopied: String(error) });
  }
}

async function run({ args, meter: memory, ...task }: Task): Promise<Outcome> {
  const meter = new Meter(memory);
  meter.begin();
  let isUnfit = true;
  try {
    const found = await find(task);
    isUnfit = false;
    return { result: await found(...args), thrown: undefined };
  } catch (error) {
    return { result: undefined, thrown: thrown(error, isUnfit) };
  } finally {
    meter.end();
  }
}

async function find({ href, name, source }: Pick<Task, 'href' | 'name' | 'source'>): Promise<Callable> {
  if (source !== undefined) return compile(source, name);
  const module = (await import(String(href))) as Readonly<Record<string, unknown>>;
  const { [name]: exported } = module;
  if (typeof exported === 'function') return exported as Callable;
  // CommonJS, of which Node does not always know the names of its exports.
  const { default: whole } = module as { readonly default?: Readonly<Record<string, unknown>> | undefined };
  if (typeof whole?.[name] === 'function') return whole[name] as Callable;
  const names = Object.keys(module).join(', ') || 'none';
  throw new Error(`${href} exports no function ${name}; its exports: ${names}`);
}

function compile(source: string, name: string): Callable {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  if (compiled.size >= SOURCES_MAX) compiled.clear();
  let made: unknown;
  try {
    // esbuild, and so tsx, wraps inner functions in calls of `__name`.
    // oxlint-disable-next-line typescript/no-implied-eval -- the source is the app's own function
    made = new Function('__name', `return (${source}\n);`)((inner: unknown) => inner);
  } catch (error) {
    const text = `${name || 'this function'} cannot be sent to another thread (${String(error)}); a method must be written as a function`;
    throw new Error(text, { cause: error });
  }
  compiled.set(source, made as Callable);
  return made as Callable;
}
