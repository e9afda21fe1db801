/** Data source of tests: records what it is asked, and answers when it is told to. */
import type { DataSource, Envelope, JsonGraph, Path, PathSet } from '../../src/types.js';

export interface Asked {
  readonly paths: readonly PathSet[];
  readonly signal: AbortSignal | undefined;
  readonly answer: (jsonGraph: JsonGraph, more?: Partial<Envelope>) => void;
  readonly fail: (error: unknown) => void;
}

export interface AskedSet {
  readonly envelope: Envelope;
  readonly answer: (jsonGraph: JsonGraph) => void;
  readonly fail: (error: unknown) => void;
}

export class ManualSource implements DataSource {
  readonly gets: Asked[] = [];
  readonly sets: AskedSet[] = [];
  readonly calls: {
    path: Path;
    args: readonly unknown[];
    refSuffixes: readonly PathSet[];
    thisPaths: readonly PathSet[];
  }[] = [];
  answerToCalls: Envelope = { jsonGraph: {} };

  get(paths: readonly PathSet[], { signal }: { signal?: AbortSignal } = {}): Promise<Envelope> {
    return new Promise((resolve, reject) => {
      this.gets.push({
        paths,
        signal,
        answer: (jsonGraph, more = {}) => resolve({ jsonGraph, paths, ...more }),
        fail: reject,
      });
    });
  }

  set(envelope: Envelope): Promise<Envelope> {
    return new Promise((resolve, reject) => {
      this.sets.push({ envelope, answer: (jsonGraph) => resolve({ jsonGraph }), fail: reject });
    });
  }

  call(
    path: Path,
    args: readonly unknown[],
    refSuffixes: readonly PathSet[],
    thisPaths: readonly PathSet[],
  ): Promise<Envelope> {
    this.calls.push({ path, args, refSuffixes, thisPaths });
    return Promise.resolve(this.answerToCalls);
  }
}

/** The turn of the event loop after everything that is ready has run. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
