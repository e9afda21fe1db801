// Asks an app for whole answers and for mistakes at the same time, and looks into every byte that comes back for bytes of
// others. Each request has a canary of its own and its answer repeats nothing else (`apps/lib/mistakes.js`), so that a byte
// which does not fit its own request's canary belongs to another.
import { randomFrom } from './chance.ts';
import { type Came, Line, type Question } from './line.ts';
import { type Mistake, mistakes as allMistakes } from './mistakes.ts';

export interface ChaosPlan {
  readonly port: number;
  /** Answers to whole requests and to mistakes together; those that were given up are not counted. */
  readonly answers: number;
  /** Ends earlier. */
  readonly duration_ms_max: number;
  /** Kept connections of those who ask for whole answers. */
  readonly innocents: number;
  /** Clients that ask for mistakes, each time on a new connection. */
  readonly faulty: number;
  readonly mistakes?: readonly Mistake[];
  /** Part of all requests that are given up within 20 ms, half of them with a reset. */
  readonly aborts: number;
  readonly seed: number;
  /** Called now and then with the answers so far. */
  onProgress?(tally: Tally): void;
}

/** End of a request: `whole`, `cut`, `gone` (closed without a byte), `timeout`, or the gateway's error code. */
export type Kind = string;

export interface Tally {
  answers: number;
  givenUp: number;
  /** Answers with another request's canary in them. */
  others: number;
  /** Answers with bytes that are nobody's own, such as a part of a canary. */
  strange: number;
  innocents: Record<Kind, number>;
  faulty: Record<Kind, number>;
  /** The first answers of `others` and `strange`: who asked, what came. */
  examples: string[];
}

const INNOCENT_TIMEOUT_MS = 10_000;
/** Some mistakes are never answered. */
const FAULTY_TIMEOUT_MS = 1_500;
const ABORT_MS_MAX = 20;
const EXAMPLES_MAX = 5;
const PROGRESS_EVERY = 10_000;
const canaries = /canary-[0-9a-f]{16}/g;

export async function runChaos(plan: ChaosPlan): Promise<Tally> {
  const chaos = new Chaos(plan);
  await Promise.all([
    ...Array.from({ length: plan.innocents }, () => chaos.innocentLane()),
    ...Array.from({ length: plan.faulty }, () => chaos.faultyLane()),
  ]);
  return chaos.tally;
}

/** Answers of innocents that were neither whole nor refused for want of a worker. */
export function spoiled(tally: Tally): Record<Kind, number> {
  const isFine = (kind: string) => kind === 'whole' || kind.startsWith('503 ');
  return Object.fromEntries(Object.entries(tally.innocents).filter(([kind]) => !isFine(kind)));
}

interface Asked extends Question {
  readonly canary: string;
  readonly what: string;
  /** The whole body; the app may send anything of its canary where it is not said. */
  readonly body?: string;
}

class Chaos {
  readonly tally: Tally = {
    answers: 0,
    givenUp: 0,
    others: 0,
    strange: 0,
    innocents: {},
    faulty: {},
    examples: [],
  };
  readonly #plan: ChaosPlan;
  readonly #random: () => number;
  readonly #until_ms: number;
  readonly #mistakes: readonly Mistake[];
  readonly #weights: number;

  constructor(plan: ChaosPlan) {
    this.#plan = plan;
    const random = randomFrom(plan.seed);
    this.#random = () => random(2 ** 32) / 2 ** 32;
    this.#until_ms = performance.now() + plan.duration_ms_max;
    this.#mistakes = plan.mistakes ?? allMistakes;
    this.#weights = this.#mistakes.reduce((sum, { weight }) => sum + weight, 0);
  }

  async innocentLane(): Promise<void> {
    let line: Line | undefined;
    while (this.#goesOn()) {
      const asked = this.#innocent();
      line ??= await Line.open(this.#plan.port);
      const came = await line.ask(asked, INNOCENT_TIMEOUT_MS, this.#abortAfter());
      this.#judge(asked, came, this.tally.innocents);
      if (!came.isKept) {
        line.close();
        line = undefined;
      }
    }
    line?.close();
  }

  async faultyLane(): Promise<void> {
    while (this.#goesOn()) {
      const asked = this.#mistake();
      const line = await Line.open(this.#plan.port);
      const came = await line.ask(asked, FAULTY_TIMEOUT_MS, this.#abortAfter());
      this.#judge(asked, came, this.tally.faulty);
      line.close();
    }
  }

  #goesOn(): boolean {
    return this.tally.answers < this.#plan.answers && performance.now() < this.#until_ms;
  }

  #abortAfter(): number | undefined {
    return this.#random() < this.#plan.aborts ? this.#random() * ABORT_MS_MAX : undefined;
  }

  #innocent(): Asked {
    const canary = this.#canary();
    const chance = this.#random();
    const bytes = Math.floor(chance < 0.02 ? 300_000 * this.#random() : 2_000 * this.#random());
    const query = `canary=${canary}&bytes=${bytes}`;
    const body = ownBytes(canary, bytes);
    if (chance < 0.1) {
      const head = `POST /whole/posted?${query} HTTP/1.1\r\nHost: app\r\nContent-Length: ${bytes}\r\n\r\n`;
      return { canary, bytes: head + body, isHead: false, what: 'POST /whole/posted', body };
    }
    const path = chance < 0.3 ? '/whole/chunked' : '/whole/length';
    const isHead = chance > 0.97;
    return {
      canary,
      bytes: `${isHead ? 'HEAD' : 'GET'} ${path}?${query} HTTP/1.1\r\nHost: app\r\n\r\n`,
      isHead,
      what: `${isHead ? 'HEAD' : 'GET'} ${path}`,
      body: isHead ? '' : body,
    };
  }

  #mistake(): Asked {
    const canary = this.#canary();
    const { name, method = 'GET', bodyBytes = 0, isUpgrade = false, gaps_ms = [4] } = this.#pickMistake();
    const gap_ms = gaps_ms[Math.floor(this.#random() * gaps_ms.length)];
    const bytes = 50 + Math.floor(this.#random() * 1_000);
    const target = `/mistake/${name}?canary=${canary}&bytes=${bytes}&gap_ms=${gap_ms}`;
    const upgrade = isUpgrade ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : '';
    const length = bodyBytes > 0 ? `Content-Length: ${bodyBytes}\r\n` : '';
    return {
      canary,
      bytes: `${method} ${target} HTTP/1.1\r\nHost: app\r\n${upgrade}${length}\r\n${ownBytes(canary, bodyBytes)}`,
      isHead: method === 'HEAD',
      what: `${method} ${target}`,
    };
  }

  #pickMistake(): Mistake {
    let left = this.#random() * this.#weights;
    const picked = this.#mistakes.find(({ weight }) => (left -= weight) < 0);
    const last = this.#mistakes.at(-1);
    if (last === undefined) throw new Error('there is no mistake to ask for');
    return picked ?? last;
  }

  #canary(): string {
    const half = () =>
      Math.floor(this.#random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0');
    return `canary-${half()}${half()}`;
  }

  #judge(asked: Asked, came: Came, kinds: Record<Kind, number>): void {
    const { tally } = this;
    const others = new Set([...came.received.matchAll(canaries)].map(([found]) => found));
    others.delete(asked.canary);
    const isStrange = others.size === 0 && !isOwn(asked, came);
    if (others.size > 0) tally.others += 1;
    else if (isStrange) tally.strange += 1;
    if ((others.size > 0 || isStrange) && tally.examples.length < EXAMPLES_MAX) {
      tally.examples.push(
        `${asked.what} as ${asked.canary} got ${JSON.stringify(came.received.slice(0, 400))}`,
      );
    }
    if (came.isGivenUp) {
      tally.givenUp += 1;
      return;
    }
    const kind =
      others.size > 0 ? 'with bytes of others' : isStrange ? 'with bytes of nobody' : kindOf(asked, came);
    kinds[kind] = (kinds[kind] ?? 0) + 1;
    tally.answers += 1;
    if (tally.answers % PROGRESS_EVERY === 0) this.#plan.onProgress?.(tally);
  }
}

function kindOf(asked: Asked, { answer, received, isTimeout }: Came): Kind {
  const code = answer?.headers.get('x-sluice-error');
  if (code !== undefined && answer !== undefined) return `${answer.status} ${code}`;
  if (answer?.isWhole === true && (asked.body === undefined || answer.body === asked.body)) return 'whole';
  if (isTimeout) return 'timeout';
  return received === '' ? 'gone' : 'cut';
}

/** Whether all of a body is its own canary, over and over, from wherever on. The gateway's own answers carry none. */
function isOwn(asked: Asked, { answer, received }: Came): boolean {
  if (answer === undefined) return received === '' || /^H(T(T(P(\/|$)|$)|$)|$)/.test(received);
  if (answer.headers.has('x-sluice-error')) return true;
  if (answer.status === 101) return isRepeated(asked.canary, answer.body);
  const head = answer.headers.get('x-canary');
  if (head !== undefined && head !== asked.canary) return false;
  if (answer.rest !== '') return false;
  if (asked.body !== undefined && answer.isWhole) return answer.body === asked.body && answer.status === 200;
  return isRepeated(asked.canary, answer.body);
}

function isRepeated(canary: string, body: string): boolean {
  if (body === '') return true;
  const unit = unitOf(canary);
  // Some mistakes repeat the canary without what is between.
  const pieces = body.split(unit).flatMap((piece) => piece.split(canary));
  return pieces.every((piece) => piece === '' || unit.includes(piece) || (unit + unit).includes(piece));
}

const unitOf = (canary: string): string => Buffer.from(`${canary}é;`).toString('latin1');

function ownBytes(canary: string, bytes: number): string {
  const unit = unitOf(canary);
  return unit.repeat(Math.ceil(bytes / unit.length)).slice(0, bytes);
}
