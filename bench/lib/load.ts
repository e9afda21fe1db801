// Runs the load generator of `bench/load`, which is built on first use.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { once } from 'node:events';
import { temporaryDir } from './run.ts';

const loadDir = fileURLToPath(new URL('../load/', import.meta.url));
const targetDir = process.env['CARGO_TARGET_DIR'] ?? path.join(loadDir, 'target');
const generator = path.join(targetDir, 'release/sluice-load');

export interface Route {
  class?: string;
  path: string;
  method?: string;
  weight?: number;
  headers?: [string, string][];
  body_bytes?: number;
  /** Body, in place of `body_bytes`. */
  body?: string;
  /** Length that the body of a success must have; any other is a failure. */
  answer_bytes?: number;
}

export interface SlowGroup {
  slow: 'headers' | 'body' | 'read';
  connections: number;
  interval_ms: number;
  bytes: number;
  path: string;
  body_bytes?: number;
  receive_buffer_bytes?: number;
}

/** See `bench/load/src/plan.rs`. */
export interface Plan {
  targets: string[];
  routes?: Route[];
  mode:
    | {
        kind: 'closed';
        connections: number;
        requests: number;
        keep_alive?: boolean;
        duration_ms_max?: number;
      }
    | {
        kind: 'open';
        rate_per_s: number;
        duration_ms: number;
        requests_max: number;
        connections_max?: number;
        measure_from_ms?: number;
        keep_alive?: boolean;
      }
    | { kind: 'burst'; connections: number }
    | { kind: 'hold'; connections: number; duration_ms_max: number; connections_per_s?: number }
    | { kind: 'slow'; groups: SlowGroup[]; duration_ms_max: number; connections_per_s?: number };
  abort?: { fraction: number; after_ms_min?: number; after_ms_max: number; reset_fraction?: number };
  timeout_ms?: number;
  check_echo?: boolean;
  /** Whether a request is sent again on a new connection when a kept one was closed before any answer; true unless said. */
  resend?: boolean;
  /** Whether the result lists every request. */
  samples?: boolean;
  seed?: number;
}

/** µs from the start to when it was meant to be sent, µs it took, status (0: no whole answer), µs in a queue where the server says. */
export type Sample = [at_us: number, took_us: number, status: number, queue_us: number | null];

/** Milliseconds; all but `count` are missing when the count is 0. */
export interface Times {
  count: number;
  mean?: number;
  p50?: number;
  p95?: number;
  p99?: number;
  p999?: number;
  max?: number;
}

export interface SlowGroupResult {
  slow: string;
  connections: number;
  opened: number;
  open_at_end: number;
  closed_by_server: number;
  completed: number;
  statuses: Record<string, number>;
}

export interface LoadResult {
  /** The moment from which samples count, milliseconds of the clock. */
  started_unix_ms: number;
  elapsed_s: number;
  sent: number;
  /** Whole answers with a status of 200 to 399. */
  ok: number;
  /** Answers with status 503. */
  refused: number;
  /** Everything else that was not given up on purpose. */
  failed: number;
  aborted: number;
  errors: Record<string, number>;
  statuses: Record<string, number>;
  body_bytes: number;
  connections: number;
  stale_retries: number;
  latency_ms: Times;
  refused_ms: Times;
  /** Open loop: how late the generator itself sent. */
  late_ms: Times;
  ok_in_window: number;
  window_s: number | null;
  generator_cpu_s: number | null;
  classes: Record<
    string,
    { ok: number; refused: number; failed: number; latency_ms: Times; samples?: Sample[] }
  >;
  extra: {
    /** First bytes of a burst: milliseconds from the first request, in order. */
    first_byte_ms?: number[];
    last_byte_ms?: number[];
    open_at_end?: number;
    closed_by_server?: number;
    groups?: SlowGroupResult[];
  };
}

/** Builds the generator when it is not up to date. */
export function buildGenerator(): void {
  const args = [
    'build',
    '--release',
    '--quiet',
    '--locked',
    '--manifest-path',
    path.join(loadDir, 'Cargo.toml'),
  ];
  const { status } = spawnSync('cargo', [...args, '--target-dir', targetDir], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the load generator could not be built');
}

export interface RunningLoad {
  /** Settles when a `hold` or `slow` run has all its connections going. */
  ready: Promise<void>;
  result: Promise<LoadResult>;
  /** Ends the run early; `result` has what happened so far. */
  stop(): Promise<LoadResult>;
}

/** Largest argument of a program on Linux is 128 KiB; longer plans go by file. */
const ARGUMENT_MAX = 100_000;

function argumentOf(plan: Plan): string {
  const text = JSON.stringify(plan);
  if (Buffer.byteLength(text) <= ARGUMENT_MAX) return text;
  const file = path.join(temporaryDir('sluice-load-'), 'plan.json');
  fs.writeFileSync(file, text);
  return file;
}

export function startLoad(plan: Plan): RunningLoad {
  const child = spawn(generator, [argumentOf(plan)], { stdio: ['ignore', 'pipe', 'pipe'] });
  const killAtExit = () => child.kill('SIGKILL');
  process.once('exit', killAtExit);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  const ready = new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      if (stderr.includes('ready\n')) resolve();
    });
    child.once('close', () => {
      reject(new Error(`the load generator ended before it was ready: ${stderr}`));
    });
  });
  // Only runs that hold connections say `ready`; for the others nobody waits for it.
  ready.catch(() => undefined);
  const finish = async (): Promise<LoadResult> => {
    await once(child, 'close');
    process.removeListener('exit', killAtExit);
    if (child.exitCode !== 0) throw new Error(`the load generator failed: ${stderr}`);
    return JSON.parse(stdout) as LoadResult;
  };
  const result = finish();
  return {
    ready,
    result,
    stop: async () => {
      child.kill('SIGTERM');
      return result;
    },
  };
}

export async function load(plan: Plan): Promise<LoadResult> {
  return startLoad(plan).result;
}
