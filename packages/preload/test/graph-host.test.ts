import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Control } from '../src/control/control.js';
import type { ToGateway } from '../src/control/messages.js';
import { GraphUse } from '../src/host/graph-host.js';
import { FakeGateway } from './fake-gateway.js';

type Told = Extract<ToGateway, { type: 'graph' }>;

/** A control channel that keeps what it is given, and a host that tells over it. */
function offered() {
  const told: Told[] = [];
  const control = { send: (message: ToGateway) => message.type === 'graph' && told.push(message) > 0 };
  const { host } = new GraphUse(control as unknown as Control);
  return { host, told };
}

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!isTrue()) {
    assert.ok(performance.now() < deadline, 'nothing was told');
    await new Promise((done) => setTimeout(done, 20));
  }
}

const call = { route: 'titles[{integers:ids}].name', method: 'get', calls: 1, paths: 3, ms: 1.5 };
const use = {
  pages: 1,
  requests: 2,
  fetches: 0,
  paths: [{ path: 'titles[{integers}].name', asked: 3, fetched: 0, brought: 3, unread: 1, again: 0 }],
};

test('reports of a second are one line, and those before the end of the process another', async () => {
  const gateway = await FakeGateway.serve('graph.cjs');
  try {
    await gateway.ask({ path: `/?calls=${encodeURIComponent(JSON.stringify([call, call]))}` });
    const { type: _type, ...told } = await gateway.line('graph');
    assert.deepEqual(told, {
      graph_routes: [
        {
          route: call.route,
          method: 'get',
          calls: 2,
          paths: 6,
          time_us: 3000,
          time_us_max: 1500,
          failures: 0,
          denied: 0,
          unanswered: 0,
        },
      ],
      graph_paths: [],
      pages: 0,
      page_requests: 0,
      fetches: 0,
    });
    await gateway.ask({ path: `/?uses=${encodeURIComponent(JSON.stringify([use, use]))}` });
    void gateway.ask({ path: '/exit' }).catch(() => {});
    const last = await gateway.line('graph', ({ pages }) => pages === 2);
    assert.deepEqual(last['graph_paths'], [{ ...use.paths[0], asked: 6, brought: 6, unread: 2 }]);
    assert.deepEqual([last['page_requests'], last['fetches']], [4, 0]);
  } finally {
    await gateway.stop();
  }
});

test('counts of one route add up by method, with the latest error', async () => {
  const { host, told } = offered();
  host.called({ ...call, failures: 1, error: 'TypeError: first' });
  host.called({ ...call, ms: 9, failures: 1, error: 'TypeError: second' });
  host.called({ ...call, method: 'set' });
  host.called({ route: call.route, method: 'get', unanswered: 2 });
  await until(() => told.length > 0);
  const [{ graph_routes }] = told as [Told];
  assert.deepEqual(
    graph_routes.map(({ method, calls, failures, unanswered, time_us_max, error }) => [
      method,
      calls,
      failures,
      unanswered,
      time_us_max,
      error,
    ]),
    [
      ['get', 2, 2, 2, 9000, 'TypeError: second'],
      ['set', 1, 0, 0, 1500, undefined],
    ],
  );
});

test('I6: rows and their names are bounded, whatever the values of a report are', async () => {
  const { host, told } = offered();
  for (let number = 0; number < 3000; number++) {
    const name = `r${number}${'\u0001'.repeat(5000)}`;
    host.called({ ...call, route: name, error: '\u0001'.repeat(5000) });
    host.used({ ...use, paths: [{ ...use.paths[0], path: name }] });
  }
  for (const wrong of [
    {},
    { route: 7, method: null, calls: NaN, ms: 'x', error: 3 },
    { calls: -5, paths: Infinity },
  ])
    host.called(wrong);
  for (const wrong of [{}, { pages: 1e300, paths: 'x' }, { paths: [{}, { path: 9, asked: 1.5 }] }])
    host.used(wrong);
  host.called({ ...call, route: 'half of a pair \ud83d', error: 'x\udc00' });
  await until(() => told.length > 0);
  const routes = told.flatMap((line) => line.graph_routes);
  const paths = told.flatMap((line) => line.graph_paths);
  assert.deepEqual([routes.length, paths.length], [501, 501]);
  assert.deepEqual(
    [routes.at(-1)?.route, routes.at(-1)?.method, paths.at(-1)?.path],
    ['other', 'other', 'other'],
  );
  assert.equal(
    routes.reduce((sum, { calls }) => sum + calls, 0),
    3001,
  );
  assert.ok(routes.every(({ route, error = '' }) => route.length <= 200 && error.length <= 300));
  for (const line of told) {
    const text = JSON.stringify(line);
    assert.ok(text.length < 1024 * 1024, `${text.length}`);
    // Text that is none, or a number that is not whole, would lose the gateway the whole line.
    assert.doesNotMatch(text, /\\ud[89a-f]|:-|\d\.\d|e\+/);
  }
  assert.ok(told.reduce((sum, { pages }) => sum + pages, 0) > 3000);
});

test('nothing is told where nothing happened', async () => {
  const { host, told } = offered();
  host.used({ paths: [] });
  await new Promise((done) => setTimeout(done, 1500));
  assert.deepEqual(told, []);
  host.used(use);
  await until(() => told.length > 0);
  assert.equal(told.length, 1);
});
