/** Writes and calls: what they send to the data source, and what they take from its answer. */
import { limitPaths } from '../paths/index.js';
import type { Answer, Envelope, Key, Path, PathSet, PathValue, SourceOptions } from '../types.js';
import { Writer } from './cache.js';
import { type PathErrorValue, ReadErrors } from './errors.js';
import type { SetOptions } from './input.js';
import type { Read } from './read.js';
import type { View } from './view.js';
import { Write } from './write.js';

/** Writes values to the cache at once, and to the data source. Returns what is there after its answer. */
export async function sendValues(
  view: View,
  values: readonly PathValue[],
  { signal, rollback = true }: SetOptions,
): Promise<Read> {
  signal?.throwIfAborted();
  const { root } = view;
  const { cache, source } = root;
  const pathSets = view.pathSets(values.map(({ path }) => path));
  const isSent = view.settings.hasSource && source?.set !== undefined;
  const write = new Write(cache, root.nextId(), isSent);
  let envelope: Envelope | undefined;
  const refused: PathErrorValue[] = [];
  try {
    try {
      for (const [at, { value }] of values.entries())
        write.set(view.startOfWrite(), pathSets[at] as PathSet, value);
      if (isSent) envelope = write.envelope();
      if (envelope === undefined) root.tell();
      else {
        root.settle();
        await take(source?.set?.(envelope, { signal } as SourceOptions) as Answer, signal, (part) => {
          cache.merge(part, write);
          // Before anybody is told: a component that reads an error shows it.
          if (rollback) refused.push(...write.takeBackRefused());
          root.tell();
        });
      }
    } catch (error) {
      if (rollback || envelope === undefined) write.rollBack();
      else write.confirm();
      throw error;
    }
    write.confirm();
    const read = view.read(pathSets);
    if (refused.length > 0) throw new ReadErrors(refused, read.json);
    return read;
  } finally {
    root.drop(write);
  }
}

/**
 * Calls a function of the graph. Returns what is there at the paths of the answer.
 *
 * @throws Error if the data source takes no calls; PathLimitError if the answer has too many paths.
 */
export async function sendCall(
  view: View,
  path: Path,
  args: readonly unknown[],
  refSuffixes: readonly PathSet[],
  thisPaths: readonly PathSet[],
  signal: AbortSignal | undefined,
): Promise<Read> {
  const { root } = view;
  const { source } = root;
  if (source?.call === undefined || !view.settings.hasSource) throw new Error('The data source has no calls');
  const base = view.path();
  const writer = new Writer(root.nextId(), root.cache.moment);
  const paths: PathSet[] = [];
  const answer = source.call([...base, ...path], args, refSuffixes, thisPaths, { signal } as SourceOptions);
  try {
    await take(answer, signal, (envelope) => {
      root.merge(envelope, writer);
      for (const pathSet of envelope.paths ?? [])
        if (startsWith(pathSet, base)) paths.push(pathSet.slice(base.length));
      root.tell();
    });
    limitPaths(paths, root.maxPaths);
    return view.read(paths);
  } finally {
    root.drop(writer);
  }
}

/** Envelopes of an answer, one after the other. */
async function* envelopesOf(answer: Answer): AsyncGenerator<Envelope> {
  yield* Symbol.asyncIterator in answer ? answer : [answer];
}

/** Takes the envelopes of an answer until its end, or until the signal aborts. */
async function take(
  answer: Answer,
  signal: AbortSignal | undefined,
  merge: (envelope: Envelope) => void,
): Promise<void> {
  const envelopes = envelopesOf(answer);
  try {
    for (;;) {
      const step = await unlessAborted(envelopes.next(), signal);
      if (step.done === true) return;
      merge(step.value);
    }
  } catch (error) {
    envelopes.return(undefined).catch(() => undefined);
    throw error;
  }
}

/** The promise, or a rejection when the signal aborts before. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function startsWith(pathSet: PathSet, base: Path): boolean {
  return base.every((key, at) => String(pathSet[at] as Key) === String(key));
}
