/** Bounds of one request. */
export interface Limits {
  /** Bounds the paths of a request after expansion; a path counts once for each 10 steps. Default: 10,000. */
  readonly pathsMax: number;
  /** Bounds the steps of a path. Default: 64. */
  readonly depthMax: number;
  /** Bounds the references that a path goes through. Default: 50. */
  readonly referencesMax: number;
  /** Bounds the calls of handlers, and the path sets that are left when those that differ in one step are united. Default: 1,000. */
  readonly callsMax: number;
  /** Bounds the time of a request, ms. Default: 30,000. */
  readonly timeoutMs: number;
}

const DEFAULTS: Limits = {
  pathsMax: 10_000,
  depthMax: 64,
  referencesMax: 50,
  callsMax: 1_000,
  timeoutMs: 30_000,
};

/** Fills in the defaults. Throws a `RangeError` where a bound is no whole number of 1 or more. */
export function limitsOf(options: Partial<Limits>): Limits {
  const limits: Record<string, number> = {};
  for (const name of Object.keys(DEFAULTS) as (keyof Limits)[]) {
    const value = options[name] ?? DEFAULTS[name];
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`${name} must be a whole number of 1 or more`);
    limits[name] = value;
  }
  return limits as unknown as Limits;
}
