import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Control } from '../src/control/control.js';
import type { FromGateway, ToGateway } from '../src/control/messages.js';
import { Rendering } from '../src/host/render-host.js';
import { FakeGateway } from './fake-gateway.js';

type Told = Extract<ToGateway, { type: 'rendered' }>;

/** A control channel that keeps what it is given, and a rendering that talks over it. */
function offered() {
  const told: Told[] = [];
  let hear: (message: FromGateway) => void = () => {};
  const control = {
    onMessage: (listener: typeof hear) => (hear = listener),
    send: (message: ToGateway) => message.type === 'rendered' && told.push(message) > 0,
  };
  const { host } = new Rendering(control as unknown as Control);
  return { host, told, hear: (message: FromGateway) => hear(message) };
}

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!isTrue()) {
    assert.ok(performance.now() < deadline, 'nothing was told');
    await new Promise((done) => setTimeout(done, 20));
  }
}

test('both module systems find one host before the app listens, and it hears of a turned dial', async () => {
  const gateway = await FakeGateway.serve('render.cjs');
  try {
    const early = await gateway.printed('early');
    assert.deepEqual(early, { same: true, server: { '*': 1 }, isFrozen: true });
    gateway.say({ type: 'render', server: { '*': 0.5, 'Reviews@mobile': 0 }, vitals: '/v' });
    const deadline = performance.now() + 10_000;
    let answer = await gateway.askJson();
    while (answer['vitals'] !== '/v' && performance.now() < deadline) answer = await gateway.askJson();
    assert.deepEqual(answer, { server: { '*': 0.5, 'Reviews@mobile': 0 }, vitals: '/v' });
  } finally {
    await gateway.stop();
  }
});

test('reports of a second are told in one line, and what is left when the process exits', async () => {
  const gateway = await FakeGateway.serve('render.cjs');
  try {
    const report = { component: 'Price', outcome: 'rendered', cpu_us: 700.4, setting: 's50' };
    const ask = (path: string, name: string, value: unknown) =>
      gateway.ask({ path: `${path}?${name}=${encodeURIComponent(JSON.stringify(value))}` });
    await ask('/rendered', 'reports', [report, report, { ...report, component: 'Reviews', outcome: 'late' }]);
    await ask('/page', 'report', { setting: 's50', variant: 'hero:b' });
    const { type: _type, ...told } = await gateway.line('rendered');
    assert.deepEqual(told, {
      components: [
        { component: 'Price', outcome: 'rendered', count: 2, cpu_us: 1400 },
        { component: 'Reviews', outcome: 'late', count: 1, cpu_us: 700 },
      ],
      settings: [{ setting: 's50', pages: 1, cpu_us: 2100 }],
      variants: ['hero:b'],
    });
    await ask('/page', 'report', { setting: 's0', variant: null });
    void gateway.ask({ path: '/exit' }).catch(() => {});
    await gateway.line('rendered', ({ settings }) => JSON.stringify(settings).includes('"s0"'));
  } finally {
    await gateway.stop();
  }
});

test('dial is the same object until it is turned, and has no names but its own', () => {
  const { host, hear } = offered();
  const before = host.server();
  assert.equal(host.server(), before);
  assert.equal(before['constructor'], undefined);
  hear({
    type: 'render',
    server: JSON.parse('{"*":1,"__proto__":0.25}') as Record<string, number>,
    vitals: '',
  });
  assert.notEqual(host.server(), before);
  assert.deepEqual(Object.entries(host.server()), [
    ['*', 1],
    ['__proto__', 0.25],
  ]);
  assert.equal(host.vitalsPath(), '');
});

test('I6: names are bounded in number and length, whatever the values of a report are', async () => {
  const { host, told } = offered();
  const report = { component: 'A', outcome: 'rendered', cpu_us: 1, setting: 's1' };
  for (let number = 0; number < 2000; number++) {
    host.rendered({ ...report, component: `C${number}`, setting: `s${number}` });
    host.rendered({ ...report, outcome: `o${number}` });
    host.page({ setting: `p${number}`, variant: `v${number}`, variants: [`v${number}`, `w${number}`] });
  }
  for (const wrong of [
    {},
    { ...report, component: 7, outcome: null, cpu_us: NaN, setting: 'x'.repeat(5000) },
  ])
    host.rendered(wrong as typeof report);
  host.rendered({ ...report, component: 'x'.repeat(5000), cpu_us: Infinity });
  host.rendered({ ...report, cpu_us: -5 });
  await until(() => told.length > 0);
  const components = told.flatMap((line) => line.components);
  const [{ settings, variants }] = told as [Told];
  assert.equal(new Set(components.map(({ component }) => component)).size, 501);
  assert.equal(components.filter(({ component }) => component === 'A').length, 17);
  assert.equal(
    components.reduce((sum, { count }) => sum + count, 0),
    4004,
  );
  assert.equal(
    components.reduce((sum, { cpu_us }) => sum + cpu_us, 0),
    4000,
  );
  assert.deepEqual([settings.length, variants.length], [33, 100]);
  assert.deepEqual(variants.slice(0, 4), ['v0', 'w0', 'v1', 'w1']);
  const texts = [...components.map(({ component }) => component), ...settings.map(({ setting }) => setting)];
  assert.ok(texts.every((text) => text.length <= 100));
  assert.ok(told.every((line) => JSON.stringify(line).length < 1024 * 1024));
});

test('overruns are told at once, and counts that leave some of them out are not taken', () => {
  const sent: ToGateway[] = [];
  let hear: (message: FromGateway) => void = () => {};
  const control = {
    onMessage: (listener: typeof hear) => (hear = listener),
    send: (message: ToGateway) => sent.push(message) > 0,
  };
  const { host } = new Rendering(control as unknown as Control);
  const before = host.overruns();
  assert.deepEqual(Object.keys(before), []);
  host.overran('Search', true);
  assert.deepEqual(sent, [{ type: 'overrun', component: 'Search', over: true }]);
  hear({ type: 'overruns', heard: 0, components: { Search: { count: 4, ago_ms: 0 } } });
  assert.equal(host.overruns(), before);
  const at_ms = performance.now();
  hear({ type: 'overruns', heard: 1, components: { Search: { count: 5, ago_ms: 2000 } } });
  const { count, at_ms: latest_ms } = host.overruns()['Search'] ?? assert.fail('no count');
  assert.equal(count, 5);
  assert.ok(Math.abs(at_ms - 2000 - latest_ms) < 1000, `${latest_ms}`);
  hear({ type: 'render', server: { '*': 1 }, vitals: '' });
  assert.equal(host.overruns()['Search']?.count, 5);
  assert.equal(host.overruns()['constructor'], undefined);
});
