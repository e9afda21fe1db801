/** A seeded generator (mulberry32): the same seed gives the same shop in every worker and on every machine. */

export interface Random {
  /** In [0, 1). */
  unit(): number;
  /** A whole number in [min, max], both included. */
  int(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** `count` different members of `from`, in an order of its own. */
  sample<T>(from: readonly T[], count: number): T[];
}

export function random(seed: number): Random {
  let state = seed >>> 0;
  const unit = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const int = (min: number, max: number): number => min + Math.floor(unit() * (max - min + 1));
  const pick = <T>(from: readonly T[]): T => {
    const found = from[Math.floor(unit() * from.length)];
    if (found === undefined) throw new RangeError('Nothing can be picked from an empty list.');
    return found;
  };
  const sample = <T>(from: readonly T[], count: number): T[] => {
    const left = [...from];
    const taken: T[] = [];
    while (taken.length < count && left.length > 0) {
      taken.push(...left.splice(Math.floor(unit() * left.length), 1));
    }
    return taken;
  };
  return { unit, int, chance: (probability) => unit() < probability, pick, sample };
}
