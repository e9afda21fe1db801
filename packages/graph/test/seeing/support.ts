// A receiver of counts, where Sluice's preload would put its own.
import type { GraphHost, PathReport, RouteReport, UseReport } from '../../src/seeing/host.js';

const HOST = Symbol.for('sluice.graph.1');

type Row = Omit<PathReport, 'path'>;

export class Receiver implements GraphHost {
  readonly calls: RouteReport[] = [];
  readonly uses: UseReport[] = [];

  called(report: RouteReport): void {
    this.calls.push(report);
  }

  used(report: UseReport): void {
    this.uses.push(report);
  }

  /** Sums by route. */
  routes(): Record<string, Omit<RouteReport, 'route' | 'method' | 'ms'>> {
    const sums: Record<string, Record<string, number | string>> = {};
    for (const { route, method, ms: _ms, ...counts } of this.calls) {
      const row = (sums[`${method} ${route}`] ??= {});
      for (const [name, value] of Object.entries(counts))
        row[name] = typeof value === 'number' ? Number(row[name] ?? 0) + value : value;
    }
    return sums;
  }

  /** Counts other than 0 of the latest report, by pattern. */
  paths(): Record<string, Partial<Row>> {
    const rows = this.uses.at(-1)?.paths ?? [];
    return Object.fromEntries(
      rows.map(({ path, ...counts }) => [
        path,
        Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
      ]),
    );
  }
}

/** Runs `work` under a receiver. */
export async function seen(work: (receiver: Receiver) => Promise<void> | void): Promise<void> {
  const holder = globalThis as { [HOST]?: GraphHost };
  const receiver = new Receiver();
  holder[HOST] = receiver;
  try {
    await work(receiver);
  } finally {
    delete holder[HOST];
  }
}
