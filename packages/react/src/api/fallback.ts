/** Renders that are react-dom's: why, and how many. Nobody's page depends on what this renderer cannot do. */
import { ReactDOM, version } from '../facts/react.js';
import { takeResourceFunctions } from '../work/scheduler.js';
import { isKnown } from './known.js';
import { unsupportedInStreams } from '../facts/unsupported.js';
import { profile } from '../facts/profile.js';

export interface Fallback {
  /** A short, stable phrase: it is a label in metrics. */
  readonly reason: string;
  /** The component in which it was found out, where that is known. */
  readonly component?: string;
  /** The function of `react-dom/server` that was called. */
  readonly api: string;
}

export type FallbackListener = (fallback: Fallback) => void;

export interface Statistics {
  readonly renders: number;
  readonly fallbacks: number;
  readonly reasons: Record<string, number>;
}

let renders = 0;
let fallbacks = 0;
const reasons = new Map<string, number>();
const listeners = new Set<FallbackListener>();

/** Calls `listener` for every render that falls back to react-dom, until the returned function is called. */
export function onFallback(listener: FallbackListener): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Counts since the process began. */
export function statistics(): Statistics {
  return { renders, fallbacks, reasons: Object.fromEntries(reasons) };
}

export function countRender(): void {
  renders += 1;
}

export function countFallback(fallback: Fallback): void {
  fallbacks += 1;
  reasons.set(fallback.reason, (reasons.get(fallback.reason) ?? 0) + 1);
  for (const listener of listeners) listener(fallback);
}

/** Read once, as react-dom does; reading the environment is slow. */
const isDevelopment = process.env['NODE_ENV'] !== 'production';
let reason: string | null | undefined;

/**
 * Returns the reason for which no render of this process can be ours; null if they can. Before the first call, nothing
 * of React is touched.
 */
export function reasonToDelegate(): string | null {
  if (reason === undefined) reason = decide();
  return reason;
}

function decide(): string | null {
  if (isDevelopment) return 'development build';
  if (isKnown()) {
    takeResourceFunctions();
    return null;
  }
  console.warn(
    `@sluice/react does not support React ${version} with react-dom ${ReactDOM.version}: react-dom renders.`,
  );
  return 'unknown React version';
}

/** The same for streams. */
export function reasonToDelegateStreams(): string | null {
  return reasonToDelegate() ?? unsupportedInStreams();
}

/** The builds of react-dom for Node have web streams since 19.2: there is nothing to compare earlier ones with. */
export function reasonToDelegateWebStreams(): string | null {
  return reasonToDelegateStreams() ?? (profile.api === 'web' ? null : `web streams of React ${version}`);
}
