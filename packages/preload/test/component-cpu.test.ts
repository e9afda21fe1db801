import assert from 'node:assert/strict';
import type { Profiler } from 'node:inspector';
import { test } from 'node:test';
import { componentUrl, cpuByComponent } from '../dist/component-cpu.js';

interface Call {
  readonly name: string;
  readonly url?: string;
  readonly line?: number;
  /** Samples of a millisecond each in this very function. */
  readonly ms?: number;
  readonly calls?: readonly Call[];
}

/** A profile as V8 gives it, of a tree of calls. */
function profileOf(calls: readonly Call[]): Profiler.Profile {
  const nodes: Profiler.ProfileNode[] = [];
  const samples: number[] = [];
  const add = ({ name, url = 'file:///app/app.js', line = 0, ms = 0, calls: below = [] }: Call): number => {
    const id = nodes.length + 1;
    const children: number[] = [];
    const callFrame = { functionName: name, scriptId: '1', url, lineNumber: line, columnNumber: 0 };
    nodes.push({ id, callFrame, children });
    for (let at = 0; at < ms; at += 1) samples.push(id);
    for (const call of below) children.push(add(call));
    return id;
  };
  add({ name: '(root)', url: '', calls });
  // What comes before the first sample was spent before it, and what follows the last is not known.
  const timeDeltas = samples.map((_, at) => (at === 0 ? 900_000 : 1000));
  return { nodes, startTime: 0, endTime: 0, samples: [...samples, 1], timeDeltas: [...timeDeltas, 1000] };
}

const component = (name: string, ms: number, ...calls: Call[]): Call => ({
  name,
  url: componentUrl,
  ms,
  calls,
});

test('a sample belongs to the innermost component, and to all around it in total', () => {
  const { samples, cpu_ms, components } = cpuByComponent(
    profileOf([
      {
        name: 'handle',
        ms: 2,
        calls: [
          component('Page', 1, { name: 'escape', ms: 4 }, component('Card', 3, { name: 'format', ms: 5 })),
        ],
      },
      { name: '(garbage collector)', url: '', ms: 7 },
      { name: '(program)', url: '', ms: 1 },
      { name: '(idle)', url: '', ms: 100 },
    ]),
  );
  assert.deepEqual(components, [
    { component: 'Card', self_ms: 8, total_ms: 8 },
    { component: '(garbage collector)', self_ms: 7, total_ms: 7 },
    { component: 'Page', self_ms: 5, total_ms: 13 },
    { component: '(outside of components)', self_ms: 2, total_ms: 2 },
    { component: '(program)', self_ms: 1, total_ms: 1 },
  ]);
  assert.deepEqual([samples, cpu_ms], [124, 23]);
});

test('time in which the process waited for a CPU is taken from all alike', () => {
  const profile = profileOf([component('Page', 30, component('Card', 10))]);
  assert.deepEqual(cpuByComponent(profile, 10_000), {
    samples: 41,
    cpu_ms: 10,
    components: [
      { component: 'Page', self_ms: 7.5, total_ms: 10 },
      { component: 'Card', self_ms: 2.5, total_ms: 2.5 },
    ],
  });
  assert.equal(cpuByComponent(profile, 90_000).cpu_ms, 40);
});

test('a component within itself takes no time twice', () => {
  const { components } = cpuByComponent(
    profileOf([component('Tree', 1, component('Branch', 1, component('Tree', 2)))]),
  );
  assert.deepEqual(components, [
    { component: 'Tree', self_ms: 3, total_ms: 4 },
    { component: 'Branch', self_ms: 1, total_ms: 3 },
  ]);
});

test('under react-dom a component is what its renderer calls', () => {
  const reactDom = 'file:///app/node_modules/react-dom/cjs/react-dom-server.node.production.js';
  const inside = (name: string, ...calls: Call[]): Call => ({ name, url: reactDom, ms: 1, calls });
  const { components } = cpuByComponent(
    profileOf([
      inside(
        'renderElement',
        inside('renderWithHooks', { name: 'Card', ms: 2, calls: [{ name: 'format', ms: 3 }] }),
        { name: 'render', line: 41, ms: 4 },
        { name: '', line: 9, ms: 5 },
        inside('pushStartInstance', { name: 'toString', ms: 1 }),
        { name: 'now', url: 'node:internal/perf', ms: 1 },
      ),
      inside('performWork', { name: 'onShellReady', ms: 1 }),
    ]),
  );
  assert.deepEqual(
    components.map(({ component: name, self_ms }) => [name, self_ms]),
    [
      ['(outside of components)', 7],
      ['(anonymous) app.js:10', 5],
      ['Card', 5],
      ['render app.js:42', 4],
    ],
  );
});

test('a profile without anything in it has no components', () => {
  const empty = { nodes: [], startTime: 0, endTime: 0 };
  assert.deepEqual(cpuByComponent(empty), { samples: 0, cpu_ms: 0, components: [] });
  const odd = { ...profileOf([]), samples: [7, 9, 1], timeDeltas: [1, -5, 5] };
  assert.deepEqual(cpuByComponent(odd).components, []);
});
