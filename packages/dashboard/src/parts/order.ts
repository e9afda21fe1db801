// Order and choice of the rows of a table.
import type { ClassSnapshot } from '../snapshot.js';

export type Column = keyof typeof COLUMNS;

/** Columns of the table of classes, with what each says. */
export const COLUMNS = {
  class: { name: 'Class', help: 'Requests that are expected to cost alike: host, method and route.' },
  requests: { name: 'Requests', help: 'Requests since the class was first seen.' },
  cpu_share: { name: 'CPU share', help: 'Share of the CPU time of all classes since the start.' },
  cost_mean_ms: { name: 'Cost', help: 'Mean CPU time of the latest requests in a worker.' },
  cost_p50_ms: { name: 'p50', help: 'Median CPU time of the latest requests.' },
  cost_p95_ms: { name: 'p95', help: '95th percentile of the CPU time of the latest requests.' },
  cost_p99_ms: { name: 'p99', help: '99th percentile of the CPU time of the latest requests.' },
  queue_wait_ms: { name: 'Queue wait', help: 'Mean time before a worker accepted the request.' },
  service_time_ms: {
    name: 'Service time',
    help: 'Mean time in a worker: CPU time and waits of the app.',
  },
  handler_ms: {
    name: 'Handler',
    help: 'Mean time in the handler of the route, if the router exposes it. The rest of the service time is middleware and the sending of the answer.',
  },
} as const satisfies Partial<Record<keyof ClassSnapshot, { name: string; help: string }>>;

export interface Order {
  by: Column;
  descending: boolean;
}

/** A second click on a column turns its order; names begin with A, numbers with the greatest. */
export const next = (order: Order, by: Column): Order =>
  order.by === by ? { by, descending: !order.descending } : { by, descending: by !== 'class' };

/** Classes with all words of the filter in their names, in order; what is not known comes last. */
export function rows(
  classes: readonly ClassSnapshot[],
  filter: string,
  { by, descending }: Order,
): ClassSnapshot[] {
  const words = filter.toLowerCase().split(/\s+/);
  const chosen = classes.filter(({ class: name }) =>
    words.every((word) => name.toLowerCase().includes(word)),
  );
  const sign = descending ? -1 : 1;
  return chosen.sort((one, other) => {
    const [a = null, b = null] = [one[by], other[by]];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const order = typeof a === 'string' || typeof b === 'string' ? String(a).localeCompare(String(b)) : a - b;
    return sign * order || one.class.localeCompare(other.class);
  });
}
