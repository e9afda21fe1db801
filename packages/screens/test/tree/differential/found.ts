/** Histories that have differed once, by what was wrong. */
import type { Children, History, Operation, Spec } from './specs.ts';

type Of<T> = Extract<Spec, { t: T }>;

const none: Children = { list: [{ t: 'n' }], keyed: false, orders: [[0]] };

function kids(list: readonly Spec[], orders: Children['orders'] = [[0]]): Children {
  return { list, keyed: false, orders };
}

function waiting(name: string, fields: Partial<Of<'f'>>): Spec {
  return {
    t: 'f',
    name,
    wrap: 'none',
    effects: [],
    context: -1,
    store: false,
    deferred: false,
    transition: false,
    reducer: false,
    layoutSet: false,
    passiveSet: false,
    renderSet: false,
    fails: -1,
    waits: 0,
    waitsAt: 1,
    uses: false,
    kids: none,
    ...fields,
  };
}

function component(name: string, pure: boolean, below: Children): Spec {
  return {
    t: 'c',
    name,
    boundary: 0,
    pure,
    should: false,
    snapshot: false,
    derives: false,
    updates: false,
    fails: 0,
    context: -1,
    kids: below,
  };
}

function set(which: number, value: number, lane: number, relative = false): Operation {
  return { o: 'set', which, value, lane, relative };
}

export const found: Readonly<Record<string, History>> = {
  'lanes that render with others, but not the other way round': {
    outer: true,
    firstLane: 7,
    app: kids(
      [
        component(
          'c0',
          false,
          kids(
            [
              { t: 's', name: 's1', kids: none, fallback: none },
              component('c3', true, kids([waiting('f4', { wrap: 'lazy' })])),
              { t: 'n' },
            ],
            [[0], [1], [2]],
          ),
        ),
        { t: 'n' },
        {
          t: 's',
          name: 's6',
          kids: kids([component('c7', true, none), { t: 'n' }], [[0], [-1, 1]]),
          fallback: none,
        },
      ],
      [[2, 0]],
    ),
    steps: [
      [set(20, 1, 3)],
      [set(6, 3, 3, true), set(0, 1, 3), set(5, 0, 2, true)],
      [set(0, 1, 3)],
      [set(5, 1, 3), set(17, 1, 1, true)],
      [set(14, 0, 0), set(19, 1, 0), set(12, 3, 0, true)],
    ],
  },
  'a child that a render deletes and that comes back when the render suspends': {
    outer: false,
    firstLane: 0,
    app: kids([
      {
        t: 's',
        name: 's0',
        kids: kids(
          [
            waiting('f1', { waits: 1, waitsAt: 0, kids: kids([component('c2', false, none)]) }),
            { t: 'n' },
            {
              t: 'p',
              name: 'p3',
              context: 0,
              consumes: false,
              kids: kids([{ t: 'p', name: 'p4', context: 0, consumes: false, kids: none }], [[0], [1]]),
            },
          ],
          [[2], [2, 0]],
        ),
        fallback: none,
      },
    ]),
    steps: [
      [set(15, 1, 0)],
      [{ o: 'root', v: 3, lane: 0 }],
      [set(3, 1, 0), { o: 'settle', promise: 1, fails: false }, { o: 'root', v: 0, lane: 2 }],
    ],
  },
  'boundaries one in another whose data arrives at once': {
    outer: true,
    firstLane: 0,
    app: kids(
      [
        component('c0', false, none),
        waiting('f1', {
          wrap: 'compare',
          context: 0,
          waits: -1,
          waitsAt: 0,
          kids: kids(
            [
              waiting('f2', { kids: kids([waiting('f3', {})]) }),
              {
                t: 's',
                name: 's4',
                kids: kids([waiting('f5', { wrap: 'forward', waitsAt: 0 })]),
                fallback: none,
              },
            ],
            [[0, 1]],
          ),
        }),
      ],
      [[1, 0]],
    ),
    steps: [
      [set(6, 1, 0), set(13, 1, 0)],
      [set(0, 0, 0)],
      [set(0, 0, 0), { o: 'settle', promise: 1, fails: false }],
      [set(0, 0, 0)],
      [
        { o: 'root', v: 0, lane: 0 },
        { o: 'settle', promise: 0, fails: false },
      ],
      [{ o: 'root', v: 0, lane: 0 }],
    ],
  },
  'a boundary that is due when the one around it appears': {
    outer: true,
    firstLane: 0,
    app: kids(
      [
        {
          t: 's',
          name: 's0',
          kids: kids([
            component(
              'c1',
              false,
              kids([waiting('f2', { kids: kids([waiting('f3', { wrap: 'lazy', waits: -1 })]) })]),
            ),
          ]),
          fallback: kids([
            {
              t: 's',
              name: 's4',
              kids: kids([
                {
                  t: 'p',
                  name: 'p5',
                  context: 0,
                  consumes: false,
                  kids: kids([component('c6', false, none)]),
                },
              ]),
              fallback: none,
            },
            { t: 'n' },
          ]),
        },
        { t: 's', name: 's7', kids: none, fallback: none },
        component(
          'c8',
          false,
          kids([
            waiting('f9', {
              context: 0,
              layoutSet: true,
              kids: kids([component('c10', false, none), { t: 'n' }]),
            }),
          ]),
        ),
      ],
      [[0, 2]],
    ),
    steps: [
      [set(3, 1, 2)],
      [{ o: 'root', v: 0, lane: 0 }, set(3, 1, 2, true)],
      [set(0, 0, 0), { o: 'settle', promise: 0, fails: false }],
      [set(0, 0, 0)],
    ],
  },
};
