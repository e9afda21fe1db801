/** Code of each thread of the pool: finds the task, measures it, and brings its errors across whole. */
import { getHeapStatistics } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { type Thrown, thrown } from './offload-errors.js';
import { Meter } from './offload-meter.js';
import { movedOf } from './offload-moved.js';

export interface Task {
  /** The module, and its export; or the source of a function. */
  readonly href: string | undefined;
  readonly name: string;
  readonly source: string | undefined;
  readonly args: readonly unknown[];
  readonly meter: SharedArrayBuffer;
}

/** End of a task. */
export interface FromThread {
  readonly result: unknown;
  /** Words of the error for a result that cannot be copied. */
  readonly uncopied: string | undefined;
  /** Heap of the thread after the task, garbage included. */
  readonly heap_bytes: number;
}

type Callable = (...args: readonly unknown[]) => unknown;

/** Functions that came as source. Their sources are the app's own, of which there are few. */
const SOURCES_MAX = 1000;
const compiled = new Map<string, Callable>();

parentPort?.on('message', (task: Task) => void answer(task));

async function answer(task: Task): Promise<void> {
  const { value, transfer } = movedOf(await run(task));
  const { used_heap_size: heap_bytes } = getHeapStatistics();
  const send = (end: FromThread, moved: typeof transfer): void => parentPort?.postMessage(end, moved);
  try {
    send({ result: value, uncopied: undefined, heap_bytes }, transfer);
  } catch (error) {
    send({ result: undefined, uncopied: String(error), heap_bytes }, []);
  }
}

async function run({ args, meter: memory, ...task }: Task): Promise<unknown> {
  const meter = new Meter(memory);
  meter.begin();
  try {
    const found = await find(task).catch((error: unknown) => thrown(error, true));
    return typeof found === 'function' ? await attempt(found, args) : found;
  } finally {
    meter.end();
  }
}

async function attempt(task: Callable, args: readonly unknown[]): Promise<unknown> {
  try {
    return await task(...args);
  } catch (error) {
    return thrown(error, false);
  }
}

async function find({
  href,
  name,
  source,
}: Pick<Task, 'href' | 'name' | 'source'>): Promise<Callable | Thrown> {
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
    const text = `${name || 'this function'} cannot be sent to another thread (${String(error)}); a method has to be written as a function`;
    throw new Error(text, { cause: error });
  }
  compiled.set(source, made as Callable);
  return made as Callable;
}
