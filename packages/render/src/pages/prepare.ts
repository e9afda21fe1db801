/**
 * A page until its boxes are being rendered: data, tree, components, styles, and how much of it the server renders. It must not
 * know HTML or JSON.
 */
import type { Abort, Abortable } from '../abort.js';
import type { Component } from '../component.js';
import { Dial } from '../dial/dial.js';
import { RemoteView } from '../remote/remote.js';
import { startDeadline, withDeadline, type Deadline } from '../tasks/deadline.js';
import { AbandonedError, LateError } from '../tasks/errors.js';
import { toError } from '../thrown.js';
import type { Variants } from '../variants/experiments.js';
import { Boxes } from './boxes.js';
import type { BrowserCode } from '../boxes/head.js';

import { DataContext } from './contexts.js';
import { checkedHeaders, type Headers } from './headers.js';
import { Lookup } from './lookup.js';
import {
  hostOf,
  tellError,
  type InputContext,
  type PageInput,
  type Shared,
  type VisitedOptions,
} from './options.js';
import type { Scope } from './path.js';
import type { NamedSources } from './needs.js';
import { nodesOf, Planner, type Item } from './plan.js';
import { isObject } from './shapes.js';
import { PageSignals } from './signals.js';
import type { PageSources } from './sources.js';
import type { PageTree, TreeNode } from './tree.js';

const DEADLINE_MS = 5_000;

/** A page that knows its boxes and components. Nothing is rendered before `boxes.start`. */
export interface Prepared {
  readonly shared: Shared;
  readonly tree: PageTree;
  readonly options: VisitedOptions;
  /** The app's, checked. */
  readonly headers: Headers;
  readonly scope: Scope;
  readonly items: readonly Item[];
  readonly components: readonly Component[];
  /** Boxes of them that the browser takes over. */
  readonly code: readonly BrowserCode[];
  readonly boxes: Boxes;
  readonly dial: Dial;
  readonly variants: Variants;
  /** Aborted when nobody waits any more, from inside or outside. */
  readonly signal: Abortable;
  readonly leave: () => void;
  /** Deadline, to be cleared when the last box is there. */
  readonly deadline: Deadline;
}

export async function prepare(
  shared: Shared,
  tree: PageTree,
  input: PageInput,
  options: VisitedOptions,
): Promise<Prepared> {
  // Before anything is asked for.
  const headers = checkedHeaders(options.headers ?? {});
  const signals = new PageSignals(options.signal);
  const { leaving: signal, working } = signals;
  const end_ms = endOf(shared, options);
  try {
    const variants = shared.experiments.allocate(options.visitor, options.variants);
    const sources = shared.sources.of({ request: options.request, signal: working });
    const context = contextOf(options, variants, working);
    const scope = await within(end_ms, scopeOf(sources, tree.data ?? {}, input, context));
    const items = new Planner(sources).plan(tree.boxes, scope);
    const lookup = new Lookup(
      shared.registry,
      variants,
      options.format === 'json' ? options.engine : undefined,
    );
    const counts = nodesOf(items);
    const nodes = [...counts.keys()];
    await load(shared, lookup, nodes, end_ms);
    const dial = dialOf(shared, lookup, counts, options);
    const boxes = boxesOf(shared, lookup, dial, options, working);
    const time = startDeadline(Math.max(0, end_ms - performance.now()), () => {
      boxes.giveUp();
      // Boxes are late by then, and not aborted.
      setImmediate(() => signals.beLate());
    });
    const deadline: Deadline = {
      clear() {
        time.clear();
        signals.release();
      },
    };
    const leave = (): void => signals.leave();
    const components = [...lookup.components()];
    const code = codeOf(lookup, nodes);
    return {
      shared,
      tree,
      options,
      headers,
      scope,
      items,
      components,
      code,
      boxes,
      dial,
      variants,
      signal,
      leave,
      deadline,
    };
  } catch (error) {
    const hasLeft = signal.aborted;
    signals.leave();
    signals.release();
    throw hasLeft ? left(error) : error;
  }
}

/** Error of a page whose client has left before its data was there: what failed then has failed because of that, and is nobody's fault. */
export function left(cause: unknown): AbandonedError {
  return new AbandonedError('The page is no longer needed', { cause });
}

/** Context of the app's function for the page's data. */
export function contextOf(
  { request, visitor }: VisitedOptions,
  variants: Variants,
  working: Abort,
): InputContext {
  return new DataContext(request, working, visitor, variants.asData());
}

/** The page's own data and that of its sources. It waits for both, so their failure is the page's. */
export async function scopeOf(
  sources: PageSources,
  named: NamedSources,
  input: PageInput,
  context: InputContext,
): Promise<Scope> {
  const data: unknown = typeof input === 'function' ? await input(context) : input;
  if (!isObject(data)) throw new TypeError('the data of a page must be an object');
  const { variants } = context;
  const known: Scope = { root: { ...data, variants }, noted: variants };
  return { ...known, root: { ...known.root, ...(await sources.all(named, known)) } };
}

/** A component that is not loaded in time is late; the page is not. */
async function load(
  shared: Shared,
  lookup: Lookup,
  nodes: readonly TreeNode[],
  end_ms: number,
): Promise<void> {
  try {
    const loading = lookup.prepare(nodes);
    if (loading !== undefined) await within(end_ms, loading);
    const styles = shared.styles.prepare(lookup.components());
    if (styles !== undefined) await within(end_ms, styles);
  } catch (thrown) {
    const error = toError(thrown);
    if (!(error instanceof LateError)) throw error;
  }
}

/** Finds the code by what each node says in place of its component's settings. Remote components bring their own code. */
function codeOf(lookup: Lookup, nodes: readonly TreeNode[]): readonly BrowserCode[] {
  const code = new Map<Component, BrowserCode>();
  for (const node of nodes) {
    const component = browserComponent(lookup, node);
    if (component === undefined || code.get(component)?.isAtOnce === true) continue;
    const isAtOnce = (node.hydration ?? component.settings.hydration ?? 'load') === 'load';
    code.set(component, { component, isAtOnce });
  }
  return [...code.values()];
}

/** The component of a box that the browser takes over; undefined for one that is the server's alone. */
export function browserComponent(lookup: Lookup, node: TreeNode): Component | undefined {
  const found = lookup.find(node);
  if (typeof found !== 'object' || found instanceof Error || found.view instanceof RemoteView)
    return undefined;
  return (node.rendering ?? found.settings.rendering) === 'static' ? undefined : found;
}

function dialOf(
  shared: Shared,
  lookup: Lookup,
  counts: ReadonlyMap<TreeNode, number>,
  { visitor, format }: VisitedOptions,
): Dial {
  const dial = new Dial(hostOf(shared.options)?.server() ?? shared.options.server ?? {}, visitor);
  // Clients that are not browsers render nothing, so there is nothing to dial.
  if (format === 'json') return dial;
  for (const [node, count] of counts) {
    const found = browserComponent(lookup, node);
    if (found !== undefined && (node.rendering ?? found.settings.rendering ?? 'server') === 'server')
      dial.count(found.name, count);
  }
  return dial;
}

function boxesOf(
  shared: Shared,
  lookup: Lookup,
  dial: Dial,
  { cpuBudgetMs = shared.options.cpuBudgetMs, format }: VisitedOptions,
  signal: Abort,
): Boxes {
  return new Boxes({
    tasks: shared.queue.page({ budgetMs: cpuBudgetMs, signal }),
    find: ({ node }) => lookup.find(node),
    dial,
    overruns: shared.overruns,
    host: hostOf(shared.options),
    format: format === 'json' ? 'json' : 'html',
    signal,
    isDevelopment: shared.isDevelopment,
    onError: (error, component, box) => tellError(shared, error, component, box),
  });
}

/** Returns the end of the page's time, by `performance.now()`. */
export function endOf({ options: shared }: Shared, { deadlineMs }: VisitedOptions): number {
  return performance.now() + (deadlineMs ?? shared.deadlineMs ?? DEADLINE_MS);
}

/** Rejects with a `LateError` where the page's time is up before. */
export async function within<T>(end_ms: number, work: Promise<T>): Promise<T> {
  const left_ms = Math.max(1, end_ms - performance.now());
  return withDeadline(
    work,
    left_ms,
    () => new LateError("the page's time limit passed before its data and components were ready"),
  );
}
