// Measures of screens for the gateway's vitals: the beacon of its pages, with the screen's name as the page.
import type { Probe } from './probe.js';
import { probeOf } from './roots.js';

export interface ReportOptions {
  /** Address of the beacon, such as `https://tv.example/.sluice/vitals`. */
  readonly url: string;
  /** Name of the screen, where no `<Screens>` says it. */
  readonly page?: string;
  /** Kind of device; `desktop` by default, the gateway's word for any that is no telephone. */
  readonly device?: 'mobile' | 'desktop' | 'bot';
  /** Setting of the dial that the app got. */
  readonly setting?: string;
  /** Variant that the visitor is in. */
  readonly variant?: string;
  /** Sends a beacon; `fetch` by default. Rejections are ignored. */
  readonly send?: (url: string, body: string) => unknown;
}

/** Limits of the gateway: a beacon with a figure beyond them is refused as a whole. */
const TIME_MS_MAX = 600_000;

/** Beacon of a screen: the fields that the gateway's vitals have. */
export function beaconOf(
  probe: Probe,
  page: string,
  { device = 'desktop', setting = '', variant }: Omit<ReportOptions, 'url'> = {},
): string {
  const { key_to_frame, key_to_command, interactive_ms, long_ms, heap_bytes } = probe.measures();
  // A surface that tells no frames leaves the commands.
  const key = key_to_frame.count > 0 ? key_to_frame : key_to_command;
  return JSON.stringify({
    v: 1,
    page,
    setting,
    variant: variant ?? null,
    device,
    tti_ms: time(interactive_ms),
    key_ms: key.count > 0 ? time(key.max) : undefined,
    long_ms: time(long_ms),
    memory_bytes: heap_bytes,
    html_bytes: 0,
    js_bytes: 0,
    mismatches: 0,
    failed: 0,
  });
}

/**
 * Posts a beacon for each screen that was shown, when the next one is. Returns a function that posts the last one and ends: call it when the app is
 * hidden or left.
 */
export function reportMeasures(root: object, options: ReportOptions): () => void {
  const probe = probeOf(root);
  const { url, page, send = post } = options;
  if (page !== undefined) probe.show(page);
  const stop = probe.onEnd((shown) => {
    void (async () => send(url, beaconOf(probe, shown, options)))().catch(() => undefined);
  });
  return () => {
    probe.end();
    stop();
  };
}

const time = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : Math.round(Math.min(ms, TIME_MS_MAX) * 10) / 10;

const post = (url: string, body: string): Promise<Response> =>
  fetch(url, { method: 'POST', body, keepalive: true });
