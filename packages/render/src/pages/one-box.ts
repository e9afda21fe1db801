/**
 * Data of one box for the browser, without the rest of its page: only the sources on the way to it are asked, and no other component is
 * loaded. It must not know HTML or HTTP.
 */
import type { Component } from '../component.js';
import { InvalidPropsError } from '../tasks/errors.js';
import { OwnProps } from '../tasks/own-props.js';
import { serialize } from '../state/serialize.js';
import { toError } from '../thrown.js';
import { holds, pathOf, resolve } from './bind.js';
import { Lookup } from './lookup.js';
import { neededSources } from './needs.js';
import { tellError, type BoxAnswer, type PageInput, type Shared, type VisitedOptions } from './options.js';
import { valueAt, type Scope } from './path.js';
import { browserComponent, contextOf, endOf, left, scopeOf, within } from './prepare.js';
import { isObject } from './shapes.js';
import { PageSignals } from './signals.js';
import type { PageTree } from './tree.js';
import { wayTo, type Step } from './way.js';

/**
 * Undefined where the page has no such box, or one that is not the browser's. Rejects with a `SourceError` where its data did not come, and
 * with a `LateError` where the page's time is up.
 */
export async function boxAnswer(
  shared: Shared,
  tree: PageTree,
  id: string,
  input: PageInput,
  options: VisitedOptions,
): Promise<BoxAnswer | undefined> {
  const way = wayTo(tree.boxes, id);
  const last = way?.at(-1);
  if (way === undefined || last === undefined) return undefined;
  const signals = new PageSignals(options.signal);
  const end_ms = endOf(shared, options);
  try {
    const variants = shared.experiments.allocate(options.visitor, options.variants);
    const lookup = new Lookup(shared.registry, variants, undefined);
    await within(end_ms, Promise.resolve(lookup.prepare([last.node])));
    // Static and remote boxes are not the browser's: nothing is asked for them.
    const component = browserComponent(lookup, last.node);
    if (component === undefined) return undefined;
    const context = contextOf(options, variants, signals.working);
    const needed = neededSources(tree, way);
    const work = async (): Promise<BoxAnswer | undefined> => {
      const sources = shared.sources.of({ request: options.request, signal: signals.working });
      let scope = await scopeOf(sources, needed.page, input, context);
      for (const [index, step] of way.entries()) {
        const values = await sources.all(needed.steps[index] ?? {}, scope);
        const inner = scopeIn(step, { ...scope, root: { ...scope.root, ...values } });
        if (inner === undefined) return undefined;
        scope = inner;
      }
      return answerOf(shared, component, resolve(last.node.props ?? {}, scope));
    };
    return await within(end_ms, work());
  } catch (thrown) {
    const error = toError(thrown);
    if (signals.leaving.aborted) throw left(error);
    tellError(shared, error, last.node.component, id);
    throw error;
  } finally {
    // What is late goes on otherwise.
    signals.leave();
    signals.release();
  }
}

/** Undefined where the data has no such item, or the condition leaves the node out. */
function scopeIn({ node, index }: Step, outer: Scope): Scope | undefined {
  let scope = outer;
  if (node.each !== undefined && index !== undefined) {
    const path = pathOf(node.each);
    const list = path === undefined ? undefined : valueAt(path, outer);
    if (!Array.isArray(list) || index >= list.length) return undefined;
    scope = { ...outer, item: list[index] as unknown };
  }
  return node.if === undefined || holds(node.if, scope) ? scope : undefined;
}

async function answerOf(
  { isDevelopment }: Shared,
  component: Component,
  given: unknown,
): Promise<BoxAnswer | undefined> {
  if (!isObject(given)) return undefined;
  try {
    return { props: serialize(await new OwnProps(component, given, isDevelopment).made()) };
  } catch (thrown) {
    const error = toError(thrown);
    if (error instanceof InvalidPropsError) return undefined;
    throw error;
  }
}
