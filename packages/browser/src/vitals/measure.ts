/**
 * Measures how users had the page, and sends it when they leave or hide it. It is sent once for a view, and again for a view
 * that comes back from the back/forward cache. Fields are those of the gateway's beacon; times are in milliseconds.
 */
import { type Metric, onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals';
import type { Counts } from '../runtime/events.js';
import type { PageData } from '../runtime/page.js';

export interface Beacon extends Readonly<Counts> {
  readonly v: 1;
  readonly page: string;
  readonly setting: string;
  readonly variant: string | null;
  readonly device: 'mobile' | 'desktop';
  readonly ttfb_ms?: number;
  readonly fcp_ms?: number;
  readonly lcp_ms?: number;
  readonly inp_ms?: number;
  /** Layout shift, without a unit. */
  readonly cls?: number;
  /** Bytes as sent: compressed. */
  readonly html_bytes: number;
  readonly js_bytes: number;
}

type Measures = Pick<Beacon, 'ttfb_ms' | 'fcp_ms' | 'lcp_ms' | 'inp_ms' | 'cls'>;
const FIELDS = { TTFB: 'ttfb_ms', FCP: 'fcp_ms', LCP: 'lcp_ms', INP: 'inp_ms', CLS: 'cls' } as const;
const CLS_DIGITS = 10_000;

/** Facts that the runtime knows; handed over, so that it needs no chunk in common with the code here. */
export interface Known {
  readonly counts: Counts;
  readonly pageData: () => PageData;
}

export function measure({ counts, pageData }: Known): void {
  let measures: Partial<Record<keyof Measures, number>> = {};
  let isSent = false;
  const take = ({ name, value }: Metric): void => {
    measures[FIELDS[name]] = name === 'CLS' ? Math.round(value * CLS_DIGITS) / CLS_DIGITS : Math.round(value);
  };
  // Those that grow report when the page is hidden, before the listener below, which is added after theirs.
  for (const on of [onTTFB, onFCP, onLCP, onINP, onCLS]) on(take);

  const send = (): void => {
    const { vitals } = pageData();
    if (isSent || !vitals || Object.keys(measures).length === 0) return;
    isSent = true;
    navigator.sendBeacon(
      vitals,
      JSON.stringify({ ...beacon(pageData(), measures), ...counts } satisfies Beacon),
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

function beacon(
  { page = location.pathname, setting = '', variant = null }: PageData,
  measures: Measures,
): Omit<Beacon, keyof Counts> {
  return {
    v: 1,
    page,
    setting,
    variant,
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
