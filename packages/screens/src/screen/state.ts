// Which screens are mounted: decisions only, without React.

export interface Mounted {
  readonly current: string;
  /** Screens that are mounted, the last shown first; preloaded ones come last. */
  readonly names: readonly string[];
  /** Screen that is on its way out, and still seen. */
  readonly leaving: string | null;
  /** Whether the current one lies before the one that leaves, in the order of the screens. */
  readonly isBack: boolean;
}

export interface Rules {
  /** Screens mounted at once, at most. */
  readonly max: number;
  /** Whether screens leave by steps. */
  readonly hasTransition: boolean;
}

export const first = (current: string): Mounted => ({
  current,
  names: [current],
  leaving: null,
  isBack: false,
});

/** Another screen is shown. `order` are the screens that there are. */
export function shown(
  before: Mounted,
  current: string,
  order: readonly string[],
  { max, hasTransition }: Rules,
): Mounted {
  const names = [current, ...before.names.filter((name) => name !== current)];
  return {
    current,
    names: names.slice(0, Math.max(max, 1)),
    leaving: hasTransition && max > 1 && order.includes(before.current) ? before.current : null,
    isBack: order.indexOf(current) < order.indexOf(before.current),
  };
}

/** Next screen to mount ahead of time; undefined if none is left, or no more may be. */
export function nextPreload(
  { names }: Mounted,
  preloads: readonly string[],
  max: number,
): string | undefined {
  return names.length < max ? preloads.find((name) => !names.includes(name)) : undefined;
}

export const preloaded = (before: Mounted, name: string): Mounted => ({
  ...before,
  names: [...before.names, name],
});

/** Memory is low (1): hidden screens go, but the one before stays. It is almost gone (2): all of them go. */
export function dropped(before: Mounted, level: number): Mounted {
  if (level === 0) return before;
  const names = before.names.slice(0, level === 1 ? 2 : 1);
  return names.length === before.names.length ? before : { ...before, names, leaving: null };
}

export const left = (before: Mounted): Mounted =>
  before.leaving === null ? before : { ...before, leaving: null };
