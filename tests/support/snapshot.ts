// What `sluice status --json` says, as far as tests and benchmarks look at it.

import type { CalledHostSnapshot } from '../../packages/dashboard/src/snapshot.ts';

export type { CalledHostSnapshot };

export interface Percentiles {
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

export interface WorkerSnapshot {
  id: number;
  instance: number;
  pid: number | null;
  generation: number;
  state: 'starting' | 'warming' | 'ready' | 'busy' | 'paused' | 'leaving' | 'backoff';
  age_s: number;
  rss_bytes: number | null;
  heap_used_bytes: number | null;
  requests_total: number;
  restarts_total: number;
  current: { id: string; class: string; for_ms: number }[];
  cpu_ms_total: number | null;
  streams: number;
  lowered: boolean;
  lane: 'short' | 'long' | null;
}

/** Measurements of browsers for one kind of page: 75th percentiles. */
export interface VitalsSnapshot {
  name: string;
  reports_total: number;
  ttfb_ms: number | null;
  lcp_ms: number | null;
  inp_ms: number | null;
  tti_ms?: number;
  key_ms?: number;
  memory_bytes?: number;
}

/** An upstream with the addresses of its targets. */
export interface UpstreamSnapshot {
  name: string;
  waiting: number;
  targets: {
    target: string;
    address: string;
    health: 'healthy' | 'ejected' | 'down';
    in_flight: number;
    idle: number;
    requests_total: number;
    failures_total: number;
    fault: string | null;
  }[];
}

export interface Snapshot {
  version: string;
  upstreams?: UpstreamSnapshot[];
  pid: number;
  state: 'starting' | 'serving' | 'draining';
  url: string;
  run_dir: string;
  uptime_s: number;
  generation: number;
  reload: {
    generation: number;
    state: 'running' | 'done' | 'abandoned';
    reason: string | null;
    trial?: { generation: number; state: string; reason: string | null; requests: number };
  } | null;
  boots: { waiting: number; awaited: number } | null;
  workers: WorkerSnapshot[];
  queue: { length: number; length_max: number; oldest_wait_ms: number; predicted_wait_ms: number };
  requests: {
    answered_total: number;
    in_service: number;
    handed: number;
    handed_total: number;
    taken_back_total: number;
    per_second: number;
    refused_total: number;
    outcomes: Record<string, number>;
    steps: Record<string, number>;
  };
  queue_wait_ms: Percentiles;
  unserved_ms: Percentiles;
  service_time_ms: Percentiles;
  overlaps_total: number;
  connections: number;
  streams: number;
  quarantined: number;
  react: { renders_total: number; fallbacks: Record<string, number> } | null;
  component_cache: {
    hits_total: number;
    misses_total: number;
    evictions_total: number;
    entries: number;
    bytes: number;
    bytes_max: number;
  } | null;
  dial: { server: Record<string, string>; turned: boolean };
  effects: {
    components: { name: string; outcomes: Record<string, number>; cpu_ms_total: number }[];
    components_count: number;
    settings: {
      name: string;
      pages_total: number;
      cpu_ms_per_page: number | null;
      devices: VitalsSnapshot[];
    }[];
    variants: VitalsSnapshot[];
    pages: VitalsSnapshot[];
  } | null;
  graph: {
    pages_total: number;
    page_requests_total: number;
    fetches_total: number;
    asked_total: number;
    fetched_total: number;
    values_total: number;
    unread_total: number;
    again_total: number;
    calls_total: number;
    failures_total: number;
    denied_total: number;
    unanswered_total: number;
    routes: {
      route: string;
      method: string;
      calls_total: number;
      paths_total: number;
      time_ms_total: number;
      time_ms_max: number;
      failures_total: number;
      denied_total: number;
      unanswered_total: number;
      error: string | null;
    }[];
    routes_count: number;
    paths: {
      path: string;
      asked_total: number;
      fetched_total: number;
      values_total: number;
      unread_total: number;
      again_total: number;
    }[];
    paths_count: number;
  } | null;
  called: readonly CalledHostSnapshot[];
  page_cache: {
    pages: number;
    bytes: number;
    bytes_max: number;
    hits: number;
    stale: number;
    joined: number;
    misses: number;
    bypassed: number;
    stored: number;
    purged: number;
    shared: { address: string; up: boolean; hits: number; misses: number; skipped: number } | null;
  } | null;
  runs: { upper_us: number[]; counts: number[] };
  certificates: {
    name: string;
    key: string;
    file: string | null;
    expires_in_s: number | null;
    asked_in_s: number | null;
    problem: string | null;
  }[];
  crashes: {
    worker: number;
    status: string;
    exception: string | null;
    evidence: string | null;
    held: number;
    request: string | null;
    path: string | null;
    class: string | null;
    place: string | null;
  }[];
  alarms: { alarm: string; class: string | null; text: string; age_s: number }[];
  growing: {
    what: string;
    class: string | null;
    from: number;
    to: number;
    per_hour: number;
    since_generation: number;
  }[];
}

/** Checks what the code relies on; the rest is trusted. */
export function snapshotOf(value: unknown): Snapshot {
  if (typeof value !== 'object' || value === null) throw new Error('the status is not an object');
  const fields = value as Record<string, unknown>;
  for (const [name, type] of [
    ['pid', 'number'],
    ['state', 'string'],
    ['overlaps_total', 'number'],
  ] as const) {
    if (typeof fields[name] !== type) throw new Error(`the status has no ${name}`);
  }
  if (!Array.isArray(fields['workers'])) throw new Error('the status has no workers');
  return value as Snapshot;
}
