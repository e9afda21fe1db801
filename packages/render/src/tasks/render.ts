/**
 * Work of one task: checks the props, looks into the component cache, has the adapter render. Synchronous wherever the
 * component is, because then its CPU time is exact. It must not know queues, clocks or limits of time.
 */
import { randomBytes } from 'node:crypto';
import type { RenderContext } from '../adapters/adapter.js';
import type { Component, Props } from '../component.js';
import type { HtmlCache } from './html-cache.js';
import { madeProps, OwnProps } from './own-props.js';
import { PlacedHtml, type Html } from './placed-html.js';
import { isPromise } from './promise.js';
import { exactTextOf } from '../state/exact.js';
import { Gathered, gatherTags, tellTags } from './tags.js';

/** Context of a task's render. */
export interface TaskContext extends RenderContext {
  /** The component's code has the signal, and it is aborted: HTML that comes now may lack what the abort has stopped. */
  readonly isCut: boolean;
  /** Set where the HTML comes from the component cache. */
  isCached: boolean;
}

const CACHE_S = 60;
/**
 * Stands for the id of the place in HTML that goes to the cache: another place has another id, and hydration compares what
 * the component made of it. Random, so that no content is taken for it.
 */
const ANY_ID = `s${randomBytes(12).toString('hex')}`;

/** Throws, or rejects, what the component threw, `InvalidPropsError`, or `RangeError` where the HTML is too large. */
export function renderComponent(
  component: Component,
  props: Props | OwnProps,
  context: TaskContext,
  cache: HtmlCache,
  htmlBytesMax: number,
): Html | Promise<Html> {
  const made = madeProps(component, props);
  if (isPromise(made))
    return after(made, (checked) => renderChecked(component, props, checked, context, cache, htmlBytesMax));
  return renderChecked(component, props, made, context, cache, htmlBytesMax);
}

/** Makes no closures for a component that is not cached and has its HTML at once, as most do. */
function renderChecked(
  component: Component,
  props: Props | OwnProps,
  checked: Props,
  context: TaskContext,
  cache: HtmlCache,
  htmlBytesMax: number,
): Html | Promise<Html> {
  const key = cacheKey(component, props, checked, context);
  if (key === undefined) return htmlOf(component, props, checked, context, htmlBytesMax);
  if (typeof key !== 'string') return key;
  const cached = cache.find(key, Date.now());
  if (cached !== undefined) {
    tellTags(cached.tags);
    context.isCached = true;
    return new PlacedHtml(cache.pieces(cached, ANY_ID), context.id);
  }
  const own: unknown = component.settings.cacheTags?.(checked) ?? [];
  if (isPromise(own)) return refuse(component, 'cacheTags', own);
  if (!Array.isArray(own))
    throw new TypeError(`cacheTags of component "${component.name}" returned no array`);
  tellTags(own);
  const gathered = new Gathered(own as readonly string[]);
  const { purges } = cache;
  const anywhere = new ContextOfAnyPlace(context);
  return after(
    gatherTags(gathered, () => htmlOf(component, props, checked, anywhere, htmlBytesMax)),
    (html) => {
      const until_ms = Date.now() + (component.settings.cacheS ?? CACHE_S) * 1000;
      const isWhole = !context.isCut && !anywhere.isPartial && !gathered.isRefused;
      if (isWhole && cache.purges === purges) cache.set(key, html, until_ms, [...gathered.tags]);
      return html.replaceAll(ANY_ID, context.id);
    },
  );
}

/** HTML as the component makes it, checked. */
function htmlOf(
  component: Component,
  props: Props | OwnProps,
  checked: Props,
  context: RenderContext,
  bytesMax: number,
): string | Promise<string> {
  const given = props instanceof OwnProps ? props.forRender(checked) : checked;
  const html = component.adapter.render(component.view, given, context);
  return isPromise(html)
    ? after(html, (html) => accepted(component, html, bytesMax))
    : accepted(component, html, bytesMax);
}

/** First part of a component's keys. */
interface Prefix {
  readonly slots: readonly string[];
  readonly hydrated: string;
  readonly static: string;
}

/** Prefixes by component, those of the slots that it was used with last. */
const prefixes = new WeakMap<Component, Prefix>();
/** Numbers by component. */
const numbers = new WeakMap<Component, number>();
let count = 0;

class ContextOfAnyPlace implements RenderContext {
  readonly id = ANY_ID;
  readonly slots: RenderContext['slots'];
  readonly isStatic: boolean;
  isPartial = false;
  readonly #context: RenderContext;

  constructor(context: RenderContext) {
    this.#context = context;
    this.slots = context.slots;
    this.isStatic = context.isStatic ?? false;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  tellPartial(): void {
    this.isPartial = true;
    this.#context.tellPartial?.();
  }
}

/** Undefined: this component is not cached, or not with these props. */
function cacheKey(
  component: Component,
  props: Props | OwnProps,
  checked: Props,
  context: RenderContext,
): string | undefined | Promise<never> {
  const { cacheKey: setting } = component.settings;
  const key: unknown = setting === 'props' ? keyOf(props, checked) : setting?.(checked);
  if (key === undefined || key === null) return undefined;
  if (isPromise(key)) return refuse(component, 'cacheKey', key);
  // The text of promises and Maps is the same for all: the HTML of one visitor would be another's.
  if (typeof key !== 'string' && typeof key !== 'number')
    throw new TypeError(
      `cacheKey of component "${component.name}" returned ${typeof key} instead of a string`,
    );
  const prefix = prefixOf(component, context.slots.names);
  return (context.isStatic === true ? prefix.static : prefix.hydrated) + String(key);
}

/** The key of all props; undefined for props that others may have the text of, such as promises. */
function keyOf(props: Props | OwnProps, checked: Props): string | undefined {
  try {
    return props instanceof OwnProps ? props.key() : exactTextOf(checked)?.key;
  } catch {
    // A proxy, or an object that only looks like a Date.
    return undefined;
  }
}

/** Rejects what must be there at once. The reason of its rejection is told with the box's error, and is unhandled nowhere. */
async function refuse(component: Component, setting: string, value: PromiseLike<unknown>): Promise<never> {
  const cause = await value.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  throw new TypeError(
    `${setting} of component "${component.name}" returned a promise: it must not be async`,
    {
      cause,
    },
  );
}

/** A number, a letter and JSON, at whose end the component's own key begins: no two prefixes begin alike. */
function prefixOf(component: Component, slots: readonly string[]): Prefix {
  let prefix = prefixes.get(component);
  if (prefix?.slots !== slots) {
    const number = numberOf(component);
    const names = JSON.stringify(slots);
    prefix = { slots, hydrated: `${number}h${names}`, static: `${number}s${names}` };
    prefixes.set(component, prefix);
  }
  return prefix;
}

/** Components of two registries, or of two builds in development, may share a queue and a name, but not their HTML. */
function numberOf(component: Component): number {
  let number = numbers.get(component);
  if (number === undefined) {
    count += 1;
    number = count;
    numbers.set(component, number);
  }
  return number;
}

function accepted(component: Component, html: unknown, bytesMax: number): string {
  if (typeof html !== 'string') {
    throw new TypeError(
      `Component "${component.name}" returned ${html === null ? 'null' : typeof html} instead of HTML`,
    );
  }
  // A UTF-16 unit takes three bytes at most, so that most HTML need not be measured.
  if (html.length * 3 > bytesMax && Buffer.byteLength(html) > bytesMax) {
    throw new RangeError(`The HTML of component "${component.name}" has more than ${bytesMax} bytes`);
  }
  return html;
}

/** Continues with a value, at once if it is there. Promises of libraries and of other realms are promises, too. */
function after<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}
