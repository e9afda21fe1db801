/** Counts of what a page asked for, got and read, and of what clients asked for over the network. It must not know how either is sent. */
import type { Answer, DataSource, Envelope, JsonGraph, PathSet } from '../types.js';
import { graphHost, type GraphHost, type PathReport } from './host.js';
import { CLIENTS, eachPattern, eachValue, type Pattern } from './patterns.js';
import { withGet } from './with-get.js';

/** Number of answers of one page whose values are counted. */
const ANSWERS_MAX = 32;
const HELD = /^\d{1,4}(?:,\d{1,4}){0,999}$/u;

type Counts = { -readonly [Name in keyof Omit<PathReport, 'path'>]: number };

/** Counts by pattern. */
class Rows {
  readonly #rows = new Map<Pattern, Counts>();

  of(pattern: Pattern): Counts {
    let row = this.#rows.get(pattern);
    if (row === undefined) {
      row = { asked: 0, fetched: 0, brought: 0, unread: 0, again: 0 };
      this.#rows.set(pattern, row);
    }
    return row;
  }

  report(): PathReport[] {
    return Array.from(this.#rows, ([{ text }, counts]) => ({ path: text, ...counts }));
  }
}

/** Counts of one page. */
export class PageUse {
  readonly #host: GraphHost;
  readonly #rows = new Rows();
  readonly #answers: { readonly request: number; readonly graph: JsonGraph }[] = [];
  #requests = 0;
  #isTold = false;

  constructor(host: GraphHost) {
    this.#host = host;
  }

  /** Data source that counts what is asked of the given one. */
  watched(source: DataSource): DataSource {
    return withGet(source, (paths, options) => {
      this.#requests += 1;
      for (const path of paths)
        eachPattern(path, (pattern, count) => (this.#rows.of(pattern).asked += count));
      return this.#noted(this.#requests, source.get(paths, options));
    });
  }

  #noted(request: number, answer: Answer): Answer {
    if (Symbol.asyncIterator in answer) return this.#parts(request, answer);
    return answer.then((envelope) => this.#note(request, envelope));
  }

  async *#parts(request: number, answer: AsyncIterable<Envelope>): AsyncGenerator<Envelope> {
    for await (const envelope of answer) yield this.#note(request, envelope);
  }

  #note(request: number, envelope: Envelope): Envelope {
    const graph = (envelope as Partial<Envelope> | undefined)?.jsonGraph;
    // What is no graph is the model's to refuse.
    if (typeof graph === 'object' && this.#answers.length < ANSWERS_MAX && !this.#isTold)
      this.#answers.push({ request, graph });
    return envelope;
  }

  /** Tells of the page, once. `state` has the values that components have asked for. */
  tell(state: JsonGraph): void {
    if (this.#isTold) return;
    this.#isTold = true;
    for (const [at, { request, graph }] of this.#answers.entries()) {
      const before = this.#answers.slice(0, at);
      eachValue(graph, [state, ...before.map((one) => one.graph)], (pattern, [isRead, ...came]) => {
        const row = this.#rows.of(pattern);
        if (!came.includes(true)) {
          row.brought += 1;
          if (isRead !== true) row.unread += 1;
          // The parts of one answer repeat the references that lead to their values.
        } else if (before.some((one, which) => came[which] === true && one.request !== request))
          row.again += 1;
      });
    }
    this.#answers.length = 0;
    this.#host.used({ pages: 1, requests: this.#requests, fetches: 0, paths: this.#rows.report() });
  }
}

/** Counts of a new page; undefined where nobody wants to know. */
export function pageUse(): PageUse | undefined {
  const host = graphHost();
  return host === undefined ? undefined : new PageUse(host);
}

/** Counts a request of a client, which was answered. `held` is the text of the header. */
export function tellFetch(paths: readonly PathSet[], held: string | undefined): void {
  const host = graphHost();
  if (host === undefined) return;
  const rows = new Rows();
  // A client may send anything: a place counts once, and only one that there is.
  const places = new Set(held !== undefined && HELD.test(held) ? held.split(',').map(Number) : []);
  for (const [at, path] of paths.entries())
    eachPattern(
      path,
      (pattern, count) => {
        const row = rows.of(pattern);
        row.fetched += count;
        if (places.has(at)) row.again += count;
      },
      CLIENTS,
    );
  host.used({ pages: 0, requests: 0, fetches: 1, paths: rows.report() });
}
