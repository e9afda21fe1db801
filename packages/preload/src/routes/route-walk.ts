/**
 * Way of a request through a table that is searched in order: how many matchers are tried before a route, and which earlier entry
 * ends the request. Judged by paths that fit the route, with the router's own matchers; pure otherwise.
 */

export type Handler = (...parts: never[]) => unknown;

export interface Step {
  readonly kind: 'route' | 'middleware' | 'mount' | 'error';
  /** Upper case; empty for all. */
  readonly methods: readonly string[];
  /** Path as it was registered, with what it is mounted at. */
  readonly path: string;
  /** The same as templates that paths can be made of; empty where that is not possible. */
  readonly templates: readonly string[];
  readonly handlers: readonly Handler[];
  /** Parameter of a handler that passes the request on, by its position. */
  readonly next: number;
  /** Returns what is left of a path for what is mounted here; undefined if the path does not fit. */
  readonly match: (path: string) => string | undefined;
  readonly below?: readonly Step[];
}

export interface Verdict {
  /** Matchers that are tried until this one has matched. */
  readonly tests: number;
  /** The earlier entry that every path of it meets first. */
  readonly caughtBy: Step | undefined;
  /** True if that one cannot pass a request on. Otherwise it may. */
  readonly isCertain: boolean;
}

export interface Meeting {
  isReached: boolean;
  tests: number;
  certain: Step | undefined;
  possible: Step | undefined;
}

/** Maximum number of tried paths per route. */
const SAMPLES_MAX = 6;
/** Maximum number of possible paths of a route, from which the tried ones are chosen. */
const CANDIDATES_MAX = 40;

/** Values of parameters: words, numbers, mixed case with punctuation, ids and encoded letters. */
const VALUES = [
  'sluice-7a',
  '7',
  'Ab_c.d',
  '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  'caf%C3%A9',
  'en',
  '2026-11-23',
  'x/y',
];

/** Undefined where no path of the route could be made. */
export function judge(steps: readonly Step[], target: Step): Verdict | undefined {
  let first: Meeting | undefined;
  let [isAlwaysCertain, isAlwaysCaught, samples] = [true, true, 0];
  const methods = target.methods.length === 0 ? ['GET'] : target.methods;
  for (const path of target.templates.flatMap(samplesOf)) {
    const meetings = methods.map((method) => meet(steps, path, method, target));
    if (!meetings.every(({ isReached }) => isReached)) continue;
    first ??= meetings[0];
    isAlwaysCertain &&= meetings.every(({ certain }) => certain !== undefined);
    isAlwaysCaught &&= meetings.every(({ certain, possible }) => (certain ?? possible) !== undefined);
    samples += 1;
    // One path that meets nothing else on its way is enough.
    if (samples >= SAMPLES_MAX || !isAlwaysCaught) break;
  }
  if (first === undefined) return undefined;
  const caughtBy = isAlwaysCertain
    ? first.certain
    : isAlwaysCaught
      ? (first.possible ?? first.certain)
      : undefined;
  return { tests: first.tests, caughtBy, isCertain: isAlwaysCertain };
}

/** Follows a path to the target, or to the end. */
export function meet(
  steps: readonly Step[],
  path: string,
  method: string,
  target: Step | undefined,
): Meeting {
  const meeting: Meeting = { isReached: false, tests: 0, certain: undefined, possible: undefined };
  meeting.isReached = reaches(steps, path, method, target, meeting);
  return meeting;
}

function reaches(
  steps: readonly Step[],
  path: string,
  method: string,
  target: Step | undefined,
  meeting: Meeting,
): boolean {
  for (const step of steps) {
    meeting.tests += 1;
    const rest = step.match(path);
    if (step === target) return rest !== undefined;
    if (rest === undefined || step.kind === 'error' || !handles(step, method)) continue;
    if (step.below !== undefined) {
      if (reaches(step.below, rest, method, target, meeting)) return true;
    } else if (endsRequests(step)) {
      meeting.certain ??= step;
    } else if (isFinal(step, target)) {
      meeting.possible ??= step;
    }
  }
  return false;
}

/** Handlers for all methods, or everything below a path, are there to pass requests on, and so are those of one route in turn. */
function isFinal({ kind, methods, path }: Step, target: Step | undefined): boolean {
  return kind === 'route' && methods.length > 0 && !path.includes('*') && path !== target?.path;
}

function handles({ methods }: Step, method: string): boolean {
  if (methods.length === 0 || methods.includes(method)) return true;
  return method === 'HEAD' && methods.includes('GET');
}

/** Whether its last handler cannot pass a request on. */
export function endsRequests({ handlers, next }: Step): boolean {
  const last = handlers.at(-1);
  return last !== undefined && !mayPassOn(last, next);
}

/** Whether a handler has the parameter at position `next` that passes a request on. */
export function mayPassOn(handler: Handler, next: number): boolean {
  if (handler.length > next) return true;
  const source = Function.prototype.toString.call(handler);
  // One that takes what there is, or is bound, may have it nevertheless.
  return /\.\.\.|\barguments\b|\[native code\]/.test(source);
}

/** Paths that may fit a template of any of the routers; which of them do, the router's matcher says. */
export function samplesOf(template: string): string[] {
  const groups = /(?<!:\w*)\{([^{}]*)\}/g;
  const whole = template.replace(groups, '$1');
  const variants = new Set([whole, template.replace(groups, '')]);
  const samples = new Set<string>();
  for (const variant of variants) {
    for (const keepsOptional of [true, false]) {
      for (const value of VALUES) {
        samples.add(filled(variant, value, keepsOptional));
        if (samples.size >= CANDIDATES_MAX) return [...samples];
      }
    }
  }
  return [...samples];
}

function filled(template: string, value: string, keepsOptional: boolean): string {
  const parameter = /\/?:\w+(\((?:\\.|[^()\\])*\)|\{[^{}]*\})?([?*+])?/g;
  const path = template.replace(parameter, (found: string, bound?: string, sign?: string) => {
    if ((sign === '?' || sign === '*') && !keepsOptional) return '';
    const words = bound === undefined ? null : /^[({](\w+(?:\|\w+)*)[)}]$/.exec(bound);
    const word = words?.[1]?.split('|')[0] ?? value;
    return `${found.startsWith('/') ? '/' : ''}${word}`;
  });
  const open = path.replace(/\(\.\*\)|\*\w*/g, keepsOptional ? value : '');
  return open.startsWith('/') ? open : `/${open}`;
}
