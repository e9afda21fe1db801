/**
 * The components of a page: by name, version, experiment and the client's engine, loaded before the page begins. It must not
 * know how they are rendered.
 */
import type { Component } from '../component.js';
import type { Registry } from '../registry/registry.js';
import { LateError } from '../tasks/errors.js';
import { toError } from '../thrown.js';
import type { Variants } from '../variants/experiments.js';
import type { TreeNode } from './tree.js';

/** Undefined: no component has that name. An error: it could not be loaded. `unsupported`: the client's engine is too old. */
export type Found = Component | 'unsupported' | Error | undefined;

/** Bounds how many fallbacks of old engines are tried. */
const FALLBACKS_MAX = 8;

export class Lookup {
  readonly #registry: Registry;
  readonly #variants: Variants;
  /** Undefined: the newest, or a browser. */
  readonly #engine: number | undefined;
  readonly #found = new Map<string, Found>();

  constructor(registry: Registry, variants: Variants, engine: number | undefined) {
    this.#registry = registry;
    this.#variants = variants;
    this.#engine = engine;
  }

  /** Loads what is not loaded yet; undefined where all is there. */
  prepare(nodes: Iterable<TreeNode>): Promise<unknown> | undefined {
    const loading: Promise<void>[] = [];
    for (const node of nodes) {
      const key = keyOf(node);
      if (this.#found.has(key)) continue;
      const { name, version } = this.#replaced(node);
      const loaded = this.#registry.loaded(name, version);
      if (loaded !== undefined && !this.#isTooNew(loaded)) this.#found.set(key, loaded);
      else {
        this.#found.set(key, new LateError(`Component "${name}" was not loaded in time`));
        loading.push(this.#load(key, name, version));
      }
    }
    return loading.length === 0 ? undefined : Promise.all(loading);
  }

  find(node: TreeNode): Found {
    return this.#found.get(keyOf(node));
  }

  /** All that there are. */
  *components(): Generator<Component> {
    for (const found of this.#found.values())
      if (typeof found === 'object' && !(found instanceof Error)) yield found;
  }

  async #load(key: string, name: string, version: string | undefined): Promise<void> {
    try {
      let component = await this.#registry.find(name, version);
      for (let tries = 0; component !== undefined && this.#isTooNew(component); tries += 1) {
        const fallback = component.settings.engine?.fallback;
        if (fallback === undefined || tries === FALLBACKS_MAX) {
          this.#found.set(key, 'unsupported');
          return;
        }
        const reference = parseReference(fallback);
        component = await this.#registry.find(reference.name, reference.version);
      }
      this.#found.set(key, component);
    } catch (error) {
      this.#found.set(key, toError(error));
    }
  }

  #replaced({ component, version }: TreeNode): Reference {
    const replacement = this.#variants.replace(component);
    return replacement === component ? { name: component, version } : parseReference(replacement);
  }

  #isTooNew({ settings: { engine } }: Component): boolean {
    return this.#engine !== undefined && engine !== undefined && engine.version > this.#engine;
  }
}

interface Reference {
  readonly name: string;
  readonly version: string | undefined;
}

/** `Name` or `Name@version`. */
export function parseReference(text: string): Reference {
  const at = text.lastIndexOf('@');
  return at < 1
    ? { name: text, version: undefined }
    : { name: text.slice(0, at), version: text.slice(at + 1) };
}

function keyOf({ component, version }: TreeNode): string {
  return version === undefined ? component : `${component}@${version}`;
}
