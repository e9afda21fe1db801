/** What this process has measured of its own pages: the CPU time that Sluice told after each request. It must not know the app. */

export interface Meter {
  /** `url` as it was asked for, `cpu_ms` in milliseconds. */
  add(url: string, cpu_ms: number): void;
  /** Of pages like the one at `path`; `cpu_ms` is the median of the last ones, and null before there is any. */
  of(path: string): { worker: string | null; cpu_ms: number | null; pages: number };
}

const keptMax = 50;

export function createMeter(worker = process.env['SLUICE_WORKER'] ?? null): Meter {
  const recent = new Map<string, number[]>();
  return {
    add(url, cpu_ms) {
      const kind = kindOf(url);
      const kept = recent.get(kind) ?? [];
      if (kept.length === 0 && recent.size === keptMax) return;
      kept.push(cpu_ms);
      if (kept.length > keptMax) kept.shift();
      recent.set(kind, kept);
    },
    of(path) {
      const kept = (recent.get(kindOf(path)) ?? []).toSorted((a, b) => a - b);
      return { worker, cpu_ms: kept[Math.floor(kept.length / 2)] ?? null, pages: kept.length };
    },
  };
}

/** `/p/heron-kite?x=1` is one of `/p/`. */
function kindOf(url: string): string {
  return /^\/[^/?#]*\/?/.exec(url)?.[0] ?? '/';
}
