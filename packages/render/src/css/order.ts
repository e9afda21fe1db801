/** The order of components' styles, and components by the numbers that keys have for them. It must not know files. */
import { createHash } from 'node:crypto';
import type { Component } from '../component.js';
import type { Registry } from '../registry/registry.js';
import { idOf } from './key.js';

/** `Name` or `Name@version`, as in `sluice-assets.json`. */
export function referenceOf({ name, version }: Pick<Component, 'name' | 'version'>): string {
  return version === undefined ? name : `${name}@${version}`;
}

/**
 * Returns the secret of apps that name none: the same in every process with these components. Who knows all their names
 * can make keys, and have sets compiled that no page has; a set is bounded, and so is what is kept of it.
 */
export function derivedSecret(names: readonly string[]): string {
  return createHash('sha256')
    .update('sluice.styles\n')
    .update(names.toSorted().join('\n'))
    .digest('base64url');
}

interface Known {
  readonly name: string;
  readonly version: string | undefined;
}

export class Order {
  readonly #registry: Registry;
  #count = -1;
  readonly #places = new Map<string, number>();
  readonly #byId = new Map<number, Known[]>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  names(): readonly string[] {
    return this.#registry.names();
  }

  /** Sorts by the registry's order, then by version: the result does not depend on the order on the page. */
  sort(components: readonly Component[]): readonly Component[] {
    this.#look();
    const place = (component: Component): number =>
      this.#places.get(component.name) ?? Number.MAX_SAFE_INTEGER;
    return components.toSorted(
      (left, right) => place(left) - place(right) || compare(referenceOf(left), referenceOf(right)),
    );
  }

  /** The components of these ids that there are in this build. */
  async find(ids: readonly number[]): Promise<readonly Component[]> {
    this.#look();
    // A version may have come to a name that was there.
    if (ids.some((id) => !this.#byId.has(id))) this.#lookAgain();
    const known = ids.flatMap((id) => this.#byId.get(id) ?? []);
    const found = await Promise.all(
      known.map(async ({ name, version }) => this.#registry.find(name, version).catch(() => undefined)),
    );
    return found.filter((component) => component !== undefined);
  }

  /** Takes in new components, which may be registered while the app serves. */
  #look(): void {
    const names = this.#registry.names();
    if (names.length !== this.#count) this.#lookAgain(names);
  }

  #lookAgain(names: readonly string[] = this.#registry.names()): void {
    this.#count = names.length;
    this.#byId.clear();
    for (const [index, name] of names.entries()) {
      this.#places.set(name, index);
      const versions = this.#registry.versions(name);
      for (const version of versions.length === 0 ? [undefined] : versions) {
        const id = idOf(referenceOf({ name, version }));
        this.#byId.set(id, [...(this.#byId.get(id) ?? []), { name, version }]);
      }
    }
  }
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
