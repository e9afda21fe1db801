// A gateway that is only its admin address: the page as it is built, and made-up events of as many workers and classes as a test wants.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { FlameData } from '../../packages/flame/src/data.ts';
import type {
  CalledHostSnapshot,
  ClassSnapshot,
  Columns,
  Costs,
  DeploySnapshot,
  EffectsSnapshot,
  GraphSnapshot,
  FindingSnapshot,
  Frame,
  Hello,
  Mark,
  Point,
  SettingSnapshot,
  Snapshot,
  Tail,
  VitalsSnapshot,
  WorkerSnapshot,
} from '../../packages/dashboard/src/snapshot.ts';
import { repositoryDir } from '../support/sluice.ts';

const dist = path.join(repositoryDir, 'packages/dashboard/dist');

export interface Fake {
  url: string;
  /** What was posted, as `action body`. */
  actions: string[];
  /** Bytes that were sent in bodies, each answer's first second only. */
  sent: () => number;
  /** Takes this token from now on. */
  expect: (token: string) => void;
  /** Answers events with this status and text from now on, those under way end. */
  refuse: (status: number, text: string) => void;
  /** Ends every connection and refuses new ones. */
  die: () => void;
}

interface Options {
  workers?: number;
  classes?: number;
  /** Whether the app has a graph of data. */
  hasGraph?: boolean;
  /** Whether a version has served before the present one. */
  hasDeploy?: boolean;
  marks?: Mark[];
  /** Answers nobody without this token. */
  token?: string;
  tails?: Tail[];
  /** Port to listen on, such as that of one that died; any free one unless said. */
  port?: number;
  /** What `GET /flame` and a profile are answered; a promise that stays open is a profile that takes its time. */
  flame?: () => Promise<FlameData>;
}

export async function fakeGateway(
  t: TestContext,
  {
    workers = 4,
    classes = 10,
    hasGraph = true,
    hasDeploy = true,
    marks = [],
    token,
    tails = [],
    port = 0,
    flame,
  }: Options,
): Promise<Fake> {
  const epoch = Date.now() - 300_000;
  const actions: string[] = [];
  let sent = 0;
  let refusal: readonly [status: number, text: string] | undefined;
  const server = http.createServer((request, response) => {
    const send = (type: string, body: string | Buffer, head: Record<string, string> = {}) => {
      sent += body.length;
      response.writeHead(200, { 'content-type': type, ...head }).end(body);
    };
    /** JSON compressed, as the gateway sends what is long. */
    const sendPacked = (value: unknown) =>
      send('application/json', gzipSync(JSON.stringify(value), { level: 1 }), { 'content-encoding': 'gzip' });
    const knows = token === undefined || request.headers.authorization === `Bearer ${token}`;
    const { pathname } = new URL(request.url ?? '/', 'http://fake');
    if (pathname === '/') {
      const head = {
        'content-encoding': 'gzip',
        'content-security-policy': fs.readFileSync(path.join(dist, 'index.csp'), 'utf8'),
      };
      return send('text/html; charset=utf-8', fs.readFileSync(path.join(dist, 'index.html.gz')), head);
    }
    const draw = () => {
      response.on('close', () => {
        if (!response.writableFinished) actions.push('gave up');
      });
      void flame?.().then(sendPacked);
    };
    if (pathname.startsWith('/actions/')) {
      if (token === undefined || !knows) return response.writeHead(401).end();
      request.setEncoding('utf8');
      let body = '';
      request.on('data', (piece: string) => (body += piece));
      request.on('end', () => {
        actions.push(`${pathname.slice(9)} ${body}`);
        if (pathname === '/actions/profile') return draw();
        send('application/json', '{}');
      });
      return;
    }
    if (!knows) return response.writeHead(401).end();
    if (pathname === '/flame') return draw();
    if (pathname === '/history') return sendPacked(columns(epoch));
    if (refusal !== undefined) return response.writeHead(refusal[0]).end(refusal[1]);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let number = 0;
    const event = (name: string, value: unknown) => {
      const text = `id: ${epoch}-${Date.now()}-${number++}\nevent: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
      if (number <= 3) sent += text.length;
      response.write(text);
    };
    const hello: Hello = { epoch, resumed: false, points: [], marks, token_file: '/run/shop/admin-token' };
    event('hello', hello);
    const costs: Costs = {
      classes: { cut_ms: 20, uncut: null, classes: classesOf(classes) },
      quarantined: [],
      deploy: hasDeploy ? deploy() : null,
    };
    event('costs', costs);
    const tell = () => {
      const frame: Frame = {
        now_ms: Date.now(),
        status: { ...status(workers, hasGraph), tails },
        point: point(Date.now()),
        marks: [],
      };
      event('frame', frame);
    };
    tell();
    const timer = setInterval(tell, 1000);
    response.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const die = () => {
    server.close();
    server.closeAllConnections();
  };
  t.after(die);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    actions,
    sent: () => sent,
    expect: (now) => {
      token = now;
    },
    refuse: (...now) => {
      refusal = now;
      server.closeAllConnections();
    },
    die,
  };
}

const RUNS = [10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7];

/** A wave of load, the same for each time. */
function point(atMs: number): Point {
  const wave = 1.5 + Math.sin(atMs / 40_000) + 0.3 * Math.sin(atMs / 7_000);
  // As short as the gateway writes them.
  const short = (value: number) => Number(value.toPrecision(3));
  return {
    at_ms: atMs,
    answered: Math.round(240 * wave),
    refused: wave > 2.3 ? 4 : 0,
    failed: wave > 2.2 ? 2 : 0,
    queue_length: Math.round(9 * wave),
    in_service: short(3 * wave),
    workers: 4,
    cpu: short(1.6 * wave),
    gateway_cpu: short(0.08 * wave),
    rss_bytes: Math.round(4e8 + 2e7 * wave),
    queue_wait_ms: [0.3, 9, 28, 70].map((ms) => short(ms * wave)),
    service_time_ms: [6, 40, 110, 260].map((ms) => short(ms * wave)),
    runs:
      Math.round(atMs / 1000) % 10 === 0
        ? [...RUNS, 0].map((_, at) => Math.round((900 * wave) / (1 + (at - 5) ** 2)))
        : [],
  };
}

function columns(epoch: number): Columns {
  const points = Array.from({ length: 300 }, (_, at) => point(epoch + at * 1000));
  const of = <K extends keyof Point>(key: K): Point[K][] => points.map((one) => one[key]);
  return {
    epoch,
    span_s: 1,
    at_ms: of('at_ms'),
    answered: of('answered'),
    refused: of('refused'),
    failed: of('failed'),
    queue_length: of('queue_length'),
    in_service: of('in_service'),
    workers: of('workers'),
    cpu: of('cpu'),
    gateway_cpu: of('gateway_cpu'),
    rss_bytes: of('rss_bytes'),
    queue_wait_ms: of('queue_wait_ms'),
    service_time_ms: of('service_time_ms'),
    runs: of('runs'),
  };
}

export function classesOf(many: number): ClassSnapshot[] {
  return Array.from({ length: many }, (_, at) => ({
    class: `shop.example GET /area-${at}/:id`,
    requests: 10_000 - at * 7,
    expected_ms: at,
    cost_mean_ms: 2 + at,
    cost_p50_ms: 1 + at,
    cost_p95_ms: 5 + at * 2,
    cost_p99_ms: at === 3 ? null : 9 + at * 3,
    queue_wait_ms: 4,
    service_time_ms: 8 + at,
    handler_ms: 6 + at,
    cpu_share: Math.round(1e6 / (many + at)) / 1e6,
    known: true,
    long: at > many / 2,
    drift: at === 1 ? 2.4 : 1,
  }));
}

/** A graph of 20 routes, one of which fails, and 20 patterns, of which some are never read. */
function graph(): GraphSnapshot {
  return {
    pages_total: 12_000,
    page_requests_total: 15_000,
    fetches_total: 40_000,
    asked_total: 900_000,
    fetched_total: 160_000,
    values_total: 1_200_000,
    unread_total: 90_000,
    again_total: 700,
    calls_total: 286_700,
    failures_total: 12,
    denied_total: 4,
    unanswered_total: 30,
    routes: Array.from({ length: 20 }, (_, at) => ({
      route: `shop.area${at}[{keys:names}][{integers:ids}]["name", "price", "stock"]`,
      method: at === 3 ? 'call' : 'get',
      calls_total: 15_000 - at * 70,
      paths_total: 450_000 - at * 70,
      time_ms_total: 90_000 / (at + 1),
      time_ms_max: 320,
      failures_total: at === 1 ? 12 : 0,
      denied_total: at === 2 ? 4 : 0,
      unanswered_total: at === 1 ? 30 : 0,
      error: at === 1 ? 'TypeError: Cannot read properties of undefined (reading stock)' : null,
    })),
    routes_count: 20,
    paths: Array.from({ length: 20 }, (_, at) => ({
      path: `shop.area${at}[{keys}][{integers}].price`,
      asked_total: 90_000 - at,
      fetched_total: 9_000,
      values_total: 90_000,
      unread_total: at % 4 === 0 ? 30_000 : 0,
      again_total: at === 2 ? 700 : 0,
    })),
    paths_count: 20,
  };
}

function finding(
  measure: string,
  verdict: string,
  change: number,
  sure: number,
  is_share = false,
): FindingSnapshot {
  const apart = Math.abs(change) / 4;
  return { measure, verdict, change, low: change - apart, high: change + apart, sure, is_share };
}

/** A version that takes more time than the one before it, by one class. */
function deploy(): DeploySnapshot {
  const slow = { class: 'shop.example GET /area-3/:id', before_ms: 18, after_ms: 31 };
  return {
    generation: 2,
    before: 1,
    at_ms: Date.now() - 720_000,
    requests: [81_000, 9_300],
    findings: [
      finding('CPU time', 'better', -0.082, 0.9991),
      finding('service time', 'worse', 0.123, 0.99999),
      finding('failures', 'worse', 0.011, 0.997, true),
      {
        measure: 'holes in pages',
        verdict: 'unknown',
        change: null,
        low: null,
        high: null,
        sure: 0,
        is_share: true,
      },
    ],
    classes: [
      { ...slow, finding: finding('service time', 'worse', 0.72, 0.99999) },
      {
        class: 'shop.example GET /area-1/:id',
        before_ms: 4,
        after_ms: 3,
        finding: finding('CPU time', 'better', -0.25, 0.999),
      },
    ],
    compared: 12,
  };
}

/** A host that is slow, and one that is quick. */
function called(): CalledHostSnapshot[] {
  const host = {
    calls_total: 91_000,
    errors_total: 0,
    failures_total: 0,
    calls: 1800,
    errors: 0,
    waiting: 0,
    oldest_ms: null,
  };
  return [
    {
      ...host,
      host: 'prices.internal:8080',
      p50_ms: 240,
      p95_ms: 1900,
      share: 0.94,
      errors: 4,
      errors_total: 40,
      failures_total: 12,
      waiting: 7,
      oldest_ms: 6200,
    },
    { ...host, host: 'search.internal', p50_ms: 6, p95_ms: 19, share: 0.06 },
  ];
}

/** Pages of two settings, one of which is the browser's work, and 40 components. */
function effects(): EffectsSnapshot {
  const vitals = (name: string, scale: number): VitalsSnapshot => ({
    name,
    reports_total: Math.round(12_000 / scale),
    mismatches_total: scale === 2 ? 12 : 0,
    failed_total: name === 'mobile' ? 3 : 0,
    ttfb_ms: 140 / scale,
    fcp_ms: 700 * scale,
    lcp_ms: 1500 * scale,
    inp_ms: scale > 2 ? 620 : null,
    ...(name === 'mobile' && { tti_ms: 2_100 * scale, key_ms: 240, long_ms: 320, memory_bytes: 9e6 }),
    cls: 0.06 * scale,
    html_bytes: 96_000 / scale,
    js_bytes: 58_000,
  });
  const setting = (name: string, scale: number): SettingSnapshot => ({
    name,
    pages_total: 20_000,
    cpu_ms_total: 200_000 / scale,
    cpu_ms_per_page: 10 / scale,
    devices: [vitals('desktop', scale), vitals('mobile', scale * 1.6)],
  });
  return {
    components: Array.from({ length: 40 }, (_, at) => ({
      name: `shop/Component${at}`,
      outcomes: { rendered: 9000 - at, cached: 4000, ...(at === 3 ? { late: 300, error: 12 } : {}) },
      cpu_ms_total: 90_000 / (at + 1),
    })),
    components_count: 412,
    renders_total: 520_000,
    holes_total: 312,
    worst_hole: { component: 'shop/Component3', share: 0.0225, outcome: 'late' },
    settings: [setting('s0', 2), setting('s100', 1)],
    variants: [vitals('hero:a', 1), vitals('hero:b', 1.2)],
    experiments: [
      {
        name: 'hero',
        baseline: 'a',
        arms: [
          { name: 'a', views: 12_000, findings: [] },
          { name: 'b', views: 10_000, findings: [finding('largest contentful paint', 'worse', 0.2, 0.9999)] },
          { name: 'c', views: 12, findings: [] },
        ],
        left_out: 2,
      },
    ],
    pages: [vitals('shop.example GET /product/:id', 1), vitals('other', 3)],
  };
}

function status(workers: number, hasGraph: boolean): Snapshot {
  const worker = (at: number): WorkerSnapshot => ({
    id: at + 1,
    instance: at,
    pid: 4000 + at,
    generation: 2,
    state: at % 3 === 0 ? 'ready' : 'busy',
    age_s: 3600,
    rss_bytes: 9e7 + at * 1e6,
    requests_total: 1000 * at,
    restarts_total: 0,
    current:
      at % 3 === 0
        ? []
        : [
            {
              id: `r${at}`,
              class: `shop.example GET /area-${at}/:id`,
              method: 'GET',
              path: `/area-${at}/7`,
              for_ms: 12 * at,
            },
          ],
    cpu_ms_total: Date.now() / 3,
    streams: 0,
    lowered: false,
    lane: 'short',
    heap_used_bytes: 5e7,
    runs: null,
    cpu: 0.4,
    event_loop_utilization: 0.3,
    event_loop_delay_ms: 11,
    silent_ms: 120,
  });
  const counts = [...RUNS, 0].map((_, at) => at * 10);
  return {
    version: '0.1.0',
    pid: 99,
    state: 'serving',
    url: 'http://127.0.0.1:3000',
    admin_url: null,
    run_dir: '/run/shop',
    uptime_s: 7200,
    generation: 2,
    reload: null,
    workers: Array.from({ length: workers }, (_, at) => worker(at)),
    boots: null,
    workers_wanted: workers,
    worker_memory_bytes_max: null,
    machine: null,
    lately: { over_s: 60, outcomes: { answered: 12_000 }, errors: {}, cpu: 1.2, gateway_cpu: 0.1 },
    queue: { length: 3, length_max: 1000, oldest_wait_ms: 12, predicted_wait_ms: 14 },
    requests: {
      answered_total: 123_456,
      in_service: 3,
      handed: 0,
      handed_total: 812,
      taken_back_total: 3,
      per_second: 214,
      refused_total: 4,
      outcomes: { answered: 123_456, client_gone: 12 },
      errors: {},
      steps: { render: 123_456 },
    },
    queue_wait_ms: { p50: 0.2, p95: 9.4, p99: 31 },
    unserved_ms: { p50: null, p95: null, p99: null },
    service_time_ms: { p50: 6, p95: 48, p99: 130 },
    overlaps_total: 0,
    connections: 41,
    streams: 0,
    quarantined: 0,
    alarms: [],
    crashes: [],
    certificates: [],
    growing: [],
    react: { renders_total: 9000, fallbacks: { suspense: 90 } },
    component_cache: {
      hits_total: 81_000,
      misses_total: 9000,
      evictions_total: 12,
      entries: 310,
      bytes: 5e6,
      bytes_max: 4 * 32 * 2 ** 20,
    },
    dial: { server: { '*': '50%', 'Reviews@mobile': '0%' }, turned: true },
    effects: effects(),
    called: called(),
    graph: hasGraph ? graph() : null,
    page_cache: {
      enabled: true,
      pages: 1200,
      bytes: 48e6,
      bytes_max: 256 * 2 ** 20,
      hits: 90_000,
      stale: 300,
      joined: 1700,
      misses: 5000,
      bypassed: 3000,
      stored: 4800,
      purged: 40,
      disk: null,
      shared: {
        address: 'redis://cache:6379',
        up: true,
        hits: 700,
        misses: 4300,
        timeouts: 2,
        errors: 0,
        skipped: 0,
        written: 4100,
        dropped: 0,
        refused: 0,
        purges_told: 12,
        purges_heard: 28,
      },
    },
    concurrency: { mode: 'while-waiting', asleep: 0.4, advice: null },
    runs: {
      upper_us: RUNS,
      counts,
      time_us: counts,
      observed_us: 1e9,
      collections: 90,
      collected_us: 4e5,
      requests: 9,
      requests_with: [1, 1, 1, 1],
      longest: [],
    },
    tails: [],
    upstreams: [],
  };
}
