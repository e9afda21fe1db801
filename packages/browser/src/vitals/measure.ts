/**
 * Measures how users had the page, and sends it when they leave or hide it. It is sent once for a view, and again for a view
 * that comes back from the back/forward cache. Fields are those of the gateway's beacon; times are in milliseconds.
 */
import { type Metric, onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals';
import type { Counts, Ready } from '../runtime/events.js';
import type { PageData } from '../runtime/page.js';

export interface Beacon extends Readonly<Counts> {
  readonly v: 1;
  readonly page: string;
  readonly setting: string;
  readonly variant: string | null;
  readonly variants?: readonly string[];
  readonly device: 'mobile' | 'desktop';
  readonly ttfb_ms?: number;
  readonly fcp_ms?: number;
  readonly lcp_ms?: number;
  readonly inp_ms?: number;
  /** Time until the components that are hydrated as soon as the page loads have answered. */
  readonly tti_ms?: number;
  /** Slowest answer to a key, to the next paint. */
  readonly key_ms?: number;
  /** Time by which frames took longer than 50 ms, added up. */
  readonly long_ms?: number;
  /** JavaScript's memory, in browsers that tell it. */
  readonly memory_bytes?: number;
  /** Layout shift, without a unit. */
  readonly cls?: number;
  /** Bytes as sent: compressed. */
  readonly html_bytes: number;
  readonly js_bytes: number;
}

type Measures = Pick<
  Beacon,
  'ttfb_ms' | 'fcp_ms' | 'lcp_ms' | 'inp_ms' | 'tti_ms' | 'key_ms' | 'long_ms' | 'memory_bytes' | 'cls'
>;
const FIELDS = { TTFB: 'ttfb_ms', FCP: 'fcp_ms', LCP: 'lcp_ms', INP: 'inp_ms', CLS: 'cls' } as const;
const CLS_DIGITS = 10_000;

/** Facts that the runtime knows; handed over, so that it needs no chunk in common with the code here. */
export interface Known {
  readonly counts: Counts;
  readonly ready: Ready;
  readonly pageData: () => PageData;
}

/** Boxes that are hydrated as soon as they are there, and have not answered. */
const WAITING = 'sluice-box[on=load]:not([ready],[hole=remote])';

export function measure({ counts, ready, pageData }: Known): void {
  // Another page may have come in its place by the time that the beacon is sent.
  const path = location.pathname;
  let measures: Partial<Record<keyof Measures, number>> = {};
  let isSent = false;
  const take = ({ name, value }: Metric): void => {
    measures[FIELDS[name]] = name === 'CLS' ? Math.round(value * CLS_DIGITS) / CLS_DIGITS : Math.round(value);
  };
  // Those that grow report when the page is hidden, before the listener below, which is added after theirs.
  for (const on of [onTTFB, onFCP, onLCP, onINP, onCLS]) on(take);

  whenInteractive(() => {
    if (ready.at_ms !== undefined) measures.tti_ms = Math.round(ready.at_ms);
  });
  observe('event', (entry) => {
    if (entry.name.startsWith('key'))
      measures.key_ms = Math.max(measures.key_ms ?? 0, Math.round(entry.duration));
  });
  // A browser that knows long frames tells each of them; others tell their long tasks.
  observe(hasEntries('long-animation-frame') ? 'long-animation-frame' : 'longtask', (entry) => {
    measures.long_ms = (measures.long_ms ?? 0) + Math.round(Math.max(entry.duration - LONG_MS, 0));
  });

  const send = (): void => {
    const { vitals } = pageData();
    if (isSent || !vitals || Object.keys(measures).length === 0) return;
    const { memory } = performance as { readonly memory?: { readonly usedJSHeapSize: number } };
    if (memory !== undefined) measures.memory_bytes = memory.usedJSHeapSize;
    isSent = true;
    navigator.sendBeacon(
      vitals,
      JSON.stringify({ ...beacon({ page: path, ...pageData() }, measures), ...counts } satisfies Beacon),
    );
  };
  // A page that is left is hidden as well, after `pagehide`, and the last measures are made then.
  addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') send();
  });
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    measures = {};
    isSent = false;
  });
}

/** A frame that takes longer is felt. */
const LONG_MS = 50;

const hasEntries = (type: string): boolean => PerformanceObserver.supportedEntryTypes.includes(type);

/** Calls for each entry of a type, those before included. Browsers without the type have none. */
function observe(type: string, take: (entry: PerformanceEntry) => void): void {
  if (!hasEntries(type)) return;
  const options = { type, buffered: true, durationThreshold: 16 };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) take(entry);
  }).observe(options);
}

/** Calls once, when no component that is hydrated with the page is waited for. */
function whenInteractive(then: () => void): void {
  const isDone = (): boolean => document.querySelector(WAITING) === null;
  if (isDone()) return then();
  const look = (): void => {
    if (!isDone()) return;
    for (const type of ENDS) document.removeEventListener(type, look);
    then();
  };
  for (const type of ENDS) document.addEventListener(type, look);
}

/** Each box ends with one of them. */
const ENDS = ['sluice:ready', 'sluice:failed'] as const;

function beacon(
  { page = '', setting = '', variant = null, variants }: PageData,
  measures: Measures,
): Omit<Beacon, keyof Counts> {
  return {
    v: 1,
    page,
    setting,
    variant,
    ...(variants && { variants }),
    device: matchMedia('(pointer: coarse) and (max-width: 900px)').matches ? 'mobile' : 'desktop',
    ...measures,
    html_bytes: bytesOf(performance.getEntriesByType('navigation')),
    js_bytes: bytesOf(performance.getEntriesByType('resource').filter(isScript)),
  };
}

function isScript(entry: PerformanceEntry): boolean {
  return /\.m?js$/.test(new URL(entry.name).pathname);
}

function bytesOf(entries: readonly PerformanceEntry[]): number {
  let bytes = 0;
  for (const entry of entries) bytes += (entry as PerformanceResourceTiming).encodedBodySize;
  return bytes;
}
