/** The lines that cross the control channel. One JSON value per line, both ways. */
import type { Profile } from './profile.js';

export interface Requested {
  readonly port: number | null;
  readonly host: string | null;
  readonly path: string | null;
}

/** How a request left the gate: its response ended, it became a stream or a raw connection, or the app waits with its answer. */
export type Leaving = 'end' | 'stream' | 'upgrade' | 'wait' | 'abandoned';

export interface DoneRequest {
  readonly id: number;
  readonly cpu_us: number;
  /** Others shared the worker and their CPU time is in it: what the request used itself is not known. */
  readonly shared?: true;
  readonly left: Leaving;
  /** The template of the app's router, once for each. */
  readonly route?: string;
}

export interface Beat {
  readonly type: 'beat';
  readonly rss_bytes: number;
  readonly heap_used_bytes: number;
  readonly heap_total_bytes: number;
  readonly external_bytes: number;
  readonly elu: number;
  readonly loop_delay_ms_max: number;
  readonly overlaps_total: number;
  readonly cpu_us_total: number;
  /** Of the CPU time in the latest window in which requests shared the worker: the collector's part, and nobody's. */
  readonly gc_share?: number;
  readonly lost_share?: number;
}

/** React renders of the process so far, and those of them that were left to react-dom, by why. */
export interface ReactCounts {
  readonly renders: number;
  readonly reasons: Readonly<Record<string, number>>;
}

export type ToGateway =
  | {
      readonly type: 'hello';
      readonly worker: number;
      readonly pid: number;
      readonly node: string;
      readonly preload: string;
      /** Whether heads of responses carry the tokens of their requests. */
      readonly marks: boolean;
      /** Whether requests may be handed over ahead of time: the pipe for their numbers is open. */
      readonly takes_ahead: boolean;
    }
  | {
      readonly type: 'listening';
      readonly requested: Requested;
      /** It is an HTTPS server, to which the gateway talks in clear. */
      readonly tls: boolean;
      /** How long it was waited for a server on another port, in vain; null where this one was meant. */
      readonly waited_ms: number | null;
      /** Servers of the app that might have been meant as well. */
      readonly others: readonly Requested[];
    }
  | { readonly type: 'closing' }
  | {
      readonly type: 'aux';
      readonly port: number | null;
      readonly host: string | null;
      readonly path: string | null;
      readonly socket: string;
      /** Connections there begin with whose they are (`preface.ts`). */
      readonly preface: true;
    }
  | { readonly type: 'aux-closed'; readonly socket: string }
  | { readonly type: 'done'; readonly requests: readonly DoneRequest[] }
  | Beat
  /** The event loop turns. */
  | { readonly type: 'turn' }
  | ({ readonly type: 'react' } & ReactCounts)
  /** React is to be rendered by `@sluice/react` and is not: why. */
  | { readonly type: 'react-off'; readonly why: string }
  | { readonly type: 'profiled'; readonly profile: Profile }
  | { readonly type: 'profiled'; readonly error: string }
  | { readonly type: 'idle' }
  | { readonly type: 'busy'; readonly id: number; readonly by: number }
  /** A response was longer than it announced, by so many bytes, which were cut; and so many before it, untold. */
  | {
      readonly type: 'overlong';
      readonly request: string;
      readonly method: string;
      readonly target: string;
      readonly bytes: number;
      readonly more: number;
    }
  /** The app writes to connections itself, past its responses. So many bytes of that were dropped. */
  | { readonly type: 'raw'; readonly dropped_bytes: number }
  /** The app puts global state back between requests (`onReset`), so it holds one at a time. */
  | { readonly type: 'resets' }
  /** Whether all that the app holds waits; the time that it has run by then, and for which its event loop was active. */
  | { readonly type: 'look'; readonly rests: boolean; readonly run_us: number; readonly active_us: number }
  | { readonly type: 'hears-messages' }
  | { readonly type: 'send'; readonly message: unknown };

export type FromGateway =
  | { readonly type: 'message'; readonly message: unknown }
  /** Say whether all that the app holds waits. */
  | { readonly type: 'look' }
  /** Take a CPU profile for so long, and write the whole of it to this file. */
  | { readonly type: 'profile'; readonly duration_ms: number; readonly file: string };

/** Undefined for a line that this version does not know, which is skipped so that the gateway may learn new ones. */
export function parseFromGateway(line: string): FromGateway | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  if (value.type === 'message' && 'message' in value) return { type: 'message', message: value.message };
  if (value.type === 'look') return { type: 'look' };
  if (value.type !== 'profile' || !('duration_ms' in value) || !('file' in value)) return undefined;
  const { duration_ms, file } = value;
  if (typeof duration_ms !== 'number' || typeof file !== 'string') return undefined;
  return { type: 'profile', duration_ms, file };
}
