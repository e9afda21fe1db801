// Rules by which cells of the fault benchmark are comparable: every server meets the same requests at the same moments, and the same number of
// the same faults. Pure. A run is planned by it, and the same rules say afterwards whether its figures may be published.

export const METHODS = ['GET', 'POST'] as const;
export type Method = (typeof METHODS)[number];
export type Counts = Record<Method, number>;

/** Requests that a published cell has at least: rarer failures would not show. */
export const REQUESTS_MIN = 10_000;
/** Kills and reloads that a published cell has at least. */
export const EVENTS_MIN: Partial<Record<string, number>> = { kills: 60, reload: 20 };
/** Share of the requests without a fault that a server has to answer: with less, the rate is beyond what it carries. */
const CARRIED_MIN = 0.99;
/** Time from the first arrival until the first fault. */
export const FIRST_AFTER_MS = 500;
/** Pause between cells until all workers serve again, by experience. */
const HEAL_S = 6;
const START_S = 4;

/** One cell, the same for every server. */
export interface CellPlan {
  fault: string;
  /** Number of times the fault is injected. */
  times: number;
  every_ms: number;
  rate_per_s: number;
  requests: number;
}

/** The fault that was injected at a moment, and the requests that failed by it. */
export interface FaultEvent {
  /** Milliseconds of the clock (Unix). */
  at_ms: number;
  failed: Counts;
}

/** One server's run of a plan. */
export interface Cell {
  fault: string;
  server: string;
  round: number;
  plan: CellPlan;
  /** CPU milliseconds that each request burns. */
  ms: number;
  events: FaultEvent[];
  /** Requests by method, whatever became of them. */
  offered: Counts;
  /** Everything but a whole answer with a status of 200 to 399. */
  failed: Counts;
  /** Failures before the first fault. */
  failed_before: Counts;
  /** Description of a failed injection; empty if all succeeded. */
  problem: string;
}

/** One request that failed; milliseconds of the clock. */
export interface Failure {
  method: Method;
  sent_ms: number;
  ended_ms: number;
}

export const none = (): Counts => ({ GET: 0, POST: 0 });
export const both = ({ GET, POST }: Counts): number => GET + POST;

/** Plans as many requests as arrive while the faults are injected, and at least `requests_min`. */
export function planOf(
  fault: string,
  times: number,
  every_ms: number,
  rate_per_s: number,
  requests_min: number,
): CellPlan {
  const span_ms = times === 0 ? 0 : FIRST_AFTER_MS + times * every_ms;
  const requests = Math.max(requests_min, Math.ceil((rate_per_s * span_ms) / 1_000));
  return { fault, times, every_ms, rate_per_s, requests };
}

/** Duration of all cells, one after the other, minutes. */
export function minutesOf(plans: CellPlan[], servers: number, rounds: number): number {
  const cells_s = plans.map(({ requests, rate_per_s }) => requests / rate_per_s + HEAL_S);
  return (servers * (START_S + HEAL_S + rounds * cells_s.reduce((total, each) => total + each, 0))) / 60;
}

/** Fault by which a request failed: the first during the request, else the last before it was sent. Undefined if none had come. */
export function faultOf({ sent_ms, ended_ms }: Failure, moments: number[]): number | undefined {
  const during = moments.findIndex((moment) => moment >= sent_ms && moment <= ended_ms);
  if (during >= 0) return during;
  const before = moments.findLastIndex((moment) => moment < sent_ms);
  return before < 0 ? undefined : before;
}

/** Gives each failure to a fault. The sum of all counts is the number of failures. */
export function byFault(
  failures: Failure[],
  moments: number[],
): Pick<Cell, 'events' | 'failed' | 'failed_before'> {
  const events = moments.map((at_ms) => ({ at_ms, failed: none() }));
  const [failed, failed_before] = [none(), none()];
  for (const failure of failures) {
    const at = faultOf(failure, moments);
    const counts = at === undefined ? failed_before : (events[at]?.failed ?? failed_before);
    counts[failure.method] += 1;
    failed[failure.method] += 1;
  }
  return { events, failed, failed_before };
}

/** All cells of a server with a fault, taken together. */
export interface Total {
  events: number;
  offered: Counts;
  failed: Counts;
  /** Failures for each fault; not a number where there was none. */
  per_event: Counts;
}

export function totalOf(cells: Pick<Cell, 'events' | 'offered' | 'failed'>[]): Total {
  const events = cells.reduce((total, cell) => total + cell.events.length, 0);
  const sum = (counts: (cell: (typeof cells)[number]) => Counts): Counts => ({
    GET: cells.reduce((total, cell) => total + counts(cell).GET, 0),
    POST: cells.reduce((total, cell) => total + counts(cell).POST, 0),
  });
  const [offered, failed] = [sum((cell) => cell.offered), sum((cell) => cell.failed)];
  return { events, offered, failed, per_event: { GET: failed.GET / events, POST: failed.POST / events } };
}

/** Reason for not publishing the cells side by side; empty if they may be published. */
export function unequal(cells: Cell[]): string[] {
  const servers = [...new Set(cells.map(({ server }) => server))];
  const groups = new Map<string, Cell[]>();
  for (const cell of cells) {
    const key = `${cell.fault}, round ${cell.round + 1}`;
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  return [
    ...(servers.length < 2 ? ['there are not two servers to compare'] : []),
    ...cells.flatMap(faultsOfCell),
    ...[...groups].flatMap(([name, group]) => differences(name, group, servers)),
  ];
}

function faultsOfCell(cell: Cell): string[] {
  const { fault, server, round, plan, events, offered, failed, problem } = cell;
  const name = `${fault}, round ${round + 1}, ${server}`;
  const events_min = EVENTS_MIN[fault] ?? 0;
  const answered = 1 - both(failed) / both(offered);
  return [
    ...(problem === '' ? [] : [`${name}: ${problem}`]),
    ...(events.length === plan.times
      ? []
      : [`${name}: ${events.length} faults instead of ${plan.times}; leave more time between them`]),
    ...(plan.times >= events_min ? [] : [`${name}: fewer than ${events_min} faults`]),
    ...(both(offered) === plan.requests
      ? []
      : [`${name}: ${both(offered)} requests instead of ${plan.requests}`]),
    ...(plan.requests >= REQUESTS_MIN ? [] : [`${name}: fewer than ${REQUESTS_MIN} requests`]),
    ...(fault === 'normal' && answered < CARRIED_MIN
      ? [`${name}: the server does not carry ${plan.rate_per_s} requests a second; lower --rate`]
      : []),
  ];
}

function differences(name: string, group: Cell[], servers: string[]): string[] {
  const [first] = group;
  if (first === undefined) return [];
  const missing = servers.filter((server) => group.filter((cell) => cell.server === server).length !== 1);
  const differs = (what: string, figure: (cell: Cell) => unknown): string[] => {
    const other = group.find((cell) => JSON.stringify(figure(cell)) !== JSON.stringify(figure(first)));
    if (other === undefined) return [];
    const [a, b] = [first, other].map((cell) => `${cell.server} ${JSON.stringify(figure(cell))}`);
    return [`${name}: unequal ${what}: ${a}, ${b}`];
  };
  return [
    ...missing.map((server) => `${name}: not one cell of ${server}`),
    ...differs('faults', ({ events }) => events.length),
    ...differs('intervals', ({ plan }) => plan.every_ms),
    ...differs('rates', ({ plan }) => plan.rate_per_s),
    ...differs('requests', ({ offered }) => offered),
    ...differs('work', ({ ms }) => ms),
  ];
}
