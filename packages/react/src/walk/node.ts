/**
 * Nodes: what a component returns or passes as children. This is the way that every element takes, so it allocates nothing: where the renderer is
 * stands in the registers of `Render`.
 */
import { leaveElementTo, renderCacheable, type CacheableType } from '../cache/cacheable.js';
import { renderClass, renderFunction, withDefaults, withoutRef } from './components.js';
import { renderWrapper } from './wrappers.js';
import { provide, readContext, switchContexts, unprovide, type Provided } from '../state/contexts.js';
import { escapeText, toText } from '../facts/escape.js';
import type { FormatContext } from '../facts/format.js';
import { frameOf, naming } from '../facts/frames.js';
import { isRunning, takeThenables, resetHooks } from '../state/running.js';
import { renderHost } from './host.js';
import { legacyContextOf, type TakesContext } from './legacy-context.js';
import { ALONE } from '../facts/tree-id.js';
import { dropLooseForks, treeIdOfPlace } from './loose-forks.js';
import {
  CONSUMER,
  CONTEXT,
  ELEMENT,
  FORWARD_REF,
  FRAGMENT,
  LAZY,
  MEMO,
  PORTAL,
  PROVIDER,
  type ContextLike,
  type ElementLike,
  type Props,
} from '../facts/react.js';
import { templateOf, type TemplateElement } from '../facts/template.js';
import { isWritable, renderTemplate } from './templates.js';
import type { ComponentPlace } from '../state/hole-plan.js';
import { addSegment, addTask } from '../state/segments.js';
import {
  CHAINED,
  SUSPENDED,
  isThenable,
  unwrapThrown,
  useThenable,
  type Thenable,
} from '../facts/thenables.js';
import { profile } from '../facts/profile.js';
import { Segment, Task, type Render } from '../state/render.js';
import { beginWith } from './recursion.js';
import { resumeTaskLater, waitFor } from './waiting.js';

const writesUsables = profile.nodes === 'usables';
const isLegacy = profile.components === 'legacy';
const providesContexts = profile.contexts === 'provider';
const waitsOn = profile.waiting !== 'until-aborted';

const STACK_OVERFLOW = 'Maximum call stack size exceeded';

export function renderNode(render: Render, node: unknown, index: number): void {
  if (typeof node === 'string') return writeText(render, node);
  if (typeof node === 'object') {
    if (node === null) return undefined;
    if ((node as ElementLike).$$typeof === ELEMENT) return renderElement(render, node as ElementLike, index);
    if (Array.isArray(node)) return renderArray(render, node, index);
    return renderOther(render, node, index);
  }
  if (typeof node === 'number' || (typeof node === 'bigint' && writesUsables))
    writeText(render, toText(node));
  return undefined;
}

beginWith(renderNode, renderUnmade);

function writeText(render: Render, text: string): void {
  if (render.markup) {
    render.out += escapeText(text);
    return;
  }
  if (text === '') return;
  render.out += render.lastText ? '<!-- -->' + escapeText(text) : escapeText(text);
  render.lastText = true;
}

function renderElement(render: Render, element: ElementLike, index: number): void {
  const { out, lastText, chained, depth, forks, format, contexts } = render;
  const parts = render.parts.length;
  render.nodes[depth] = element;
  render.indexes[depth] = index;
  render.depth = depth + 1;
  try {
    const template = templateOf(element);
    if (template !== undefined && isWritable(render, template)) {
      renderTemplate(render, element as unknown as TemplateElement);
      render.depth = depth;
      return;
    }
    const { type } = element;
    if (typeof type === 'string') renderHost(render, type, element.props);
    else renderType(render, type, element.props, element);
    render.depth = depth;
  } catch (thrown) {
    const { reason, thenables } = interruption(render, thrown, chained, depth);
    render.out = out;
    render.lastText = lastText;
    render.parts.length = parts;
    leavePlace(render, depth, forks, format, contexts);
    suspend(render, element, index, reason, thenables, chained);
  }
}

/** Renders an element that compiled JSX did not make, of a type without defaults, as `renderElement` does. It is made where the ordinary way needs it. */
function renderUnmade(render: Render, place: ComponentPlace, props: Props, index: number): void {
  const type = place.type as Component;
  const isOrdinary =
    place.isFunction && typeof (type as CacheableType).cacheKey !== 'function' && naming.make === null;
  if (!isOrdinary) return renderElement(render, elementOf(type, props), index);
  const { out, lastText, chained, depth, forks, format, contexts } = render;
  const parts = render.parts.length;
  render.nodes[depth] = place;
  render.indexes[depth] = index;
  render.depth = depth + 1;
  try {
    renderFunction(render, type as never, props, isLegacy ? legacyContextOf(type) : undefined, false);
    render.depth = depth;
  } catch (thrown) {
    const { reason, thenables } = interruption(render, thrown, chained, depth);
    render.out = out;
    render.lastText = lastText;
    render.parts.length = parts;
    leavePlace(render, depth, forks, format, contexts);
    suspend(render, elementOf(type, props), index, reason, thenables, chained);
  }
  return undefined;
}

/** Returns what JSX would have made of a type without defaults. */
function elementOf(type: unknown, props: Props): ElementLike {
  return { $$typeof: ELEMENT, type, key: null, ref: null, props };
}

interface Interruption {
  readonly reason: Thenable | null;
  readonly thenables: Thenable[] | null;
}

function interruption(render: Render, thrown: unknown, chained: boolean, depth: number): Interruption {
  // Not what an earlier component has left behind, although react-dom would take that as well.
  const keeps = thrown === SUSPENDED || (waitsOn && isRunning());
  const reason = suspension(render, thrown, chained, depth);
  return { reason, thenables: keeps ? takeThenables() : null };
}

/** Leaves no trace of an element that suspended: it is rendered anew, here or in the place that is kept for it. */
function leavePlace(
  render: Render,
  depth: number,
  forks: number,
  format: FormatContext,
  contexts: Provided | null,
): void {
  render.depth = depth;
  render.forks = forks;
  dropLooseForks(render, depth);
  render.format = format;
  if (render.contexts === contexts) return;
  switchContexts(contexts);
  render.contexts = contexts;
}

/** The promise that an element waits for, or null when the stack is full. Whatever else was thrown is thrown on. */
function suspension(render: Render, thrown: unknown, chained: boolean, depth: number): Thenable | null {
  if (thrown === CHAINED) throw thrown;
  resetHooks();
  const reason = unwrapThrown(thrown);
  if (!render.aborted || waitsOn) {
    if (chained && thrown !== SUSPENDED && render.aborted && profile.waiting === 'unless-thrown')
      throw render.fatalError;
    if (isThenable(reason)) return reason;
    // The task's own first element overflows an empty stack: to try again would not end.
    const isFirst = chained && (depth === 0 || profile.overflow === 'fails-task');
    if (!isFirst && profile.overflow !== 'fails' && isOverflow(reason)) return null;
  } else if (profile.abort !== 'next-turn' && chained && thrown === SUSPENDED) return reason as Thenable;
  throw reason;
}

/** Whether it is an overflow by its message alone, as react-dom tells: it may come from another realm. */
function isOverflow(reason: unknown): boolean {
  if (typeof reason !== 'object' || reason === null) return false;
  return 'message' in reason && reason.message === STACK_OVERFLOW;
}

function suspend(
  render: Render,
  node: unknown,
  index: number,
  reason: Thenable | null,
  thenables: Thenable[] | null,
  chained: boolean,
): void {
  render.usesPromise();
  if (chained) {
    leaveElementTo(render, node, render.task as Task);
    resumeTaskLater(render, node, index, reason, thenables);
    throw CHAINED;
  }
  const { recording } = render;
  const isAll = recording !== null && recording.isEmpty(render);
  const segment = new Segment(null, render.format, render.lastText, true);
  // First what calls deepest: the stack may be full, and once the task is counted nothing may fail.
  addSegment(render, segment);
  const { depth } = render;
  const task = new Task(render, node, index, segment, render.keyPathAt(depth), render.stackAt(depth));
  task.treeId = treeIdOfPlace(render);
  task.thenables = thenables;
  task.suspended = true;
  addTask(render, task);
  if (recording !== null) recording.later = isAll ? task : null;
  leaveElementTo(render, node, task);
  render.lastText = false;
  if (reason === null) render.pingedTasks.push(task);
  else waitFor(render, task, reason);
}

function renderType(render: Render, type: unknown, props: Props, element: ElementLike): void {
  if (typeof type === 'function') {
    if (typeof (type as CacheableType).cacheKey !== 'function') return renderComponent(render, type, props);
    return renderCacheable(render, type, props, element, () => renderComponent(render, type, props));
  }
  if (typeof type === 'object' && type !== null) {
    switch ((type as { $$typeof?: symbol }).$$typeof) {
      case MEMO:
      case FORWARD_REF: {
        if (typeof (type as CacheableType).cacheKey !== 'function') {
          return renderWrapped(render, type as WrappedType, props, element);
        }
        return renderCacheable(render, type, props, element, () =>
          renderWrapped(render, type as WrappedType, props, element),
        );
      }
      case CONTEXT:
        if (providesContexts) return renderProvider(render, type as ContextLike, props);
        return renderConsumer(render, type as ContextLike, props);
      case PROVIDER:
        if (providesContexts) break;
        return renderProvider(render, (type as OfContext)._context, props);
      case CONSUMER:
        if (!providesContexts) break;
        return renderConsumer(render, (type as OfContext)._context, props);
      case LAZY: {
        const { _init: init, _payload: payload } = type as { _init(p: unknown): unknown; _payload: unknown };
        const inner = init(payload);
        if (render.aborted) throw null;
        return renderInner(render, inner, props, isLegacy ? elementWithoutRef(element) : element);
      }
      case undefined:
      default:
    }
  }
  // Styled components return one each: the others can wait for a longer way.
  if (type === FRAGMENT) return renderNode(render, props['children'], ALONE);
  return renderWrapper(render, type, props);
}

interface OfContext {
  readonly _context: ContextLike;
}

/** Returns an element without its ref: before 19, the component of a `lazy` gets none. */
function elementWithoutRef({ $$typeof, type, key, props }: ElementLike): ElementLike {
  return { $$typeof, type, key, props, ref: undefined };
}

type Component = TakesContext & object & { prototype?: { isReactComponent?: unknown } };

/** Renders a component within a frame that has its name, while a profile is taken. */
function renderComponent(render: Render, type: Component, props: Props): void {
  if (naming.make !== null) frameOf(type, naming.make)(callComponent, render, type, props);
  else callComponent(render, type, props);
}

function callComponent(render: Render, type: Component, props: Props): void {
  if (type.prototype?.isReactComponent) renderClass(render, type as never, props);
  else {
    const second = isLegacy ? legacyContextOf(type) : undefined;
    renderFunction(render, type as never, props, second, false);
  }
}

interface MemoType {
  readonly $$typeof: typeof MEMO;
  readonly type: unknown;
}
interface ForwardRefType {
  readonly $$typeof: typeof FORWARD_REF;
  render(props: unknown, ref: unknown): unknown;
}
type WrappedType = MemoType | ForwardRefType;

function renderWrapped(render: Render, type: WrappedType, props: Props, element: ElementLike): void {
  if (type.$$typeof === FORWARD_REF) renderForwardRef(render, type, props, element);
  else renderInner(render, type.type, props, element);
}

/** The type within a `memo` or `lazy`; the element's place in the tree is already taken. */
function renderInner(render: Render, type: unknown, props: Props, element: ElementLike): void {
  if (typeof type === 'string') renderHost(render, type, props);
  else renderType(render, type, isLegacy ? withDefaults(defaultsOf(type), props) : props, element);
}

function defaultsOf(type: unknown): Props | undefined {
  return (type as { defaultProps?: Props } | null | undefined)?.defaultProps;
}

function renderForwardRef(
  render: Render,
  type: { render(props: unknown, ref: unknown): unknown },
  props: Props,
  element: ElementLike,
): void {
  let given = props;
  let { ref } = element;
  if (!isLegacy) {
    ref ??= null;
    if ('ref' in props) {
      given = withoutRef(props);
      ref = props['ref'] ?? null;
    }
  }
  if (naming.make === null) renderFunction(render, type.render, given, ref, true);
  else frameOf(type, naming.make)(renderFunction, render, type.render, given, ref, true);
}

function renderProvider(render: Render, context: ContextLike, props: Props): void {
  // Read in this order, as react-dom does: either may be a getter.
  const { children, value } = props;
  render.contexts = provide(context, value);
  renderNode(render, children, ALONE);
  render.contexts = unprovide();
}

function renderConsumer(render: Render, context: ContextLike, props: Props): void {
  const children = props['children'] as (value: unknown) => unknown;
  renderNode(render, children(readContext(context)), ALONE);
}

export function renderArray(render: Render, children: readonly unknown[], index: number): void {
  const { depth, forks } = render;
  if (index !== ALONE) {
    render.nodes[depth] = children;
    render.indexes[depth] = index;
    render.depth = depth + 1;
  }
  render.chained = false;
  const { length } = children;
  render.forkLengths[forks] = length;
  render.forks = forks + 1;
  for (let at = 0; at < length; at += 1) {
    render.forkIndexes[forks] = at;
    renderNode(render, children[at], at);
  }
  render.forks = forks;
  render.depth = depth;
}

function renderOther(render: Render, node: object, index: number): void {
  const { $$typeof: kind } = node as { $$typeof?: symbol };
  if (kind === PORTAL) {
    throw new Error(
      'Portals are not currently supported by the server renderer. Render them conditionally so that they only appear on the client render.',
    );
  }
  if (kind === LAZY) {
    const { _init: init, _payload: payload } = node as { _init(p: unknown): unknown; _payload: unknown };
    const resolved = attempt(render, node, index, () => init(payload));
    if (render.aborted) throw null;
    if (resolved !== NOT_YET) renderNode(render, resolved, index);
    return;
  }
  const children = attempt(render, node, index, () => collect(node));
  if (children === NOT_YET) return;
  if (children !== null) {
    if (children.length > 0) renderArray(render, children, index);
    return;
  }
  if (writesUsables && isThenable(node)) {
    render.usesPromise();
    const value = attempt(render, node, index, () => useThenable([], node, 0));
    if (value !== NOT_YET) renderNode(render, value, index);
    return;
  }
  if (writesUsables && kind === CONTEXT) {
    return renderNode(render, readContext(node as ContextLike), index);
  }
  const text = Object.prototype.toString.call(node);
  const found = text === '[object Object]' ? `object with keys {${Object.keys(node).join(', ')}}` : text;
  throw new Error(
    `Objects are not valid as a React child (found: ${found}). If you meant to render a collection of children, use an array instead.`,
  );
}

const NOT_YET: unique symbol = Symbol('not yet');

/** Returns the value of a node that is still to come; NOT_YET when a task now waits for it. */
function attempt<Value>(
  render: Render,
  node: object,
  index: number,
  resolve: () => Value,
): Value | typeof NOT_YET {
  const { chained } = render;
  try {
    return resolve();
  } catch (thrown) {
    const reason = suspension(render, thrown, chained, render.depth);
    suspend(render, node, index, reason, null, chained);
    return NOT_YET;
  }
}

/** null: it is no iterable. Not spread, which is stricter about iterators. */
function collect(node: object): unknown[] | null {
  const iterator = iteratorOf(node);
  if (!iterator) return null;
  const children = [];
  for (let step = iterator.next(); !step.done; step = iterator.next()) children.push(step.value);
  return children;
}

function iteratorOf(node: object): Iterator<unknown> | null | undefined {
  const candidate = node as Iterable<unknown> & { '@@iterator'?: () => Iterator<unknown> };
  const method = candidate[Symbol.iterator] || candidate['@@iterator'];
  if (typeof method !== 'function') return null;
  return method.call(candidate) as Iterator<unknown> | null | undefined;
}
