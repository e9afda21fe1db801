/**
 * Random histories of reads, writes, calls, answers, failures, aborts, invalidations and time, on the model and on the reference: after
 * each step both hold the same values, have asked for the same, and have answered the same.
 *
 *   SLUICE_GRAPH_HISTORIES=100000 SLUICE_SEED=1 node --import tsx --test test/model/histories.test.ts
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { long, seed } from '../../../../tests/support/chance.js';
import { Model, ReadErrors, ReferenceLoopError, UnansweredError } from '../../src/index.js';
import { expandPaths } from '../../src/paths/index.js';
import type { Envelope, JsonGraph, Key, KeySet, Path, PathSet } from '../../src/types.js';
import { check } from '../reference/property.js';
import { pathText } from '../reference/reference.js';
import { Server } from '../reference/server.js';
import { byName, type Call, type Outcome, outcomeOf, Session, type View } from '../reference/session.js';

const HISTORIES = Number(process.env['SLUICE_GRAPH_HISTORIES'] ?? (long ? 1_000_000 : 10_000));

/** Answer in one part, in a part for each path set, one part with more to come, or an error. */
type How = 'whole' | 'parts' | 'one' | 'fail';

type Step =
  | { readonly do: 'get'; readonly gets: readonly { readonly paths: PathSet[]; readonly view: View }[] }
  | { readonly do: 'read'; readonly paths: PathSet[]; readonly view: View }
  | { readonly do: 'answer'; readonly which: number; readonly how: How }
  | {
      readonly do: 'set';
      readonly values: { path: PathSet; value: unknown }[];
      readonly hasSource: boolean;
      readonly rollback: boolean;
    }
  | { readonly do: 'answerSet'; readonly which: number; readonly fails: boolean }
  | { readonly do: 'call'; readonly values: [Path, unknown][]; readonly invalidated: PathSet[] }
  | { readonly do: 'invalidate'; readonly paths: PathSet[] }
  | { readonly do: 'serve'; readonly path: Path; readonly value: unknown }
  | { readonly do: 'abort'; readonly which: number }
  | { readonly do: 'wait'; readonly ms: number };

interface History {
  readonly maxSize: number;
  /** Whether the data source answers in parts. */
  readonly isParted: boolean;
  readonly graph: [Path, unknown][];
  readonly watched: PathSet[];
  readonly steps: Step[];
}

/** Few keys, so that steps meet at the same places. */
const plainKey = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Key>('a', 0) },
  { weight: 1, arbitrary: fc.constantFrom<Key>('b', 1, '__proto__', 'constructor') },
);
const top = fc.constantFrom<Key>('a', 'b', 'r', '__proto__');
const lastKey = fc.oneof({ weight: 8, arbitrary: plainKey }, { weight: 1, arbitrary: fc.constant(null) });
const path: fc.Arbitrary<Path> = fc
  .tuple(top, fc.array(plainKey, { minLength: 1, maxLength: 2 }))
  .map(([first, rest]) => [first, ...rest]);
const keySet: fc.Arbitrary<KeySet> = fc.oneof(
  { weight: 4, arbitrary: plainKey },
  { weight: 2, arbitrary: fc.array(plainKey, { maxLength: 3 }) },
  { weight: 2, arbitrary: fc.constantFrom({ to: 1 }, { from: 1, length: 1 }, { length: 0 }) },
);
const pathSet: fc.Arbitrary<PathSet> = fc.oneof(
  fc.tuple(top, fc.array(keySet, { maxLength: 2 })).map(([first, rest]) => [first, ...rest]),
  fc.tuple(fc.constantFrom<Key>('r'), keySet, keySet, lastKey),
  fc.tuple(top, keySet, lastKey),
);
const pathSets = fc.array(pathSet, { minLength: 1, maxLength: 3 });

const metadata = fc.record(
  {
    $expires: fc.constantFrom(0, 1, -10, -30, 1020, 1050),
    $timestamp: fc.constantFrom(1, 2, 3),
    $size: fc.constantFrom(10, 400),
  },
  { requiredKeys: [] },
);
const atom = fc
  .tuple(
    fc.constantFrom('atom', 'atom', 'error'),
    fc.constantFrom(1, 'x', undefined, null),
    fc.option(metadata),
  )
  .map(([$type, value, more]) => ({ $type, ...(value === undefined ? {} : { value }), ...more }));
const plainValue = fc.oneof(fc.nat(5), fc.constantFrom('x', null, true), atom);
const refTo = (target: fc.Arbitrary<Path>): fc.Arbitrary<object> =>
  fc
    .tuple(target, fc.option(metadata, { freq: 5 }))
    .map(([value, more]) => ({ $type: 'ref', value, ...more }));

/** Graph of references that never lead to references, so that no loop ends a step half-way and every use is in one order. */
const tame = {
  value: plainValue as fc.Arbitrary<unknown>,
  placed: fc.oneof(
    fc.tuple(path, plainValue),
    fc.tuple(
      fc.tuple(fc.constant<Key>('r'), plainKey) as fc.Arbitrary<Path>,
      refTo(fc.tuple(fc.constantFrom<Key>('a', 'b'), plainKey)),
    ),
  ) as fc.Arbitrary<[Path, unknown]>,
};
const wild = {
  value: fc.oneof(
    { weight: 3, arbitrary: plainValue },
    { weight: 1, arbitrary: refTo(path) },
  ) as fc.Arbitrary<unknown>,
  placed: fc.tuple(
    path,
    fc.oneof(
      plainValue,
      refTo(fc.oneof(path, fc.tuple(top))),
      // Through another reference, perhaps.
      refTo(fc.tuple(fc.constant<Key>('r'), plainKey, plainKey)),
    ),
  ) as fc.Arbitrary<[Path, unknown]>,
};

const view: fc.Arbitrary<View> = fc.record({ isBoxed: fc.boolean(), takesErrors: fc.boolean() });
const which = fc.nat(3);
const stepOf = ({ value, placed }: typeof wild): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('get' as const),
        gets: fc.array(fc.record({ paths: pathSets, view }), { minLength: 1, maxLength: 2 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('read' as const), paths: pathSets, view }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('answer' as const),
        which,
        how: fc.constantFrom<How>('whole', 'whole', 'parts', 'one', 'fail'),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('set' as const),
        values: fc.array(fc.record({ path: pathSet, value }), { minLength: 1, maxLength: 2 }),
        hasSource: fc.boolean(),
        rollback: fc.boolean(),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('answerSet' as const), which, fails: fc.boolean() }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('call' as const),
        values: fc.array(placed, { maxLength: 2 }),
        invalidated: fc.array(pathSet, { maxLength: 1 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('invalidate' as const), paths: pathSets }) },
    {
      weight: 1,
      arbitrary: placed.map(([at, wire]): Step => ({ do: 'serve', path: at, value: wire })),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), which }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(5, 20) }) },
  );
const historyOf = (graphs: typeof wild, maxSize: fc.Arbitrary<number>): fc.Arbitrary<History> =>
  fc.record({
    maxSize,
    isParted: fc.boolean(),
    graph: fc.array(graphs.placed, { maxLength: 8 }),
    watched: pathSets,
    steps: fc.array(stepOf(graphs), { minLength: 1, maxLength: 12 }),
  });
const history = fc.oneof(
  historyOf(wild, fc.constant(Infinity)),
  historyOf(tame, fc.constantFrom(800, 1500, 2700)),
);

interface Sent {
  readonly paths: readonly PathSet[];
  readonly signal: AbortSignal | undefined;
  readonly parts: Part[];
  readonly wake: { call: () => void };
}
type Part = Envelope | 'end' | 'fail';

/** What the data source rejects with. */
const FAILURE = Symbol('failure');

/** Answer of a data source that the history gives part by part. */
async function* answering(sent: Sent): AsyncGenerator<Envelope> {
  for (;;) {
    const part = sent.parts.shift();
    if (part === 'end') return;
    if (part === 'fail') throw FAILURE;
    if (part !== undefined) yield part;
    else await new Promise<void>((resolve) => (sent.wake.call = resolve));
  }
}

async function firstOf(parts: AsyncIterable<Envelope>): Promise<Envelope> {
  for await (const part of parts) return part;
  throw new Error('An answer has a part');
}

/** The turn of the event loop after everything that is ready has run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class Run {
  now = 1000;
  /** Whether values of the history expire. */
  readonly #expires: boolean;
  #heard = 0;
  readonly #watched: PathSet[];
  readonly #isParted: boolean;
  readonly #server = new Server();
  readonly #sent: Sent[] = [];
  readonly #sets: { readonly envelope: Envelope; readonly end: (envelope: Envelope | undefined) => void }[] =
    [];
  /** Calls that had not ended at the last comparison. */
  #calls: {
    readonly ours: Call;
    readonly theirs: Call;
    readonly abort: AbortController | undefined;
  }[] = [];
  #answerToCall: Envelope = { jsonGraph: {} };
  readonly model: Model;
  readonly session: Session;

  constructor({ maxSize, isParted, graph, watched, steps }: History) {
    this.#expires = /"\$expires":(?!1\b)/u.test(JSON.stringify([graph, steps]));
    this.#isParted = isParted;
    this.#watched = watched;
    const now = (): number => this.now;
    for (const [at, wire] of graph) this.#server.set(at, wire);
    this.session = new Session({ maxSize, collectRatio: 0.75, now });
    this.model = new Model({
      maxSize,
      now,
      source: {
        get: (paths, options) => {
          const sent: Sent = { paths, signal: options?.signal, parts: [], wake: { call: () => undefined } };
          this.#sent.push(sent);
          return isParted ? answering(sent) : firstOf(answering(sent));
        },
        set: (envelope) =>
          new Promise((resolve, reject) => {
            const end = (answer: Envelope | undefined): void =>
              answer === undefined ? reject(FAILURE) : resolve(answer);
            this.#sets.push({ envelope, end });
          }),
        call: () => Promise.resolve(this.#answerToCall),
      },
    });
    this.model.subscribe(watched, () => (this.#heard += 1));
  }

  #view({ isBoxed = false, takesErrors = false }: View): Model {
    let model = this.model;
    if (isBoxed) model = model.boxValues();
    if (takesErrors) model = model.treatErrorsAsValues();
    return model;
  }

  #track(
    promise: Promise<{ readonly json: unknown } | undefined>,
    theirs: Call,
    abort?: AbortController,
  ): void {
    const ours: Call = { outcome: undefined };
    promise.then(
      (envelope) => (ours.outcome = { is: 'json', json: envelope?.json }),
      (error: unknown) => (ours.outcome = rejection(error, abort)),
    );
    this.#calls.push({ ours, theirs, abort });
  }

  async step(step: Step): Promise<void> {
    const [before, heard] = [this.#watchedNow(), this.#heard];
    this.#do(step);
    this.session.send();
    await settled();
    this.#compare();
    // Nobody is told of values that expire or leave for the bound.
    const isTold = this.#expires || this.session.cache.options.maxSize < Infinity || this.#heard > heard;
    if (!isTold) assert.deepEqual(this.#watchedNow(), before, 'A subscription was not told of a change');
  }

  /** Values that the subscription is for, without their wrappers: nobody is told of a new timestamp. */
  #watchedNow(): unknown {
    try {
      const model = new Model({ cache: this.session.cache.export(), now: () => this.now });
      return model.treatErrorsAsValues().read(...this.#watched).json;
    } catch {
      return 'loop';
    }
  }

  #do(step: Step): void {
    switch (step.do) {
      case 'get':
        for (const { paths, view: seen } of step.gets) {
          const abort = new AbortController();
          const promise = this.#view(seen).get(...paths, { signal: abort.signal });
          this.#track(promise, this.session.get(paths, seen), abort);
        }
        return;
      case 'read':
        this.#read(step.paths, step.view);
        return;
      case 'answer':
        this.#answer(step);
        return;
      case 'set': {
        const { values, hasSource, rollback } = step;
        const model = hasSource ? this.model : this.model.withoutDataSource();
        const promise = model.set(...(values as { path: PathSet; value: number }[]), { rollback });
        this.#track(promise, this.session.set(values, hasSource, rollback));
        return;
      }
      case 'answerSet': {
        const at = step.which % Math.max(1, this.#sets.length);
        const theirs = this.session.sets[at];
        const [ours] = this.#sets.splice(at, 1);
        if (ours === undefined || theirs === undefined) return;
        if (!step.fails) this.#server.setAll(theirs.envelope.jsonGraph);
        const answer = step.fails ? undefined : this.#server.answer(theirs.envelope.paths ?? []);
        ours.end(answer);
        this.session.endSet(theirs, answer);
        return;
      }
      case 'call': {
        const server = new Server();
        for (const [at, wire] of step.values) server.set(at, wire);
        const answer = server.answer(step.values.map(([at]) => at));
        this.#answerToCall = { ...answer, invalidated: step.invalidated };
        this.#track(this.model.call(['f']), this.session.call(this.#answerToCall));
        return;
      }
      case 'invalidate': {
        let ours: string | undefined;
        try {
          this.model.invalidate(...step.paths);
        } catch (error) {
          assert.ok(error instanceof ReferenceLoopError);
          ours = 'loop';
        }
        assert.equal(ours, this.session.invalidate(step.paths));
        return;
      }
      case 'serve':
        this.#server.set(step.path, step.value);
        return;
      case 'abort': {
        const waiting = this.#calls.filter(
          ({ abort, ours }) => abort !== undefined && ours.outcome === undefined,
        );
        const call = waiting[step.which % Math.max(1, waiting.length)];
        if (call === undefined) return;
        call.abort?.abort();
        this.session.abort(call.theirs);
        return;
      }
      case 'wait':
        this.now += step.ms;
    }
  }

  #read(paths: PathSet[], seen: View): void {
    let ours: unknown;
    let theirs: unknown;
    try {
      const { json, missing, errors } = this.#view(seen).read(...paths);
      const outcome: Outcome = errors.length > 0 ? errorsOf(errors) : { is: 'json', json };
      ours = { outcome, missing: textsOf(missing) };
    } catch (error) {
      ours = rejection(error);
    }
    try {
      const found = this.session.cache.read(paths, seen);
      theirs = { outcome: outcomeOf(found), missing: [...found.missing].sort() };
    } catch {
      theirs = { is: 'loop' };
    }
    assert.deepEqual(ours, theirs);
  }

  #waiting(): Sent[] {
    return this.#sent.filter(({ signal, parts }) => signal?.aborted !== true && !parts.includes('end'));
  }

  #answer({ which: chosen, how }: { readonly which: number; readonly how: How }): void {
    const waiting = this.#waiting();
    const at = chosen % Math.max(1, waiting.length);
    const ours = waiting[at];
    const theirs = this.session.inFlight[at];
    if (ours === undefined || theirs === undefined) return;
    if (how === 'one' && this.#isParted) {
      const envelope = this.#server.answer(ours.paths.slice(0, 1));
      ours.parts.push(envelope);
      this.session.part(theirs, envelope);
    } else if (how === 'fail') {
      ours.parts.push('fail');
      this.#sent.splice(this.#sent.indexOf(ours), 1);
      this.session.fail(theirs);
    } else {
      const envelopes =
        how === 'whole' || !this.#isParted
          ? [this.#server.answer(ours.paths)]
          : ours.paths.map((one) => this.#server.answer([one]));
      ours.parts.push(...envelopes, 'end');
      this.#sent.splice(this.#sent.indexOf(ours), 1);
      if (!this.#isParted) this.session.whole(theirs, envelopes[0] as Envelope);
      for (const envelope of this.#isParted ? envelopes : []) {
        // The last reader has left: the rest is not taken.
        if (this.session.inFlight.includes(theirs)) this.session.part(theirs, envelope);
      }
      if (this.session.inFlight.includes(theirs)) this.session.end(theirs);
    }
    ours.wake.call();
  }

  #compare(): void {
    for (const { ours, theirs } of this.#calls) assert.deepEqual(ours.outcome, theirs.outcome);
    this.#calls = this.#calls.filter(({ ours }) => ours.outcome === undefined);
    const { cache, inFlight } = this.session;
    assert.deepEqual(sorted(this.model.getCache()), sorted(cache.export()));
    assert.equal(this.model.getSize(), cache.bytes);
    const asked = this.#waiting().map(({ paths }) => textsOf(paths));
    assert.deepEqual(
      asked,
      inFlight.map((request) => [...request.asked].sort()),
    );
    assert.deepEqual(
      this.#sets.map(({ envelope }) => sorted(envelope.jsonGraph)),
      this.session.sets.map(({ envelope }) => sorted(envelope.jsonGraph)),
    );
  }

  /** Answers everything, until nothing waits. */
  async end(): Promise<void> {
    for (let round = 0; round < 300 && (this.#waiting().length > 0 || this.#sets.length > 0); round += 1) {
      await this.step({ do: 'answer', which: 0, how: 'whole' });
      await this.step({ do: 'answerSet', which: 0, fails: false });
    }
    assert.equal(this.#calls.length, 0);
  }
}

const textsOf = (sets: readonly PathSet[]): string[] =>
  [...new Set([...expandPaths(sets)].map(pathText))].sort();

function errorsOf(errors: readonly { readonly path: Path; readonly value: unknown }[]): Outcome {
  const byPath = new Map(errors.map(({ path: at, value }) => [pathText(at), value]));
  return { is: 'errors', errors: [...byPath].sort(byName) };
}

function rejection(error: unknown, abort?: AbortController): Outcome {
  if (error instanceof ReadErrors) return errorsOf(error.errors);
  if (error instanceof ReferenceLoopError) return { is: 'loop' };
  if (error instanceof UnansweredError) return { is: 'unanswered' };
  if (error === FAILURE) return { is: 'source' };
  if (abort?.signal.aborted === true) return { is: 'aborted' };
  throw error;
}

/** Values by their paths. */
function sorted(graph: JsonGraph, at: readonly string[] = []): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(graph)) {
    const isBranch =
      typeof value === 'object' && value !== null && typeof (value as JsonGraph)['$type'] !== 'string';
    if (isBranch) Object.assign(values, sorted(value as JsonGraph, [...at, key]));
    else values[JSON.stringify([...at, key])] = value;
  }
  return values;
}

void test(`histories end as in the reference (seed ${seed})`, async () => {
  const property = fc.asyncProperty(history, async (given) => {
    const run = new Run(given);
    for (const step of given.steps) await run.step(step);
    await run.end();
  });
  await check(property, HISTORIES);
});
