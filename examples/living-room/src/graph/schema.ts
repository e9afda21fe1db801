/** The graph of the living room: its places, and what is at each. Screens import the types alone. */
import { callable, refTo, typedGraph, type StandardSchema } from '@sluice/graph/router';
import type { Viewer } from './viewer.js';

/** Part of a product that a poster shows. */
export interface Card {
  readonly id: number;
  readonly name: string;
  readonly category: string;
  /** Euros and cents, as they are shown. */
  readonly price: string;
  /** From 1 to 5. */
  readonly rating: number;
}

/** The rest of what its own screen shows. */
export interface Facts {
  readonly summary: string;
  readonly description: string;
  readonly maker: string;
  readonly town: string;
  readonly material: string;
  readonly specs: readonly { readonly name: string; readonly text: string }[];
  /** Length of its film in seconds. */
  readonly film_s: number;
}

/** Values that routes give and no client sets. */
function given<T>(): StandardSchema<T> {
  const validate = (): { issues: { message: string }[] } => ({
    issues: [{ message: 'is not for clients to set' }],
  });
  return { '~standard': { version: 1, vendor: 'living-room', validate } };
}

const watched: StandardSchema<readonly [id: number]> = {
  '~standard': {
    version: 1,
    vendor: 'living-room',
    validate(args) {
      const [id, ...rest] = Array.isArray(args) ? (args as unknown[]) : [];
      if (!Number.isInteger(id) || rest.length > 0)
        return { issues: [{ message: 'takes the number of a product' }] };
      return { value: [Number(id)] };
    },
  },
};

const product = refTo('products[{integers}]');

export const livingGraph = typedGraph<Viewer>()({
  /** A row for each category, in the shop's order. */
  rows: {
    length: given<number>(),
    '{integers}': { title: given<string>(), length: given<number>(), '{integers}': product },
  },
  /** By number. */
  products: {
    '{integers}': { card: given<Card>(), facts: given<Facts>(), similar: { '{integers}': product } },
  },
  /** By text: products with words that begin like those of the text, best first. */
  search: { '{keys}': { length: given<number>(), '{integers}': product } },
  /** The viewer's own: what was watched, latest first. */
  again: { length: given<number>(), '{integers}': product, add: callable(watched) },
});

export type LivingSchema = typeof livingGraph.schema;

/** Places that are the same for every viewer. */
const shared = new Set<unknown>(['rows', 'products', 'search'] satisfies (keyof LivingSchema)[]);

/** Whether the values below a root of the graph are the same for every viewer. */
export function isShared(root: unknown): boolean {
  return shared.has(root);
}
