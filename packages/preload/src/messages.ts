/** The lines that cross the control channel. One JSON value per line, both ways. */

export interface Requested {
  readonly port: number | null;
  readonly host: string | null;
  readonly path: string | null;
}

/** How a request left the gate: its response ended, or it became a stream or a raw connection. */
export type Leaving = 'end' | 'stream' | 'upgrade' | 'abandoned';

export interface DoneRequest {
  readonly id: number;
  readonly cpu_us: number;
  readonly loop_ms_max: number;
  readonly left: Leaving;
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
}

export type ToGateway =
  | {
      readonly type: 'hello';
      readonly worker: number;
      readonly pid: number;
      readonly node: string;
      readonly preload: string;
    }
  | { readonly type: 'listening'; readonly requested: Requested }
  | { readonly type: 'closing' }
  | {
      readonly type: 'aux';
      readonly port: number | null;
      readonly host: string | null;
      readonly path: string | null;
      readonly socket: string;
    }
  | { readonly type: 'aux-closed'; readonly socket: string }
  | { readonly type: 'done'; readonly requests: readonly DoneRequest[] }
  | Beat
  /** The event loop turns. */
  | { readonly type: 'turn' }
  | { readonly type: 'idle' }
  | { readonly type: 'busy'; readonly id: number; readonly by: number }
  | { readonly type: 'hears-messages' }
  | { readonly type: 'send'; readonly message: unknown };

export interface FromGateway {
  readonly type: 'message';
  readonly message: unknown;
}

/** Undefined for a line that this version does not know, which is skipped so that the gateway may learn new ones. */
export function parseFromGateway(line: string): FromGateway | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (!('type' in value) || value.type !== 'message' || !('message' in value)) return undefined;
  return { type: 'message', message: value.message };
}
