// What the page knows: pure changes of it by what the gateway says.
import type { Columns, Costs, Frame, Hello, Mark, Point } from '../snapshot.js';
import type { Link } from './connection.js';

/** Lengths of spans that the gateway keeps, in seconds, and how many of each. */
export const SPANS = { 1: 300, 10: 360, 60: 720 } as const;
export type Span = keyof typeof SPANS;

/** Marks kept of each kind, so that workers that come and go do not evict a crash. */
const MARKS_MAX = 100;

export interface Model {
  link: Link;
  /** Reason of a refusal, in the gateway's words. */
  why: string;
  /** Time at which the gateway was heard last, by this machine's clock. */
  heardMs: number;
  epoch: number;
  frame: Frame | null;
  costs: Costs | null;
  marks: readonly Mark[];
  tokenFile: string | null;
  span: Span;
  points: readonly Point[];
  /** CPU time of each worker in the last second, in cores, by id. */
  workerCpu: ReadonlyMap<number, number>;
}

export const nothing: Model = {
  link: 'connecting',
  why: '',
  heardMs: 0,
  epoch: 0,
  frame: null,
  costs: null,
  marks: [],
  tokenFile: null,
  span: 1,
  points: [],
  workerCpu: new Map(),
};

export function greeted(model: Model, hello: Hello): Model {
  const isSame = hello.epoch === model.epoch;
  // Marks of another gateway keep their place in time; numbers of marks are each gateway's own.
  const kept = isSame ? model.marks : model.marks.map((mark) => ({ ...mark, id: -Math.abs(mark.id) }));
  return {
    ...model,
    epoch: hello.epoch,
    tokenFile: hello.token_file,
    marks: withMarks(kept, hello.marks),
    points: model.span === 1 && hello.resumed ? withPoints(model, hello.points) : model.points,
  };
}

export function framed(model: Model, frame: Frame, heardMs: number): Model {
  return {
    ...model,
    frame,
    heardMs,
    marks: withMarks(model.marks, frame.marks),
    points: model.span === 1 && frame.point.at_ms > 0 ? withPoints(model, [frame.point]) : model.points,
    workerCpu: workerCpu(model.frame, frame, model.workerCpu),
  };
}

/** The history of a span; what came meanwhile stays. */
export function filled(model: Model, columns: Columns): Model {
  if (columns.span_s !== model.span) return model;
  const points = pointsOf(columns);
  const last = points.at(-1)?.at_ms ?? 0;
  const first = points[0]?.at_ms ?? Infinity;
  // What the gateway before this one told is still known here.
  const before = model.points.filter((point) => point.at_ms < first);
  const after = model.span === 1 ? model.points.filter((point) => point.at_ms > last) : [];
  return { ...model, points: [...before, ...points, ...after].slice(-SPANS[model.span]) };
}

export function pointsOf(columns: Columns): Point[] {
  return columns.at_ms.map((at_ms, at) => ({
    at_ms,
    answered: columns.answered[at] ?? 0,
    refused: columns.refused[at] ?? 0,
    failed: columns.failed[at] ?? 0,
    queue_length: columns.queue_length[at] ?? 0,
    in_service: columns.in_service[at] ?? 0,
    workers: columns.workers[at] ?? 0,
    cpu: columns.cpu[at] ?? 0,
    gateway_cpu: columns.gateway_cpu[at] ?? 0,
    rss_bytes: columns.rss_bytes[at] ?? 0,
    queue_wait_ms: columns.queue_wait_ms[at] ?? null,
    service_time_ms: columns.service_time_ms[at] ?? null,
    runs: columns.runs[at] ?? [],
  }));
}

function withPoints(model: Model, more: readonly Point[]): readonly Point[] {
  const last = model.points.at(-1)?.at_ms ?? 0;
  return [...model.points, ...more.filter((point) => point.at_ms > last)].slice(-SPANS[model.span]);
}

function withMarks(marks: readonly Mark[], more: readonly Mark[]): readonly Mark[] {
  const known = new Set(marks.map((mark) => mark.id));
  const fresh = more.filter((mark) => !known.has(mark.id));
  if (fresh.length === 0) return marks;
  const counts = new Map<string, number>();
  const isKept = ({ kind }: Mark): boolean => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= MARKS_MAX;
  };
  return [...marks, ...fresh].toReversed().filter(isKept).toReversed();
}

function workerCpu(
  before: Frame | null,
  now: Frame,
  last: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const elapsedMs = before === null ? 0 : now.now_ms - before.now_ms;
  if (before === null || elapsedMs < 500) return last;
  const used = new Map(before.status.workers.map((worker) => [worker.id, worker.cpu_ms_total]));
  const cores = new Map<number, number>();
  for (const { id, cpu_ms_total: total } of now.status.workers) {
    const earlier = used.get(id);
    if (typeof total === 'number' && typeof earlier === 'number') {
      cores.set(id, Math.max(0, total - earlier) / elapsedMs);
    }
  }
  return cores;
}

/** The first event of a costs message. */
export function priced(model: Model, costs: Costs): Model {
  return { ...model, costs };
}
