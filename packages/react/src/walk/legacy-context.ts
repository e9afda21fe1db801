/**
 * Contexts as they were before `createContext`, by `contextTypes` and `getChildContext`: React 18 still hands them down. What is handed down is a
 * context like others here, so that tasks and the component cache need to know nothing of it.
 */
import { contextWith, provide, readContext, unprovide } from '../state/contexts.js';
import { componentName } from '../state/paths.js';
import { ALONE } from '../facts/tree-id.js';
import { renderNode } from './recursion.js';
import type { Render } from '../state/render.js';

type Handed = Readonly<Record<string, unknown>>;

const NONE: Handed = {};
const HANDED_DOWN = contextWith(NONE);

export interface TakesContext {
  readonly contextTypes?: object | null;
}

export interface GivesContext {
  readonly childContextTypes?: object | null;
}

interface Giver {
  render(): unknown;
  getChildContext?: () => Handed;
}

/** Returns the part of what is handed down that the component asks for. */
export function legacyContextOf({ contextTypes }: TakesContext): Handed {
  if (!contextTypes) return NONE;
  const handed = readContext(HANDED_DOWN) as Handed;
  const taken: Record<string, unknown> = {};
  for (const name in contextTypes) taken[name] = handed[name];
  return taken;
}

/** Renders what an instance returned, within what it hands down. */
export function renderWithin(
  render: Render,
  instance: Giver,
  component: GivesContext,
  children: unknown,
): void {
  const types = component.childContextTypes;
  if (types === null || types === undefined || typeof instance.getChildContext !== 'function') {
    return renderNode(render, children, ALONE);
  }
  const given = instance.getChildContext();
  for (const name in given) {
    if (name in types) continue;
    const shown = componentName(component) || 'Unknown';
    throw new Error(`${shown}.getChildContext(): key "${name}" is not defined in childContextTypes.`);
  }
  render.contexts = provide(HANDED_DOWN, Object.assign({}, readContext(HANDED_DOWN), given));
  renderNode(render, children, ALONE);
  render.contexts = unprovide();
  return undefined;
}
