/**
 * Whose CPU time it was: each sample of a profile belongs to the innermost component on its stack. Pure.
 *
 * What `@sluice/react` renders has a frame for each component around all that is done for it, the writing of its elements
 * included. react-dom has none: there a component is what the renderer calls, and what it does with the elements
 * that come back is nobody's.
 */
import type { Profiler } from 'node:inspector';

/** The file of the frames that stand for components. */
export const componentUrl = 'sluice-component:';

export interface ComponentCpu {
  readonly component: string;
  /** Without the components below it. */
  readonly self_ms: number;
  /** With them. */
  readonly total_ms: number;
}

export interface CpuByComponent {
  readonly samples: number;
  readonly cpu_ms: number;
  /** Most time in themselves first. What belongs to none has names in parentheses. */
  readonly components: readonly ComponentCpu[];
}

const OUTSIDE = '(outside of components)';
/** V8's own entries below the root. */
const OWN_ENTRIES = new Set(['(garbage collector)', '(program)']);

/** Functions of react-dom 19 that call components; React 18 has names that say nothing. */
const CALLERS = new Set(['renderWithHooks', 'renderElement']);
const REACT_DOM = /react-dom-server[^/\\]*\.js$/;

interface Times {
  self_us: number;
  total_us: number;
}

/**
 * `used_us`: CPU time of the process meanwhile. V8's clock goes on while the process waits for a CPU, where it
 * happens to be; what is too much for that reason is taken from all in proportion.
 */
export function cpuByComponent(
  profile: Profiler.Profile,
  used_us = Number.POSITIVE_INFINITY,
): CpuByComponent {
  const times = new Map<string, Times>();
  const timeOf = (name: string): Times => {
    let time = times.get(name);
    if (time === undefined) times.set(name, (time = { self_us: 0, total_us: 0 }));
    return time;
  };
  const spent_us = timesOfNodes(profile);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  let cpu_us = 0;

  // An explicit stack, as the profile may be deeper than this thread's.
  const root = profile.nodes[0];
  const open: Visit[] = root === undefined ? [] : [{ node: root, parent: undefined, around: undefined }];
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    const { node, parent } = visit;
    const { functionName } = node.callFrame;
    if (functionName === '(idle)') continue;
    const component = componentOf(node, parent);
    const around = component === undefined ? visit.around : { component, around: visit.around };
    const node_us = spent_us.get(node.id) ?? 0;
    if (node_us > 0) {
      cpu_us += node_us;
      const own = OWN_ENTRIES.has(functionName) ? functionName : OUTSIDE;
      timeOf(around?.component ?? own).self_us += node_us;
      // A component may be within itself, and has taken the time once all the same.
      for (const name of namesOf(around, own)) timeOf(name).total_us += node_us;
    }
    for (const id of node.children ?? []) {
      const child = nodes.get(id);
      if (child !== undefined) open.push({ node: child, parent: node, around });
    }
  }
  const scale = cpu_us > used_us ? used_us / cpu_us : 1;
  const ms = (us: number): number => Math.round(us * scale) / 1000;
  const components = [...times]
    .map(([component, { self_us, total_us }]) => ({
      component,
      self_ms: ms(self_us),
      total_ms: ms(total_us),
    }))
    .sort((a, b) => b.self_ms - a.self_ms || a.component.localeCompare(b.component));
  return { samples: profile.samples?.length ?? 0, cpu_ms: ms(cpu_us), components };
}

/** The components on a stack, innermost first. */
interface Around {
  readonly component: string;
  readonly around: Around | undefined;
}

interface Visit {
  readonly node: Profiler.ProfileNode;
  readonly parent: Profiler.ProfileNode | undefined;
  readonly around: Around | undefined;
}

function namesOf(around: Around | undefined, own: string): Set<string> {
  const names = new Set<string>();
  for (let at = around; at !== undefined; at = at.around) names.add(at.component);
  return names.size === 0 ? names.add(own) : names;
}

function componentOf(
  { callFrame }: Profiler.ProfileNode,
  parent: Profiler.ProfileNode | undefined,
): string | undefined {
  const { functionName, url, lineNumber } = callFrame;
  if (url === componentUrl) return functionName === '' ? undefined : functionName;
  if (parent === undefined || !CALLERS.has(parent.callFrame.functionName)) return undefined;
  if (!REACT_DOM.test(parent.callFrame.url) || REACT_DOM.test(url) || !isFile(url)) return undefined;
  const isNamed = functionName !== '' && functionName !== 'render';
  return isNamed ? functionName : `${functionName || '(anonymous)'} ${fileOf(url)}:${lineNumber + 1}`;
}

function isFile(url: string): boolean {
  return url !== '' && !url.startsWith('node:');
}

function fileOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

/** A delta is the time since the sample before, which was spent where that one was. */
function timesOfNodes({ samples = [], timeDeltas = [] }: Profiler.Profile): Map<number, number> {
  const spent_us = new Map<number, number>();
  for (let at = 0; at + 1 < timeDeltas.length; at += 1) {
    const node = samples[at];
    if (node === undefined) break;
    spent_us.set(node, (spent_us.get(node) ?? 0) + Math.max(0, timeDeltas[at + 1] ?? 0));
  }
  return spent_us;
}
