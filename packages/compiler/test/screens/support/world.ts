/** A version of React with modules that were compiled for screens or left alone, and a plain host to render them. */
// oxlint-disable-next-line import/no-unassigned-import -- It sets the environment.
import './production.js';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import type * as React from 'react';
import Reconciler from 'react-reconciler';
import { type CompileScreensOptions, compileScreens } from '../../../src/screens/index.js';

const PACKAGES = fileURLToPath(new URL('../../../../', import.meta.url));
const RUNTIME = readFileSync(`${PACKAGES}screens/src/runtime.ts`, 'utf8');

export type Exports = Readonly<Record<string, unknown>>;

export class World {
  readonly react: typeof React;
  readonly jsx: (type: unknown, props: object, key?: unknown) => React.ReactElement;
  readonly major: 18 | 19;
  readonly require: NodeJS.Require;
  readonly runtime: Exports;

  constructor(directory: string) {
    this.require = createRequire(`${directory}/noop.js`);
    this.react = this.require('react') as typeof React;
    this.jsx = (this.require('react/jsx-runtime') as { jsx: World['jsx'] }).jsx;
    this.major = Number.parseInt(this.react.version, 10) as 18 | 19;
    this.runtime = this.evaluate(RUNTIME);
  }

  /** Runs a module. JSX that is left becomes calls, as the app's own build would have it. */
  evaluate(source: string, modules: Readonly<Record<string, Exports>> = {}): Exports {
    const { code } = transformSync(source, { loader: 'tsx', jsx: 'automatic', format: 'cjs' });
    const module: { exports: Exports } = { exports: {} };
    const resolve = (name: string): unknown => {
      if (name === '@sluice/screens') return { Widget: 'sluice-widget' };
      if (name === '@sluice/screens/runtime') return modules[name] ?? this.runtime;
      return modules[name] ?? this.require(name);
    };
    // oxlint-disable-next-line typescript/no-implied-eval -- The source is what the test has just compiled.
    new Function('require', 'module', 'exports', code)(resolve, module, module.exports);
    return module.exports;
  }

  async compile(source: string, options: CompileScreensOptions = {}): Promise<string> {
    const compiled = await compileScreens(source, `${PACKAGES}compiler/app.tsx`, {
      react: this.major,
      ...options,
    });
    return compiled?.code ?? source;
  }
}

export const own = new World(`${PACKAGES}compiler`);

export interface Tree {
  readonly type: string;
  readonly props: Readonly<Record<string, unknown>>;
  readonly children: readonly (Tree | string)[];
}

interface Instance {
  readonly type: string;
  props: Record<string, unknown>;
  children: (Instance | { text: string })[];
  /** How often it was created, by its number: one that was not kept has another one. */
  readonly id: number;
}

const nothing = (): void => undefined;
let priority = 0;
let created = 0;
const place = (parent: { children: unknown[] }, child: unknown, before?: unknown): void => {
  const old = parent.children.indexOf(child);
  if (old >= 0) parent.children.splice(old, 1);
  const at = before === undefined ? parent.children.length : parent.children.indexOf(before);
  parent.children.splice(at, 0, child);
};
const take = (parent: { children: unknown[] }, child: unknown): void => {
  parent.children.splice(parent.children.indexOf(child), 1);
};

const renderer = Reconciler({
  supportsMutation: true,
  supportsPersistence: false,
  supportsHydration: false,
  isPrimaryRenderer: true,
  noTimeout: -1,
  scheduleTimeout: setTimeout,
  cancelTimeout: clearTimeout,
  supportsMicrotasks: false,
  getRootHostContext: () => ({}),
  getChildHostContext: (context: object) => context,
  getPublicInstance: (one: Instance) => one,
  prepareForCommit: () => null,
  resetAfterCommit: nothing,
  preparePortalMount: nothing,
  shouldSetTextContent: () => false,
  createInstance: (type: string, props: Record<string, unknown>): Instance => ({
    type,
    props,
    children: [],
    id: created++,
  }),
  createTextInstance: (text: string) => ({ text }),
  appendInitialChild: place,
  finalizeInitialChildren: () => false,
  appendChild: place,
  appendChildToContainer: place,
  insertBefore: place,
  insertInContainerBefore: place,
  removeChild: take,
  removeChildFromContainer: take,
  commitUpdate: (one: Instance, _type: string, _before: object, props: Record<string, unknown>) => {
    one.props = props;
  },
  commitTextUpdate: (one: { text: string }, _before: string, text: string) => {
    one.text = text;
  },
  commitMount: nothing,
  clearContainer: nothing,
  detachDeletedInstance: nothing,
  getCurrentUpdatePriority: () => priority,
  setCurrentUpdatePriority: (to: number) => {
    priority = to;
  },
  resolveUpdatePriority: () => priority || 32,
  resolveEventType: () => null,
  resolveEventTimeStamp: () => -1.1,
  trackSchedulerEvent: nothing,
  shouldAttemptEagerTransition: () => false,
  maySuspendCommit: () => false,
  maySuspendCommitOnUpdate: () => false,
  maySuspendCommitInSyncRender: () => false,
  NotPendingTransition: null,
  HostTransitionContext: own.react.createContext(null),
  resetFormInstance: nothing,
  requestPostPaintCallback: nothing,
  preloadInstance: () => true,
  startSuspendingCommit: nothing,
  suspendInstance: nothing,
  waitForCommitToBeReady: () => null,
  getInstanceFromNode: () => null,
  beforeActiveInstanceBlur: nothing,
  afterActiveInstanceBlur: nothing,
  getInstanceFromScope: () => null,
  prepareScopeUpdate: nothing,
} as never) as unknown as {
  createContainer(...values: unknown[]): unknown;
  updateContainerSync(element: unknown, container: unknown, parent: null, done: null): void;
  flushSyncWork(): void;
  flushPassiveEffects(): boolean;
};

/** A root of the stock reconciler. Errors of a render are thrown by `render`. */
export class Root {
  readonly container = { children: [] as (Instance | { text: string })[] };
  readonly #root: unknown;
  #error: unknown;

  constructor() {
    const keep = (error: unknown): void => {
      this.#error = error;
    };
    this.#root = renderer.createContainer(this.container, 0, null, false, null, '', keep, keep, keep, null);
  }

  render(element: unknown): Tree[] {
    return this.#flushed(() => renderer.updateContainerSync(element, this.#root, null, null));
  }

  /** Runs work that sets state. */
  act(work: () => void): Tree[] {
    return this.#flushed(work);
  }

  #flushed(work: () => void): Tree[] {
    this.#error = undefined;
    priority = 2;
    work();
    priority = 0;
    renderer.flushSyncWork();
    while (renderer.flushPassiveEffects()) renderer.flushSyncWork();
    // oxlint-disable-next-line typescript/only-throw-error -- What a component threw.
    if (this.#error !== undefined) throw this.#error;
    return this.container.children.map(shown) as Tree[];
  }
}

function shown(one: Instance | { text: string }): Tree | string {
  if ('text' in one) return one.text;
  const { children: _, ...props } = one.props;
  return { type: one.type, props, children: one.children.map(shown) };
}

/** What a style comes to: own values over static ones, with shorthands spelled out. */
export function looks(trees: readonly (Tree | string)[]): unknown[] {
  return trees.map((tree) => {
    if (typeof tree === 'string') return tree;
    const { style, staticStyle, ...props } = tree.props;
    const spelled = { ...spell(staticStyle), ...spell(style) };
    return { type: tree.type, props: plain(props), style: spelled, children: looks(tree.children) };
  });
}

const SIDES = ['Left', 'Top', 'Right', 'Bottom'];
export const SHORTHANDS: Readonly<Record<string, readonly string[]>> = {
  gap: ['rowGap', 'columnGap'],
  padding: SIDES.map((side) => `padding${side}`),
  margin: SIDES.map((side) => `margin${side}`),
  paddingHorizontal: ['paddingLeft', 'paddingRight'],
  paddingVertical: ['paddingTop', 'paddingBottom'],
  marginHorizontal: ['marginLeft', 'marginRight'],
  marginVertical: ['marginTop', 'marginBottom'],
};

/** The more specific name wins; a value that is undefined is none. */
export function spell(style: unknown): Record<string, unknown> {
  const all = (style ?? {}) as Record<string, unknown>;
  const spelled: Record<string, unknown> = {};
  for (const [name, parts] of Object.entries(SHORTHANDS)) {
    if (all[name] !== undefined) for (const part of parts) spelled[part] = all[name];
  }
  for (const [name, value] of Object.entries(all)) {
    if (SHORTHANDS[name] === undefined && value !== undefined) spelled[name] = value;
  }
  return spelled;
}

/** Functions are as good as each other, as each render makes new ones. */
const plain = (props: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(props)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === 'function' ? 'a function' : value]),
  );
