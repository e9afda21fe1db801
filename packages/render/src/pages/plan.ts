/**
 * Way from a tree and data to boxes: conditions are decided, items repeated, values bound, ids given. Nodes with data of
 * their own become boxes when it is there. It must not know components, HTML or HTTP.
 */
import type { Props } from '../component.js';
import { toError } from '../thrown.js';
import { holds, resolve, pathOf } from './bind.js';
import { InvalidTree } from './check.js';
import { valueAt, type Scope } from './path.js';
import { isObject } from './shapes.js';
import type { PageSources } from './sources.js';
import type { Source, TreeNode } from './tree.js';

/** Bounds boxes of a page, after `each`. */
export const BOXES_MAX = 5_000;
/** Bounds items that are visited, with those whose condition leaves them out. */
const VISITS_MAX = 50_000;

/** Bounds values and conditions that are worked out for all boxes together. */
const VALUES_MAX = 2_000_000;

/** One component on the page. */
export interface Box {
  readonly kind: 'box';
  /** Number on the page, from 0 without gaps, in no order. */
  readonly place: number;
  /** Unique on the page, and the same for the same tree and data. */
  readonly id: string;
  readonly node: TreeNode;
  /** Props as the tree binds them; `Boxes.props` is what the component and the browser get of them. */
  readonly given: Props;
  readonly slots: ReadonlyMap<string, readonly Item[]>;
  /** Failure of its data, without which it has no props. */
  readonly failure: Error | undefined;
}

/** A node whose data is on its way. */
export interface Deferred {
  readonly kind: 'deferred';
  /** Place of the box that stands for it where its data is late. */
  readonly place: number;
  readonly id: string;
  readonly node: TreeNode;
  /** Items; never rejects: if the data does not come, one box says so. */
  readonly items: Promise<readonly Item[]>;
}

export type Item = Box | Deferred;

/** Place of a node. */
interface Place {
  readonly scope: Scope;
  /** `-2-0`: which items of the repetitions around it. They make the ids unique that the tree gives. */
  readonly numbers: string;
}

const NO_SLOTS: ReadonlyMap<string, readonly Item[]> = new Map();

export class Planner {
  readonly #sources: PageSources;
  #places = 0;
  #boxes = 0;
  #visits = 0;
  #values = 0;

  constructor(sources: PageSources) {
    this.#sources = sources;
  }

  /** Throws `InvalidTree` where there are too many boxes. */
  plan(nodes: readonly TreeNode[], scope: Scope): readonly Item[] {
    const items: Item[] = [];
    for (const [index, node] of nodes.entries())
      this.#node(node, node.id ?? `b${index}`, { scope, numbers: '' }, items);
    return items;
  }

  #node(node: TreeNode, id: string, at: Place, items: Item[]): void {
    if (node.data === undefined) {
      this.#expand(node, id, at, items);
      return;
    }
    const place = this.#nextPlace();
    items.push({ kind: 'deferred', place, id, node, items: this.#withData(node, id, at, node.data) });
  }

  #nextPlace(): number {
    this.#places += 1;
    return this.#places - 1;
  }

  async #withData(
    node: TreeNode,
    id: string,
    { scope, numbers }: Place,
    sources: Readonly<Record<string, Source>>,
  ): Promise<readonly Item[]> {
    try {
      const values = await this.#sources.all(sources, scope);
      const items: Item[] = [];
      this.#expand(node, id, { scope: { ...scope, root: { ...scope.root, ...values } }, numbers }, items);
      return items;
    } catch (error) {
      const failure = toError(error);
      return [{ kind: 'box', place: this.#nextPlace(), id, node, given: {}, slots: NO_SLOTS, failure }];
    }
  }

  #expand(node: TreeNode, id: string, at: Place, items: Item[]): void {
    if (node.each === undefined) {
      this.#box(node, id, at, items);
      return;
    }
    const path = pathOf(node.each);
    const list = path === undefined ? undefined : valueAt(path, at.scope);
    if (!Array.isArray(list)) return;
    const { root, noted } = at.scope;
    for (let index = 0; index < list.length; index += 1) {
      const scope = { root, item: list[index] as unknown, noted };
      this.#box(node, `${id}-${index}`, { scope, numbers: `${at.numbers}-${index}` }, items);
    }
  }

  #box(node: TreeNode, id: string, at: Place, items: Item[]): void {
    // Those that no condition lets through cost time as well.
    this.#visits += 1;
    if (this.#visits > VISITS_MAX) throw new InvalidTree('boxes', `repeat more than ${VISITS_MAX} times`);
    this.#values += weightOf(node);
    if (this.#values > VALUES_MAX) throw new InvalidTree('boxes', `repeat more than ${VALUES_MAX} values`);
    if (node.if !== undefined && !holds(node.if, at.scope)) return;
    this.#boxes += 1;
    if (this.#boxes > BOXES_MAX) throw new InvalidTree('boxes', `come to more than ${BOXES_MAX}`);
    const given = node.props === undefined ? {} : resolve(node.props, at.scope);
    const place = this.#nextPlace();
    const slots = this.#slots(node, id, at);
    // All of them may be bound to one path.
    if (isObject(given)) {
      items.push({ kind: 'box', place, id, node, given, slots, failure: undefined });
      return;
    }
    const failure = new TypeError(`The props of box ${id} are bound to a value that is not an object`);
    items.push({ kind: 'box', place, id, node, given: {}, slots, failure });
  }

  #slots({ slots }: TreeNode, parent: string, at: Place): ReadonlyMap<string, readonly Item[]> {
    if (slots === undefined) return NO_SLOTS;
    let count = 0;
    const filled = new Map<string, readonly Item[]>();
    for (const [name, nodes] of Object.entries(slots)) {
      const items: Item[] = [];
      for (const node of nodes) {
        const id = node.id === undefined ? `${parent}-${count}` : `${node.id}${at.numbers}`;
        count += 1;
        this.#node(node, id, at, items);
      }
      filled.set(name, items);
    }
    return filled;
  }
}

const weights = new WeakMap<TreeNode, number>();

/** Values of a node's props and condition: all of them are gone through again for each item. */
function weightOf(node: TreeNode): number {
  let weight = weights.get(node);
  if (weight === undefined) {
    weight = valuesIn(node.props) + valuesIn(node.if);
    weights.set(node, weight);
  }
  return weight;
}

function valuesIn(value: unknown): number {
  // Others are handed over as they are.
  if (!Array.isArray(value) && !isObject(value)) return 1;
  return Object.values(value as Readonly<Record<string, unknown>>).reduce<number>(
    (sum, each) => sum + valuesIn(each),
    1,
  );
}

/**
 * Every node that can come to be a box, with the number of its places: those of items that are there, and all below nodes that wait
 * for data. They are in the order of the document; a node that is repeated has its first place.
 */
export function nodesOf(
  items: readonly Item[],
  nodes = new Map<TreeNode, number>(),
): ReadonlyMap<TreeNode, number> {
  for (const item of items) {
    const { node } = item;
    nodes.set(node, (nodes.get(node) ?? 0) + 1);
    if (item.kind === 'deferred') addBelow(node, nodes);
    else if (item.slots.size > 0) for (const inner of item.slots.values()) nodesOf(inner, nodes);
  }
  return nodes;
}

function addBelow({ slots = {} }: TreeNode, nodes: Map<TreeNode, number>): void {
  for (const inner of Object.values(slots)) {
    for (const node of inner) {
      nodes.set(node, (nodes.get(node) ?? 0) + 1);
      addBelow(node, nodes);
    }
  }
}

/** Puts all boxes that are there into `boxes`, in the order of the document, and nodes whose data is on its way into `deferred`. */
export function sortItems(items: readonly Item[], boxes: Box[], deferred: Deferred[]): void {
  for (const item of items) {
    if (item.kind === 'deferred') {
      deferred.push(item);
      continue;
    }
    boxes.push(item);
    if (item.slots.size > 0) for (const inner of item.slots.values()) sortItems(inner, boxes, deferred);
  }
}
