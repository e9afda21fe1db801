/** Limits of a screen that a server renders. */
export interface ScreenLimits {
  /** Milliseconds to wait for what components suspend on; 5,000 by default. What has not come is left as its fallback. */
  readonly timeoutMs?: number;
  /** Widgets of a screen; 5,000 by default. They are counted after React's render, before any is laid out or becomes JSON. */
  readonly widgetsMax?: number;
  /** Bytes of its JSON, the state included; 2 MiB by default. */
  readonly bytesMax?: number;
}

export const LIMITS = { timeoutMs: 5_000, widgetsMax: 5_000, bytesMax: 2 * 1024 * 1024 } as const;

/** Error of a screen that is larger than it may be. */
export class ScreenLimitError extends Error {
  override readonly name = 'ScreenLimitError';
}
