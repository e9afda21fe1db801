// What the routes and pages of `@sluice/graph` do in all workers is told in the status, in metrics and in the log.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import type { Snapshot } from '../support/snapshot.ts';
import { allReady, ask, ownApp, pidOf, running, STRICT } from './scenario.ts';
import { metric } from './stuck.ts';

type Graph = NonNullable<Snapshot['graph']>;

const PAGES = 8;

/** Waits until workers have told so much. */
async function told(sluice: Sluice, isSo: (graph: Graph) => boolean): Promise<Graph> {
  return eventually(
    async () => {
      const { graph } = await sluice.status();
      return graph !== null && isSo(graph) ? graph : undefined;
    },
    { deadlineMs: 30_000, what: 'reports of workers on their graphs' },
  );
}

async function pages(sluice: Sluice): Promise<Set<string | undefined>> {
  const answers = await Promise.all(Array.from({ length: PAGES }, () => ask(sluice, '/')));
  for (const { body } of answers)
    assert.match(body.toString(), /name 12; .*<script [^>]*data-sluice-graph="counted">/);
  return new Set(answers.map(({ headers }) => headers.get('x-pid')));
}

const target = (paths: unknown): string =>
  `/model.json?method=get&paths=${encodeURIComponent(JSON.stringify(paths))}`;

void test('what routes and pages of a graph do in two workers is told, adds up, and stays when a worker dies', async (t) => {
  const sluice = await running(t, { entry: ownApp('graph-seen.mjs'), workers: 2, flags: STRICT });
  assert.equal((await sluice.status()).graph, null);
  assert.doesNotMatch((await sluice.cli(['status'])).stdout, /\ngraph /);

  await allReady(sluice, 2);
  assert.equal((await pages(sluice)).size, 2, 'both workers made pages');
  for (let times = 0; times < 3; times += 1)
    assert.match((await ask(sluice, target([['bad'], ['nobody']]))).body.toString(), /SLU-GRAPH-HANDLER/);
  await ask(
    sluice,
    target([
      ['titles', 10, 'name'],
      ['titles', 99, 'price'],
    ]),
    { headers: 'sluice-graph-held: 0\r\n' },
  );

  const graph = await told(
    sluice,
    ({ pages_total, fetches_total }) => pages_total + fetches_total === PAGES + 4,
  );
  assert.deepEqual(
    [graph.pages_total, graph.page_requests_total, graph.asked_total, graph.fetches_total],
    [PAGES, 2 * PAGES, 6 * PAGES, 4],
  );
  const routes = new Map(graph.routes.map((row) => [`${row.method} ${row.route}`, row]));
  const bad = routes.get('get bad') ?? assert.fail();
  assert.deepEqual(
    [bad.calls_total, bad.failures_total, bad.error],
    [3, 3, 'TypeError: no stock\u001b[2J for this one'],
  );
  const titles = routes.get('get titles[{integers:ids}]["name", "price"]') ?? assert.fail();
  assert.deepEqual([titles.paths_total, titles.failures_total], [6 * PAGES + 2, 0]);
  assert.ok(
    titles.time_ms_total >= 29 * titles.calls_total && titles.time_ms_max >= 29,
    JSON.stringify(titles),
  );
  assert.equal(routes.get('get (unhandled)')?.unanswered_total, 3);
  const paths = new Map(graph.paths.map(({ path, ...row }) => [path, row]));
  assert.deepEqual(paths.get('titles[{integers}].price'), {
    asked_total: 0,
    fetched_total: 1,
    values_total: 3 * PAGES,
    unread_total: 3 * PAGES,
    again_total: 0,
  });
  const names = paths.get('titles[{integers}].name') ?? assert.fail();
  assert.deepEqual([names.values_total, names.unread_total, names.again_total], [3 * PAGES, 0, 1]);

  // Lines are broken where the terminal ends.
  const status = (await sluice.cli(['status'])).stdout.replaceAll(/\s+/gu, ' ');
  assert.match(status, / graph \d+ calls of routes, 3 failed, 3 paths without a value \(`sluice graph`\) /);
  assert.match(status, / 8 pages with 2\.0 requests each, 3\.0 paths a request; 24 of 72 values never read,/);
  const { stdout } = await sluice.cli(['graph']);
  assert.match(stdout, /\nbad +get +3 +1\.0 +.* 3 +0 +0\n/);
  assert.match(stdout, /\ntitles\[\{integers\}\]\.price +0 +1 +24 +24 +0\n/);
  assert.ok(!stdout.includes('\u001b'));
  assert.deepEqual(JSON.parse((await sluice.cli(['graph', '--json'])).stdout), graph);

  assert.equal(await metric(sluice, 'sluice_graph_failures_total{route="bad",method="get"}'), 3);
  assert.equal(await metric(sluice, 'sluice_graph_pages_total'), PAGES);
  assert.equal(
    await metric(sluice, 'sluice_graph_unread_values_total{pattern="titles[{integers}].price"}'),
    3 * PAGES,
  );

  const noted = await eventually(
    async () => {
      const { stdout: lines } = await sluice.cli(['logs', '--json']);
      const notes = lines.split('\n').filter((line) => line.includes('graph route bad'));
      return notes.length > 0 ? notes : undefined;
    },
    { deadlineMs: 15_000, what: 'a line about the failing route' },
  );
  assert.match(
    noted[0] ?? '',
    /"level":"warn".*graph route bad: [123] calls? of get failed, the latest with TypeError/,
  );
  assert.ok(noted.length <= 2, 'not a line for each failure');

  const [before] = (await sluice.status()).workers.map(pidOf);
  process.kill(Number(before), 'SIGKILL');
  await eventually(async () =>
    (await allReady(sluice, 2)).workers.every((worker) => pidOf(worker) !== before),
  );
  await sluice.cli(['reload']);
  await pages(sluice);
  const after = await told(sluice, ({ pages_total }) => pages_total === 2 * PAGES);
  assert.equal(after.routes.find(({ route }) => route === 'bad')?.failures_total, 3);
});
