/** Receiver of counts, which Sluice's preload offers to workers. Without Sluice there is none, and nothing is counted. It must not know Sluice. */

/** Counts of the calls of one route. Absent counts are 0. */
export interface RouteReport {
  /** Text of the route; `(unhandled)` for paths that no route matches. */
  readonly route: string;
  readonly method: string;
  readonly calls?: number;
  /** Single paths that the calls were for. */
  readonly paths?: number;
  /** Time from the calls to their results, ms. */
  readonly ms?: number;
  readonly failures?: number;
  /** Calls some of whose paths `authorize` denied. */
  readonly denied?: number;
  /** Single paths that got no value. */
  readonly unanswered?: number;
  /** Name and message of what the latest failed call threw. */
  readonly error?: string;
}

/** Counts of paths of one pattern. */
export interface PathReport {
  /** Keys of a path with integers as `{integers}`, and keys that no route names as `{keys}`. */
  readonly path: string;
  /** Single paths that pages asked their sources for. */
  readonly asked: number;
  /** Single paths that clients asked for over the network. */
  readonly fetched: number;
  /** Values that came into pages. */
  readonly brought: number;
  /** Values among them that no component asked for. */
  readonly unread: number;
  /** Values that came once more: with a later answer of the same page, or over the network though the page's state had them. */
  readonly again: number;
}

/** Counts of one page, or of one request over the network. */
export interface UseReport {
  readonly pages: number;
  /** Requests of pages to their sources. */
  readonly requests: number;
  /** Requests of clients over the network. */
  readonly fetches: number;
  readonly paths: readonly PathReport[];
}

/** Receiver of reports. None of its functions throws. */
export interface GraphHost {
  called(report: RouteReport): void;
  used(report: UseReport): void;
}

/** Symbol of the host. The number changes with its shape. */
const HOST = Symbol.for('sluice.graph.1');

/** The host, or undefined outside Sluice. */
export function graphHost(): GraphHost | undefined {
  return (globalThis as { readonly [HOST]?: GraphHost })[HOST];
}

const ERROR_CHARACTERS_MAX = 300;

/** First line of an error with its name, or its code. Never throws, whatever was thrown. */
export function errorText(error: unknown): string {
  try {
    if (!(error instanceof Error)) return firstLine(String(error));
    const { code, name } = error as { readonly code?: unknown; readonly name: string };
    return firstLine(`${typeof code === 'string' ? code : name}: ${error.message}`);
  } catch {
    return 'an error without a text';
  }
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] as string).slice(0, ERROR_CHARACTERS_MAX);
}
