/** Descriptions of apps and of what happens to them, by fast-check. */
import * as fc from 'fast-check';

export interface Children {
  readonly list: readonly Spec[];
  readonly keyed: boolean;
  /** For each state the children in their order; -1 for none. */
  readonly orders: readonly (readonly number[])[];
}

interface Named {
  name: string;
}

export type Spec =
  | (Named & { t: 'w'; ref: number; fresh: boolean; shows: boolean; kids: Children })
  | (Named & {
      t: 'f';
      wrap: 'none' | 'memo' | 'compare' | 'forward' | 'lazy';
      effects: readonly { kind: 'e' | 'l' | 'i'; deps: number; fails: boolean }[];
      context: number;
      store: boolean;
      deferred: boolean;
      transition: boolean;
      reducer: boolean;
      layoutSet: boolean;
      passiveSet: boolean;
      renderSet: boolean;
      fails: number;
      waits: number;
      waitsAt: number;
      uses: boolean;
      kids: Children;
    })
  | (Named & {
      t: 'c';
      boundary: number;
      pure: boolean;
      should: boolean;
      snapshot: boolean;
      derives: boolean;
      updates: boolean;
      fails: number;
      context: number;
      kids: Children;
    })
  | (Named & { t: 'p'; context: number; consumes: boolean; kids: Children })
  | (Named & { t: 's'; kids: Children; fallback: Children })
  | (Named & { t: 'g'; kids: Children })
  | { t: 'n' };

const rarely = (share = 6): fc.Arbitrary<boolean> => fc.nat(share - 1).map((n) => n === share - 1);
/** A number, mostly `usual`. */
const seldom = (usual: number, others: fc.Arbitrary<number>, share = 5): fc.Arbitrary<number> =>
  fc.oneof({ weight: share, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: others });

const { tree } = fc.letrec<{ tree: Spec; kids: Children }>((tie) => ({
  kids: fc.record({
    list: fc.array(tie('tree'), { minLength: 1, maxLength: 3, size: 'max', depthIdentifier: 'd' }),
    keyed: fc.boolean(),
    orders: fc.array(
      fc.uniqueArray(fc.integer({ min: -1, max: 2 }), { minLength: 1, maxLength: 4, size: 'max' }),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
  }),
  tree: fc.oneof(
    { depthIdentifier: 'd', maxDepth: 4, depthSize: 'max', withCrossShrink: true },
    { weight: 1, arbitrary: fc.constant<Spec>({ t: 'n' }) },
    {
      weight: 3,
      arbitrary: fc.record({
        t: fc.constant<'w'>('w'),
        name: fc.constant(''),
        ref: fc.nat(3),
        fresh: fc.boolean(),
        shows: fc.boolean(),
        kids: tie('kids'),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        t: fc.constant<'f'>('f'),
        name: fc.constant(''),
        wrap: fc.constantFrom('none', 'none', 'memo', 'compare', 'forward', 'lazy'),
        effects: fc.array(
          fc.record({ kind: fc.constantFrom('e', 'l', 'i'), deps: fc.nat(3), fails: rarely() }),
          { maxLength: 2 },
        ),
        context: seldom(-1, fc.nat(1), 2),
        store: rarely(),
        deferred: rarely(),
        transition: rarely(4),
        reducer: fc.boolean(),
        layoutSet: rarely(),
        passiveSet: rarely(),
        renderSet: rarely(),
        fails: seldom(-1, fc.integer({ min: 1, max: 4 }), 2),
        waits: seldom(-1, fc.nat(3), 1),
        waitsAt: seldom(1, fc.nat(2), 2),
        uses: fc.boolean(),
        kids: tie('kids'),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        t: fc.constant<'c'>('c'),
        name: fc.constant(''),
        boundary: fc.nat(3),
        pure: fc.boolean(),
        should: rarely(),
        snapshot: fc.boolean(),
        derives: rarely(),
        updates: rarely(),
        fails: seldom(0, fc.integer({ min: 1, max: 4 })),
        context: seldom(-1, fc.nat(1), 2),
        kids: tie('kids'),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        t: fc.constant<'p'>('p'),
        name: fc.constant(''),
        context: fc.nat(1),
        consumes: fc.boolean(),
        kids: tie('kids'),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        t: fc.constant<'s'>('s'),
        name: fc.constant(''),
        kids: tie('kids'),
        fallback: tie('kids'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ t: fc.constant<'g'>('g'), name: fc.constant(''), kids: tie('kids') }),
    },
  ),
}));

export type Operation =
  | { o: 'set'; which: number; value: number; lane: number; relative: boolean }
  | { o: 'settle'; promise: number; fails: boolean }
  | { o: 'store'; value: number }
  | { o: 'root'; v: number; lane: number }
  | { o: 'empty' };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      o: fc.constant<'set'>('set'),
      which: fc.nat(20),
      value: seldom(1, fc.nat(3), 1),
      lane: fc.nat(3),
      relative: rarely(4),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ o: fc.constant<'settle'>('settle'), promise: fc.nat(3), fails: rarely(8) }),
  },
  { weight: 1, arbitrary: fc.record({ o: fc.constant<'store'>('store'), value: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ o: fc.constant<'root'>('root'), v: fc.nat(3), lane: fc.nat(2) }) },
);

export interface History {
  /** Whether a Suspense is around the app. Without one there are no discrete updates: react-reconciler forgets to go on with one that has suspended. */
  readonly outer: boolean;
  /** Number of the lane that the first transition gets: the ten lanes are given in turn, and the lower ones render first. */
  readonly firstLane: number;
  readonly app: Children;
  readonly steps: readonly (readonly Operation[])[];
}

/**
 * What a history is about: errors in renders; promises; or one promise that may fail. react-reconciler renders the siblings of what
 * suspends ahead of time, so it meets errors there before we do, and leaves in an instance what it derives from props: histories do not have
 * both. Fallbacks do not wait: react-reconciler tries a boundary whose content's own fallback waits only when that has come, not when the
 * content has.
 */
export type Mode = 'errors' | 'promises' | 'failure';

function restrict(spec: Spec, mode: Mode, waits: boolean): void {
  const open = spec as { fails?: number; waits?: number; wrap?: string };
  if (spec.t === 'f') {
    if (!waits) {
      open.waits = -1;
      if (spec.wrap === 'lazy') open.wrap = 'none';
    }
    if (mode !== 'errors') {
      open.fails = -1;
      if (mode === 'failure' && spec.waits > 0) open.waits = 0;
    }
  }
  if (spec.t === 'c' && mode !== 'errors') {
    if (spec.fails === 1) open.fails = 0;
    spec.derives = false;
  }
}

/**
 * What an app without a boundary may not have: react-reconciler renders for ever when an urgent update suspends and defers values, and it
 * forgets a synchronous update that has suspended when another update comes.
 */
function dropUrgent(spec: Spec, waits: boolean): void {
  if (spec.t === 'n') return;
  if (spec.t === 'f') {
    spec.deferred = false;
    if (waits) spec.layoutSet = spec.store = spec.transition = false;
  }
  if (spec.t === 'c' && waits) spec.updates = false;
  for (const kid of spec.kids.list) dropUrgent(kid, waits);
  if (spec.t === 's') for (const kid of spec.fallback.list) dropUrgent(kid, waits);
}

function name(spec: Spec, next: { n: number }, mode: Mode, waits: boolean): void {
  if (spec.t === 'n') return;
  restrict(spec, mode, waits);
  spec.name = `${spec.t}${next.n++}`;
  for (const kid of spec.kids.list) name(kid, next, mode, waits);
  if (spec.t === 's') for (const kid of spec.fallback.list) name(kid, next, mode, false);
}

export const history: fc.Arbitrary<History> = fc
  .record({
    outer: fc.nat(3).map((n) => n > 0),
    firstLane: fc.nat(9),
    mode: fc.constantFrom<Mode>('errors', 'promises', 'failure'),
    app: fc.record({
      list: fc.array(tree, { minLength: 1, maxLength: 3, size: 'max' }),
      keyed: fc.boolean(),
      orders: fc.array(
        fc.uniqueArray(fc.integer({ min: -1, max: 2 }), { minLength: 1, maxLength: 4, size: 'max' }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
    }),
    steps: fc.array(fc.array(operation, { minLength: 1, maxLength: 3, size: 'max' }), {
      minLength: 1,
      maxLength: 8,
      size: 'max',
    }),
  })
  .map((shared) => {
    // Parts of a history are parts of others that fast-check tries.
    const given = structuredClone(shared);
    const next = { n: 0 };
    const { mode, outer } = given;
    if (!outer) for (const spec of given.app.list) dropUrgent(spec, mode !== 'errors');
    if (mode === 'promises')
      for (const operation of given.steps.flat()) if (operation.o === 'settle') operation.fails = false;
    for (const spec of given.app.list) name(spec, next, mode, mode !== 'errors');
    return given;
  });
