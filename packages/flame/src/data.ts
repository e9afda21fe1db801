// What a flame graph is drawn from: the data that the gateway's command puts into the page, and the tree that is made of it.

/** Data as `gateway/cli/src/client/profile/flame.rs` writes it. */
export interface FlameData {
  readonly title: string;
  readonly unit: 'us' | 'bytes';
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly owners: readonly string[];
  readonly frames: readonly (readonly [name: string, place: string, owner: number])[];
  readonly parents: readonly number[];
  readonly stack_frames: readonly number[];
  readonly selves: readonly number[];
  readonly components: readonly {
    readonly component: string;
    readonly self_ms: number;
    readonly total_ms: number;
  }[];
  readonly places: readonly {
    readonly function: string;
    readonly file: string;
    readonly line: number;
    readonly package: string;
    readonly own: number;
    readonly collected: number;
  }[];
}

/** Boxes by stack: 0 is all of it. Starts and totals in the unit of the data. */
export interface Tree {
  readonly totals: Float64Array;
  readonly starts: Float64Array;
  readonly depths: Int32Array;
  /** The largest first. */
  readonly children: readonly (readonly number[])[];
  readonly depth_max: number;
}

export function treeOf({ parents, selves }: FlameData): Tree {
  const count = parents.length;
  const totals = Float64Array.from(selves);
  const starts = new Float64Array(count);
  const depths = new Int32Array(count);
  const children: number[][] = Array.from({ length: count }, () => []);
  const total = (at: number): number => totals[at] ?? 0;
  // A caller's index is smaller than those of whom it calls.
  for (let at = count - 1; at > 0; at -= 1) {
    const parent = parents[at] ?? 0;
    totals[parent] = total(parent) + total(at);
  }
  let depth_max = 0;
  for (let at = 1; at < count; at += 1) {
    const parent = parents[at] ?? 0;
    const depth = (depths[parent] ?? 0) + 1;
    depths[at] = depth;
    depth_max = Math.max(depth_max, depth);
    children[parent]?.push(at);
  }
  for (let at = 0; at < count; at += 1) {
    let start = starts[at] ?? 0;
    for (const child of children[at]?.sort((a, b) => total(b) - total(a)) ?? []) {
      starts[child] = start;
      start += total(child);
    }
  }
  return { totals, starts, depths, children, depth_max };
}

/** Returns the part of the whole that is in boxes of these frames, each stack once. */
export function matched(
  { parents, stack_frames }: FlameData,
  { totals }: Tree,
  isMeant: readonly boolean[],
): number {
  const isBelow = new Uint8Array(parents.length);
  let sum = 0;
  for (let at = 0; at < parents.length; at += 1) {
    const isInside = at > 0 && isBelow[parents[at] ?? 0] === 1;
    const isMatch = isMeant[stack_frames[at] ?? 0] === true;
    if (isMatch && !isInside) sum += totals[at] ?? 0;
    isBelow[at] = isInside || isMatch ? 1 : 0;
  }
  return sum;
}

/** Time that each owner's own frames took. */
export function byOwner({
  owners,
  frames,
  stack_frames,
  selves,
}: FlameData): { owner: string; own: number }[] {
  const sums = owners.map((owner) => ({ owner, own: 0 }));
  for (const [at, frame] of stack_frames.entries()) {
    const sum = sums[frames[frame]?.[2] ?? -1];
    if (sum !== undefined) sum.own += selves[at] ?? 0;
  }
  return sums.filter(({ own }) => own > 0).sort((a, b) => b.own - a.own);
}

export function amount(value: number, unit: FlameData['unit']): string {
  if (unit === 'us') return value >= 1e6 ? `${(value / 1e6).toFixed(2)} s` : `${(value / 1e3).toFixed(1)} ms`;
  return value >= 1 << 20 ? `${(value / (1 << 20)).toFixed(1)} MiB` : `${(value / 1024).toFixed(1)} KiB`;
}

export function percent(part: number, whole: number): string {
  return `${(whole > 0 ? (100 * part) / whole : 0).toFixed(1)} %`;
}
