/** A hole of a template as the renderer uses it: what it writes there, and the way to it from the template's root. */
import { attributeOf, type Attribute } from '../facts/attributes.js';
import { FORMATTING_TAGS } from '../facts/format.js';
import { ELEMENT } from '../facts/react.js';
import {
  AFTER_TAG,
  ATTRIBUTE,
  CHILD,
  COMPONENT,
  type ChildHole,
  type Hole,
  type PathStep,
} from '../facts/template.js';
import { ALONE } from '../facts/tree-id.js';

/** Place of an element that was not made, on the way from the task's root; the same for all renders in which the hole has that type. */
export class ComponentPlace {
  readonly $$typeof = ELEMENT;
  readonly key = null;
  readonly type: unknown;
  /** Whether the type is a function that is not a class. */
  readonly isFunction: boolean;

  constructor(type: unknown) {
    this.type = type;
    this.isFunction =
      typeof type === 'function' &&
      (type as { prototype?: { isReactComponent?: unknown } }).prototype?.isReactComponent === undefined;
  }
}

/** One class for all kinds, so that the loop over them stays monomorphic. */
export class HolePlan {
  readonly kind: number;
  readonly attribute: Attribute | null;
  readonly isAnchorHref: boolean;
  readonly before: number;
  readonly followed: boolean;
  readonly steps: readonly PathStep[];
  readonly forkLengths: readonly number[];
  readonly forkIndexes: readonly number[];
  /** The hole's place among its siblings, ALONE when it has none. */
  readonly index: number;
  readonly formats: boolean;
  #place: ComponentPlace | null = null;

  constructor(hole: Hole) {
    this.kind = hole[0];
    const [before, followed, steps] =
      hole[0] === CHILD || hole[0] === COMPONENT
        ? (hole.slice(1) as [number, number, ChildHole[3]])
        : [AFTER_TAG, 0, []];
    this.attribute = hole[0] === ATTRIBUTE ? attributeOf(hole[1]) : null;
    this.isAnchorHref = hole[0] === ATTRIBUTE && hole[1] === 'href' && hole[2] === 'a';
    this.before = before;
    this.followed = followed === 1;
    this.steps = steps;
    const forks = steps.filter(([, , length]) => length > 1);
    this.forkLengths = forks.map(([, , length]) => length);
    this.forkIndexes = forks.map(([, , , index]) => index);
    const last = steps.at(-1);
    this.index = last !== undefined && last[2] > 1 ? last[3] : ALONE;
    this.formats = steps.some(([tag]) => tag !== null && FORMATTING_TAGS.has(tag));
  }

  /** The place of an element of this type, mostly the one of the last render. */
  placeOf(type: unknown): ComponentPlace {
    if (this.#place === null || this.#place.type !== type) this.#place = new ComponentPlace(type);
    return this.#place;
  }
}
