// The order of tasks, and what they leave behind: HTML or the reason why not.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { createElement, Suspense, use } from 'react';
import * as server from 'react-dom/server';
import type { RenderContext } from '../../src/adapters/adapter.js';
import { react } from '../../src/adapters/react.js';
import { createTaskQueue } from '../../src/tasks/queue.js';
import { component, failed, job, rendered, viewJob } from '../support/components.js';

void test('a task gives the HTML of its component', async () => {
  const hello = component('Hello', ({ name }: { name: string }) => `<p>${name}</p>`);
  const result = rendered(await createTaskQueue().run(job(hello, { name: 'Ada' })));
  assert.equal(result.html, '<p>Ada</p>');
  assert.equal(result.isCached, false);
  assert.equal(result.isOverBudget, false);
});

void test('empty HTML is HTML', async () => {
  assert.equal(rendered(await createTaskQueue().run(viewJob(() => ''))).html, '');
});

void test('each task that may wait has a macrotask of its own, and timers fire between two', async () => {
  const order: string[] = [];
  const page = createTaskQueue().page();
  const named = (name: string) =>
    viewJob(() => {
      order.push(name);
      // Due at once, so that only a turn of the event loop is missing.
      setTimeout(() => order.push(`timer of ${name}`), 0);
      const until = performance.now() + 2;
      while (performance.now() < until);
      return '';
    });
  await Promise.all(['a', 'b', 'c'].map((name) => page.run(named(name))));
  assert.deepEqual(order.slice(0, 5), ['a', 'timer of a', 'b', 'timer of b', 'c']);
});

void test('sockets are read between two tasks of a page', async (t) => {
  const server = http.createServer((_request, response) => response.end('reply'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  let isAnswered = false;
  let rendersAfterReply = 0;
  const page = createTaskQueue().page();
  const asking = fetch(`http://127.0.0.1:${port}`).then(async (reply) => {
    await reply.text();
    isAnswered = true;
  });
  const tasks = Array.from({ length: 2_000 }, () =>
    page.run(
      viewJob(() => {
        if (isAnswered) rendersAfterReply += 1;
        return '';
      }),
    ),
  );
  await Promise.all([asking, ...tasks]);
  assert.ok(rendersAfterReply > 0, 'the reply came only after the last of 2,000 components');
});

void test('tasks of a page run in the order of their jobs, and pages take turns', async () => {
  const order: string[] = [];
  const queue = createTaskQueue();
  const run = (page: ReturnType<typeof queue.page>, name: string) =>
    page.run(
      viewJob(() => {
        order.push(name);
        return '';
      }),
    );
  const [large, small] = [queue.page(), queue.page()];
  await Promise.all([
    ...['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => run(large, name)),
    ...['b1', 'b2'].map((name) => run(small, name)),
  ]);
  assert.deepEqual(order, ['a1', 'b1', 'a2', 'b2', 'a3', 'a4', 'a5']);
});

void test('what resumes goes before what has not begun, of any page', async () => {
  const order: string[] = [];
  const queue = createTaskQueue();
  const noting = (name: string, isResumed: boolean) =>
    viewJob(
      () => {
        order.push(name);
        return '';
      },
      {},
      { isResumed },
    );
  const first = queue.page();
  await Promise.all([
    first.run(noting('new 1', false)),
    first.run(noting('new 2', false)),
    queue.page().run(noting('resumed of another page', true)),
    first.run(noting('resumed', true)),
  ]);
  assert.deepEqual(order, ['resumed of another page', 'resumed', 'new 1', 'new 2']);
});

void test('a component that waited goes on before the next begins', async () => {
  const order: string[] = [];
  const page = createTaskQueue().page();
  let reply = (): void => {};
  const waiting = viewJob(async () => {
    order.push('begins');
    await new Promise<void>((resolve) => {
      reply = resolve;
    });
    order.push('goes on');
    return '';
  });
  const others = Array.from({ length: 5 }, (_, index) =>
    viewJob(() => {
      order.push(`other ${index}`);
      if (index === 1) setTimeout(() => reply(), 0);
      // The timer is due when this task ends.
      const until = performance.now() + 2;
      while (performance.now() < until);
      return '';
    }),
  );
  await Promise.all([waiting, ...others].map((each) => page.run(each)));
  assert.deepEqual(order.slice(0, 5), ['begins', 'other 0', 'other 1', 'goes on', 'other 2']);
});

void test('a component that resumes by setImmediate, as React does, goes on before the next begins', async () => {
  const data = () => Promise.resolve('data');
  const order: string[] = [];
  const queue = createTaskQueue();
  let reply = (_data: string): void => {};
  const view = () => {
    order.push('renders');
    return createElement('b', null, use(asked));
  };
  let asked = data();
  const waiting = component('Waits', view, {}, react({ server }));
  // The first time, it turns out to wait.
  rendered(await queue.run(job(waiting)));
  asked = new Promise((resolve) => {
    reply = resolve;
  });
  order.length = 0;
  const page = queue.page();
  const others = Array.from({ length: 5 }, (_, index) =>
    viewJob(() => {
      order.push(`other ${index}`);
      if (index === 1) setTimeout(() => reply('later'), 0);
      const until = performance.now() + 2;
      while (performance.now() < until);
      return '';
    }),
  );
  await Promise.all([job(waiting), ...others].map((each) => page.run(each)));
  const resumed = order.lastIndexOf('renders');
  assert.equal(order[resumed - 1], 'other 1', order.join(', '));
});

void test('a component that asks for turn after turn holds up no other', async () => {
  const page = createTaskQueue({ budgetMs: 10_000, timeoutMs: 60_000 }).page();
  let turns = 0;
  let isOver = false;
  const busy = page.run(
    viewJob(async () => {
      while (!isOver) {
        turns += 1;
        await turn();
      }
      return '';
    }),
  );
  const others = await Promise.all(Array.from({ length: 20 }, () => page.run(viewJob(() => ''))));
  isOver = true;
  rendered(await busy);
  assert.equal(others.length, 20);
  assert.ok(turns < 100, `${turns} turns`);
});

void test('a component that throws fails alone', async () => {
  const page = createTaskQueue().page();
  const [before, bad, worse, after] = await Promise.all([
    page.run(viewJob(() => 'before')),
    page.run(
      viewJob(() => {
        throw new RangeError('no such product');
      }),
    ),
    page.run(viewJob(() => Promise.reject(new Error('later')))),
    page.run(viewJob(() => 'after')),
  ]);
  assert.equal(rendered(before).html, 'before');
  assert.equal(rendered(after).html, 'after');
  assert.equal(failed(bad).reason, 'error');
  assert.equal(failed(bad).error.message, 'no such product');
  assert.equal(failed(worse).error.message, 'later');
});

void test('whatever is thrown becomes an error', async () => {
  const thrown = ['a text', null, undefined, { code: 7 }, 0];
  for (const value of thrown) {
    const result = await createTaskQueue().run(
      viewJob(() => {
        throw value;
      }),
    );
    assert.ok(failed(result).error instanceof Error);
    assert.notEqual(failed(result).error.message, '');
  }
});

void test('a view that gives no text fails with its name', async () => {
  for (const value of [undefined, null, 7, {}]) {
    const result = await createTaskQueue().run(job(component('Nothing', () => value)));
    assert.match(
      failed(result).error.message,
      /"Nothing" returned (?:undefined|null|number|object) instead of HTML/,
    );
  }
});

void test('HTML over the limit is refused, in bytes', async () => {
  const queue = createTaskQueue({ htmlBytesMax: 30 });
  assert.equal(rendered(await queue.run(viewJob(() => 'é'.repeat(15)))).html.length, 15);
  const result = failed(await queue.run(viewJob(() => 'é'.repeat(16))));
  assert.equal(result.reason, 'error');
  assert.match(result.error.message, /more than 30 bytes/);
});

void test('an asynchronous component is late after its time', async () => {
  const queue = createTaskQueue({ timeoutMs: 5 });
  let signal: AbortSignal | undefined;
  const result = await queue.run(
    viewJob((_props, context) => {
      ({ signal } = context);
      return new Promise<string>(() => {});
    }),
  );
  assert.equal(failed(result).reason, 'late');
  assert.equal(signal?.aborted, true);
});

void test('a component that goes on by turns is left when its CPU time is used up', async () => {
  const queue = createTaskQueue({ budgetMs: 5, timeoutMs: 60_000 });
  const result = await queue.run(
    viewJob(async (_props, { signal }) => {
      while (!signal.aborted) {
        await turn();
        const until = performance.now() + 1;
        while (performance.now() < until);
      }
      return '';
    }),
  );
  const { reason, cpu_us } = failed(result);
  assert.equal(reason, 'late');
  assert.ok(cpu_us > 5_000, `${cpu_us} µs`);
});

void test('HTML of a synchronous component over its budget is used, and the page has the less for the rest', async () => {
  const page = createTaskQueue().page({ budgetMs: 3 });
  const slow = viewJob(() => {
    const before = process.cpuUsage();
    for (;;) {
      const { user, system } = process.cpuUsage(before);
      if (user + system > 15_000) return 'slow';
    }
  });
  const [first, second] = await Promise.all([page.run(slow), page.run(viewJob(() => 'never'))]);
  assert.equal(rendered(first).html, 'slow');
  assert.equal(rendered(first).isOverBudget, true);
  assert.equal(failed(second).reason, 'late');
});

void test('an abort ends what waits and what runs, and tells components', async () => {
  const controller = new AbortController();
  const page = createTaskQueue().page({ signal: controller.signal });
  let signal: AbortSignal | undefined;
  const running = page.run(
    viewJob((_props, context) => {
      ({ signal } = context);
      queueMicrotask(() => controller.abort());
      return new Promise<string>(() => {});
    }),
  );
  let hasBegun = false;
  const waiting = page.run(
    viewJob(() => {
      hasBegun = true;
      return '';
    }),
  );
  assert.equal(failed(await running).reason, 'aborted');
  assert.equal(failed(await waiting).reason, 'aborted');
  assert.equal(signal?.aborted, true);
  assert.equal(failed(await page.run(viewJob(() => ''))).reason, 'aborted');
  await turn();
  assert.equal(hasBegun, false);
});

void test('components find the async context of who asked for them', async () => {
  const storage = new AsyncLocalStorage<string>();
  const queue = createTaskQueue();
  const showing = viewJob(async () => {
    const before = storage.getStore();
    await turn();
    return `${before} ${storage.getStore()}`;
  });
  const results = await Promise.all(
    ['de', 'fr'].map((language) => storage.run(language, () => queue.run(showing))),
  );
  assert.deepEqual(
    results.map((result) => rendered(result).html),
    ['de de', 'fr fr'],
  );
});

void test('a component finds the facts of its place in its context, and nothing of its task', async () => {
  let context: object = {};
  const looking = viewJob((_props, given) => {
    context = given;
    return given.id;
  });
  assert.equal(rendered(await createTaskQueue().run(looking)).html, 'b1');
  for (const name of ['id', 'slots', 'signal', 'isStatic', 'tellPartial']) assert.ok(name in context, name);
  for (const name of ['page', 'scope', 'component', 'props', 'charge', 'fail', 'begin', 'cpu_us'])
    assert.equal(name in context, false, name);
});

void test('props go through the component’s schema', async () => {
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) =>
        typeof (value as { n?: unknown }).n === 'number'
          ? { value: { n: (value as { n: number }).n + 1 } }
          : { issues: [{ message: 'Expected a number', path: [{ key: 'n' }] }] },
    },
  } as const;
  const counting = component('Count', ({ n }: { n: number }) => `${n}`, { props: schema });
  const queue = createTaskQueue();
  assert.equal(rendered(await queue.run(job(counting, { n: 1 }))).html, '2');
  const { reason, error } = failed(await queue.run(job(counting, { n: 'one' })));
  assert.equal(reason, 'invalid');
  assert.equal(error.message, 'Props of component "Count": n: Expected a number');
});

void test('a component with a cache key renders once for each key, with the id of each place', async () => {
  let renders = 0;
  const queue = createTaskQueue();
  const cached = component(
    'Cached',
    ({ sku }: { sku: string }, { id }: { id: string }) => {
      renders += 1;
      return `<i id="${id}-x">${sku}</i>`;
    },
    { cacheKey: ({ sku }) => (sku === 'none' ? undefined : String(sku)) },
  );
  const html = async (sku: string, id: string) => {
    const context = { id, slots: { names: [], html: () => '' } };
    const { html, isCached } = rendered(await queue.run(job(cached, { sku }, { context })));
    return [html, isCached];
  };
  assert.deepEqual(await html('7', 'b1'), ['<i id="b1-x">7</i>', false]);
  assert.deepEqual(await html('7', 'b2'), ['<i id="b2-x">7</i>', true]);
  assert.deepEqual(await html('8', 'b3'), ['<i id="b3-x">8</i>', false]);
  assert.deepEqual(await html('none', 'b4'), ['<i id="b4-x">none</i>', false]);
  assert.deepEqual(await html('none', 'b5'), ['<i id="b5-x">none</i>', false]);
  assert.equal(renders, 4);
});

void test('props as a key are all props: other values and other types have other HTML, and a function is never cached', async () => {
  const queue = createTaskQueue();
  const shown = component('Shown', ({ value }: { value: unknown }) => `<i>${typeof value}</i>`, {
    cacheKey: 'props',
  });
  const isCached = async (props: Record<string, unknown>): Promise<boolean> =>
    rendered(await queue.run(job(shown, props))).isCached;
  const values = [1, '1', [1], { 1: 1 }, null, new Date(1), new Map([[1, 1]]), new Set([1]), 1n];
  for (const [index, value] of values.entries()) assert.equal(await isCached({ value }), false, `${index}`);
  for (const [index, value] of values.entries()) assert.equal(await isCached({ value }), true, `${index}`);
  assert.equal(await isCached({ value: 1, other: 1 }), false);
  for (const value of [() => 1, Symbol('one')]) {
    assert.equal(await isCached({ value }), false);
    assert.equal(await isCached({ value }), false);
  }
});

void test('HTML under a key is that of one component, of its slots, and of a form', async () => {
  const queue = createTaskQueue();
  const named = (name: string) =>
    component(
      name,
      (_: { key: string }, { isStatic, slots }: RenderContext) =>
        `${name} ${String(isStatic)} ${slots.names.join()}`,
      { cacheKey: ({ key }) => String(key) },
    );
  const views = [named('One'), named('Two')];
  for (const pass of ['made', 'cached']) {
    // Some look like the first part of another key.
    for (const key of ['', 'k', '["a"]', '1h[]']) {
      for (const view of views) {
        for (const names of [[], ['a'], ['a', 'b'], ['b']]) {
          for (const isStatic of [true, false]) {
            const context = { id: 'b', isStatic, slots: { names, html: () => '' } };
            const { html } = rendered(await queue.run(job(view, { key }, { context })));
            assert.equal(html, `${view.name} ${String(isStatic)} ${names.join()}`, `${pass} ${key}`);
          }
        }
      }
    }
  }
});

void test('HTML that an abort has cut short is not cached, and late HTML is', async () => {
  const queue = createTaskQueue({ timeoutMs: 5 });
  let renders = 0;
  const settings = { cacheKey: () => 'one' };
  const ended = new Set<string>();
  const cut = component(
    'Cut',
    async (_props: object, { signal }: { signal: AbortSignal }) => {
      renders += 1;
      if (renders > 1) return 'data';
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      ended.add('cut');
      return 'no data';
    },
    settings,
  );
  let go: (() => void) | undefined;
  const late = component(
    'Late',
    async () => {
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      ended.add('late');
      return 'late data';
    },
    settings,
  );
  const leaves = new AbortController();
  const left = queue.page({ signal: leaves.signal }).run(job(cut, {}));
  while (renders === 0) await turn();
  leaves.abort();
  assert.equal(failed(await left).reason, 'aborted');
  assert.equal(failed(await queue.run(job(late, {}))).reason, 'late');
  go?.();
  while (ended.size < 2) await turn();
  await turn();
  const again = rendered(await queue.run(job(cut, {})));
  assert.deepEqual([again.html, again.isCached], ['data', false]);
  const lateAgain = rendered(await queue.run(job(late, {})));
  assert.deepEqual([lateAgain.html, lateAgain.isCached], ['late data', true]);
});

void test('a boundary of React that an abort has ended is not cached', async () => {
  for (const rendersBy of [{}, { server }]) {
    const queue = createTaskQueue({ timeoutMs: 5 });
    let data: Promise<string> = new Promise(() => {});
    const Inner = () => createElement('b', null, use(data));
    const Outer = () => createElement(Suspense, { fallback: 'waits' }, createElement(Inner));
    const adapter = react({ ...rendersBy, onError: () => undefined });
    const outer = component('Outer', Outer, { cacheKey: () => 'one' }, adapter);
    assert.equal(failed(await queue.run(job(outer, {}))).reason, 'late');
    data = Promise.resolve('data');
    for (let turns = 0; turns < 10; turns += 1) await turn();
    const { html, isCached } = rendered(await queue.run(job(outer, {})));
    assert.match(html, /<b>data<\/b>/);
    assert.equal(isCached, false);
  }
});

for (const [name, rendersBy] of Object.entries({ '@sluice/react': {}, 'react-dom': { server } })) {
  void test(`HTML of React with a boundary that failed is not cached, by ${name}`, async () => {
    const queue = createTaskQueue();
    const told: unknown[] = [];
    let fails = true;
    const Inner = () => {
      if (fails) throw new Error('this time');
      return createElement('b', null, 'data');
    };
    const Outer = () => createElement(Suspense, { fallback: 'waits' }, createElement(Inner));
    const adapter = react({ ...rendersBy, onError: (error) => told.push(error) });
    const outer = component('Outer', Outer, { cacheKey: () => 'one' }, adapter);
    const partial = rendered(await queue.run(job(outer, {})));
    assert.match(partial.html, /waits/);
    assert.equal(told.length, 1);
    fails = false;
    const whole = rendered(await queue.run(job(outer, {})));
    assert.match(whole.html, /<b>data<\/b>/);
    assert.equal(whole.isCached, false);
    fails = true;
    const kept = rendered(await queue.run(job(outer, {})));
    assert.deepEqual([kept.html, kept.isCached], [whole.html, true]);
  });
}

for (const [what, settings] of Object.entries({
  cacheKey: { cacheKey: async () => Promise.reject(new Error('no key')) },
  cacheTags: { cacheKey: () => 'one', cacheTags: async () => Promise.reject(new Error('no key')) },
})) {
  void test(`a promise of ${what} that rejects fails the render and is handled`, async (t) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    t.after(() => process.off('unhandledRejection', note));
    const keyed = component('Keyed', () => 'html', settings as object);
    const { error, reason } = failed(await createTaskQueue().run(job(keyed, {})));
    assert.equal(reason, 'error');
    assert.match(error.message, new RegExp(`^${what} of component "Keyed" returned a promise`));
    assert.equal((error.cause as Error).message, 'no key');
    await turn();
    assert.deepEqual(unhandled, []);
  });
}

void test('a cache key that is no text fails the render, and null is none', async () => {
  const queue = createTaskQueue();
  const run = async (cacheKey: () => unknown, id: number) =>
    queue.run(
      job(
        component('Keyed', (props: { id: number }) => `${props.id}`, { cacheKey: cacheKey as () => string }),
        { id },
      ),
    );
  for (const key of [Promise.resolve('x'), new Map([[1, 2]]), {}, Symbol('x')]) {
    assert.match(failed(await run(() => key, 1)).error.message, /^cacheKey of component "Keyed" returned /);
  }
  const cacheKey = (): unknown => null;
  const same = component('Same', (props: { id: number }) => `${props.id}`, {
    cacheKey: cacheKey as () => string,
  });
  for (const id of [1, 2]) assert.equal(rendered(await queue.run(job(same, { id }))).html, `${id}`);
});

void test('a schema whose promise is no instance of Promise refuses props', async () => {
  const validate = (value: unknown): unknown => ({
    // oxlint-disable-next-line unicorn/no-thenable -- as libraries make promises
    then: (settle: (result: unknown) => void) =>
      settle((value as { ok: boolean }).ok ? { value } : { issues: [{ message: 'no' }] }),
  });
  const schema = { '~standard': { version: 1, vendor: 'test', validate } } as never;
  const checked = component('Checked', (props: object) => JSON.stringify(props), { props: schema });
  const queue = createTaskQueue();
  assert.equal(rendered(await queue.run(job(checked, { ok: true }))).html, '{"ok":true}');
  assert.equal(failed(await queue.run(job(checked, { ok: false }))).reason, 'invalid');
});

void test('no listener stays on a signal that outlives its pages', async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const counted = new Proxy(signal, {
    get(target, key) {
      if (key === 'addEventListener') return () => (listeners += 1);
      if (key === 'removeEventListener') return () => (listeners -= 1);
      return Reflect.get(target, key, target) as unknown;
    },
  });
  const page = createTaskQueue().page({ signal: counted });
  await Promise.all([page.run(viewJob(() => '')), page.run(viewJob(() => ''))]);
  assert.equal(listeners, 0);
});
