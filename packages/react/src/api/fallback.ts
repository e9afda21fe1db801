/** Renders that are react-dom's: why, and how many. Nobody's page depends on what this renderer cannot do. */
import { knownVersion, knowsStreams, ReactDOM, version } from '../facts/react.js';
import { unsupportedInStreams } from '../facts/unsupported.js';
import { hasWebStreams } from '../facts/versions.js';

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

/** Calls `listener` for every render that is left to react-dom, until the returned function is called. */
export function onFallback(listener: FallbackListener): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Since the process began. */
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

let warned = false;
/** Read once, as react-dom does; reading the environment is slow. */
const isDevelopment = process.env['NODE_ENV'] !== 'production';

/** Why no render of this process can be ours; null when they can. */
export function reasonToDelegate(): string | null {
  if (isDevelopment) return 'development build';
  if (knownVersion) return null;
  if (!warned) {
    warned = true;
    console.warn(
      `@sluice/react does not know React ${version} with react-dom ${ReactDOM.version}: react-dom renders.`,
    );
  }
  return 'unknown React version';
}

/** The same for streams, of which fewer versions are known. */
export function reasonToDelegateStreams(): string | null {
  const reason = reasonToDelegate() ?? (knowsStreams ? null : `streams of React ${version}`);
  return reason ?? unsupportedInStreams();
}

/** The builds of react-dom for Node have web streams since 19.2: there is nothing to compare earlier ones with. */
export function reasonToDelegateWebStreams(): string | null {
  return reasonToDelegateStreams() ?? (hasWebStreams ? null : `web streams of React ${version}`);
}
