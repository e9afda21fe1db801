/** Sources that one box needs: those whose names the paths on its way begin with. It must not know data. */
import { isBinding, pathOf, type Bound, type Condition } from './bind.js';
import { isObject } from './shapes.js';
import type { PageTree, Source } from './tree.js';
import type { Step } from './way.js';

export type NamedSources = Readonly<Record<string, Source>>;

export interface NeededSources {
  readonly page: NamedSources;
  /** Sources by step. */
  readonly steps: readonly NamedSources[];
}

/**
 * Finds the needed sources. Those of nodes around the box are needed if repetitions, conditions and other sources on its
 * way read them.
 */
export function neededSources({ data = {} }: PageTree, way: readonly Step[]): NeededSources {
  const needs = new Needs();
  const steps: NamedSources[] = [];
  for (const { node } of way.toReversed()) {
    // From the inside to the outside: a node's data hides that of the same name around it.
    if (steps.length === 0) needs.bound(node.props);
    if (node.if !== undefined) needs.condition(node.if);
    if (node.each !== undefined) needs.path(node.each);
    steps.unshift(needs.take(node.data ?? {}));
  }
  return { page: needs.take(data), steps };
}

class Needs {
  readonly #names = new Set<string>();
  /** A path is `$`: whatever there is. */
  #isAll = false;

  /** Takes the needed ones; their own needs count from now on, and their names do not. */
  take(sources: NamedSources): NamedSources {
    const taken = Object.entries(sources).filter(([name]) => this.#isAll || this.#names.has(name));
    for (const name of Object.keys(sources)) this.#names.delete(name);
    for (const [, source] of taken) {
      if ('url' in source) {
        this.bound(source.path);
        this.bound(source.query);
      } else this.bound(source.args);
    }
    return Object.fromEntries(taken);
  }

  path(text: string): void {
    const path = pathOf(text);
    if (path?.from !== '$') return;
    const [name] = path.steps;
    if (typeof name === 'string') this.#names.add(name);
    else this.#isAll = true;
  }

  bound(bound: Bound): void {
    if (Array.isArray(bound)) for (const each of bound) this.bound(each);
    else if (isBinding(bound)) this.path(bound.$path);
    else if (isObject(bound)) for (const each of Object.values(bound)) this.bound(each);
  }

  condition(condition: Condition): void {
    if ('exists' in condition) this.path(condition.exists);
    else if ('equals' in condition) this.bound(condition.equals);
    else if ('not' in condition) this.condition(condition.not);
    else for (const each of 'any' in condition ? condition.any : condition.all) this.condition(each);
  }
}
