/**
 * The answer to `sluice routes`: every table with what is wrong with it. Loaded when somebody asks. The worker serves meanwhile, so
 * the work is done in pieces of a few milliseconds.
 */
import { performance } from 'node:perf_hooks';
import { type CallSite, written } from './call-site.js';
import { writeWhole } from '../profiles/inspector-session.js';
import type { ProfileRecord } from '../control/messages.js';
import { cpuUs } from '../cpu/own-cpu.js';
import { type Pause, pauses } from '../profiles/pauses.js';
import { type Entry, type Listed, listTables } from './route-list.js';
import { flat, repeats } from './route-repeats.js';
import { placesOf, searchRouters } from './route-search.js';
import type { Routers } from './routers.js';
import type { RouteTables } from './route-tables.js';
import { type Handler, judge, meet } from './route-walk.js';
import { now_ms } from '../timers.js';

/** Maximum number of reported tables. */
const TABLES_MAX = 50;
/** Maximum number of reported entries of all tables. */
const ENTRIES_MAX = 10_000;
/** Maximum number of checked routes. */
const JUDGED_MAX = 2000;
/** Time limit for checking routes. */
const JUDGING_MS_MAX = 10_000;
/** Rounds of which the shortest counts. */
const ROUNDS = 3;
/** Tests of each matcher before them: V8 compiles an expression at the first, and once more at the second. */
const WARM_UP_TESTS = 2;
/** Maximum number of handlers whose position is searched because their registration was not observed. */
const SITES_MAX = 2000;
/** A path that hardly any app has a route for. */
const NO_ROUTE = '/~sluice/no/such/path';
/** Maximum reported length of a path or a handler's name, characters. */
const TEXT_CHARACTERS_MAX = 300;

export interface RouteReport {
  /** Position from 1, in the order in which a request meets them; mounted ones come after what they are mounted in. */
  readonly position: number;
  readonly kind: Entry['kind'];
  /** Empty for all. */
  readonly methods: readonly string[];
  readonly path: string;
  /** The last handler's name. */
  readonly handler: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The place is where its handler is written: nobody saw where it was registered. */
  readonly of_handler?: boolean;
  /** True if it came while the worker served. */
  readonly added: boolean;
  /** The entry that it repeats. */
  readonly repeats?: number;
  /** The earlier entry that a request for it meets first, and whether that one cannot pass it on. */
  readonly behind?: number;
  readonly certain?: boolean;
  /** Matchers that are tried before its handler runs, and how long that takes at the mean of the table. */
  readonly tests?: number;
  readonly look_up_us?: number;
}

export interface TableReport {
  readonly framework: Listed['framework'];
  readonly look_up: Listed['lookUp'];
  readonly entries: number;
  /** Entries that came while the worker served and are still there. */
  readonly added: number;
  /** Matchers that a path without a route costs, and how long that took. */
  readonly tests_max?: number;
  readonly look_up_us_max?: number;
  readonly routes: readonly RouteReport[];
  /** Entries that are not in the list. */
  readonly left_off: number;
  /** Routes whose way could not be judged: there were too many, or no path could be made of them. */
  readonly not_judged: number;
}

export interface RoutesReport {
  readonly tables: readonly TableReport[];
  /** Entries and routers that the worker has no room to remember, and tables that are not told. */
  readonly left_off: number;
}

/** Rejects when `signal` says so, and where the file cannot be written. */
export async function reportRoutes(
  routers: Routers,
  file: string,
  signal: AbortSignal,
): Promise<ProfileRecord> {
  const [began_ms, usedBefore_us] = [now_ms(), cpuUs()];
  writeWhole(file, JSON.stringify(await report(routers.load().tables, signal, routers.listeners())));
  return {
    duration_ms: now_ms() - began_ms,
    used_ms: (cpuUs() - usedBefore_us) / 1000,
    renders: 0,
    node: process.execPath,
  };
}

/** `listeners`: what the app does with requests, which is searched where no router was seen. */
export async function report(
  tables: RouteTables,
  signal: AbortSignal,
  listeners: readonly object[] = [],
): Promise<RoutesReport> {
  const pause = pauses(signal);
  if (tables.tables().length === 0) {
    for (const { framework, router, entries } of await searchRouters(listeners, pause))
      tables.take(framework, router, entries);
  }
  const { listed, left_off } = listTables(tables);
  const room = { entries: ENTRIES_MAX, judged: JUDGED_MAX, end_ms: now_ms() + JUDGING_MS_MAX };
  const told: TableReport[] = [];
  for (const one of listed.slice(0, TABLES_MAX)) told.push(await tableReport(one, room, pause));
  return { tables: told, left_off: tables.left_off + left_off + Math.max(listed.length - TABLES_MAX, 0) };
}

interface Cost {
  readonly tests: number;
  readonly us: number;
}

interface Room {
  entries: number;
  judged: number;
  readonly end_ms: number;
}

async function tableReport(listed: Listed, room: Room, pause: Pause): Promise<TableReport> {
  const { framework, lookUp, steps } = listed;
  const entries = flat(steps);
  const positions = new Map(entries.map((entry, at) => [entry, at + 1]));
  const repeated = repeats(entries, framework);
  const told = entries.slice(0, room.entries);
  room.entries -= told.length;
  const routes: RouteReport[] = [];
  const sites = await handlerSites(told, pause);
  const whole = lookUp === 'tree' ? undefined : await wholeCost(steps, entries, pause);
  let not_judged = 0;
  for (const [at, entry] of told.entries()) {
    const first = repeated.get(entry);
    const isJudged = framework !== 'fastify' && entry.kind === 'route';
    let way: Partial<RouteReport> | undefined = {};
    if (isJudged)
      way = room.judged > 0 && now_ms() < room.end_ms ? wayTo(listed, entry, positions, whole) : undefined;
    if (isJudged) room.judged -= 1;
    if (way === undefined) not_judged += 1;
    const site = entry.note?.site ?? sites.get(entry);
    routes.push({
      position: at + 1,
      kind: entry.kind,
      methods: entry.methods,
      path: cut(entry.path),
      handler: nameOf(entry.handlers.at(-1)),
      ...(site && written(site)),
      ...(sites.has(entry) && { of_handler: true }),
      added: entry.note?.isAdded === true,
      ...(first !== undefined && { repeats: positions.get(first) ?? 0 }),
      ...way,
    });
    await pause();
  }
  return {
    framework,
    look_up: lookUp,
    entries: entries.length,
    added: entries.filter(({ note }) => note?.isAdded === true).length,
    ...(whole !== undefined && { tests_max: whole.tests, look_up_us_max: rounded(whole.us) }),
    routes,
    left_off: entries.length - told.length,
    not_judged,
  };
}

async function handlerSites(entries: readonly Entry[], pause: Pause): Promise<Map<Entry, CallSite>> {
  const unknown = entries.filter(({ note, handlers }) => note?.site === undefined && handlers.length > 0);
  const asked = unknown.slice(0, SITES_MAX);
  const sites = await placesOf(
    asked.map(({ handlers }) => handlers.at(-1) ?? noHandler),
    pause,
  );
  return new Map(asked.flatMap((entry, at) => (sites[at] === undefined ? [] : [[entry, sites[at]]])));
}

function noHandler(): void {}

function wayTo(
  { lookUp, steps }: Listed,
  entry: Entry,
  positions: ReadonlyMap<unknown, number>,
  whole: Cost | undefined,
): Partial<RouteReport> | undefined {
  const verdict = judge(steps, entry);
  if (verdict === undefined) return undefined;
  const { caughtBy, isCertain } = verdict;
  const behind = caughtBy === undefined ? {} : { behind: positions.get(caughtBy) ?? 0, certain: isCertain };
  if (whole === undefined) return behind;
  const tests = lookUp === 'all' ? whole.tests : verdict.tests;
  return { ...behind, tests, look_up_us: rounded((whole.us / whole.tests) * tests) };
}

/**
 * Measures the cost of a path without a route. The shortest of several rounds counts, as other work of the machine only
 * adds to it.
 */
async function wholeCost(steps: readonly Entry[], entries: readonly Entry[], pause: Pause): Promise<Cost> {
  for (const { match } of entries) {
    for (let test = 0; test < WARM_UP_TESTS; test += 1) match(NO_ROUTE);
    await pause();
  }
  let [us, tests] = [Infinity, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    ({ tests } = meet(steps, NO_ROUTE, 'GET', undefined));
    us = Math.min(us, (performance.now() - began) * 1000);
  }
  return { tests, us };
}

function rounded(us: number): number {
  return Math.round(us * 100) / 100;
}

/** A class may have anything by that name. */
function nameOf(handler: Handler | undefined): string {
  const name: unknown = handler?.name;
  return typeof name === 'string' ? cut(name) : '';
}

function cut(text: string): string {
  // Half a character is none in UTF-8.
  const whole = Buffer.from(text.slice(0, TEXT_CHARACTERS_MAX)).toString();
  return text.length > TEXT_CHARACTERS_MAX ? `${whole}…` : whole;
}
