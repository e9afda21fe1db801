// Hooks run where plugins expect them, with what they expect, and their errors hit what they belong to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFragments } from '../../src/fragments/fragments.js';
import type { BatchContext, JobContext, Plugin } from '../../src/fragments/plugins.js';
import { createRegistry } from '../../src/registry/registry.js';
import { post, resultOf, serve } from '../support/serve.js';

const registry = createRegistry();
registry.register('Good', ({ n }: { n?: number }) => `<b>${n}</b>`, { rendering: 'static' });
registry.register('Bad', () => {
  throw new Error('bad');
});

const HOOKS = ['batchStart', 'jobStart', 'beforeRender', 'afterRender', 'jobEnd', 'batchEnd'] as const;

/** A plugin that notes its calls. */
function noting(order: string[], name = ''): Plugin {
  const hooks = HOOKS.map((hook) => [
    hook,
    (context: BatchContext | JobContext) => {
      order.push([name, hook, 'token' in context ? context.token : undefined].filter(Boolean).join(' '));
    },
  ]);
  return {
    ...(Object.fromEntries(hooks) as Plugin),
    initialize: () => void order.push(`${name} initialize`.trim()),
    shutDown: () => void order.push(`${name} shutDown`.trim()),
    onError: (context, error) =>
      void order.push(`onError ${'token' in context ? context.token : 'batch'} ${(error as Error).message}`),
  };
}

void test('jobs one after the other: the hooks of each come before those of the next', async () => {
  const order: string[] = [];
  const fragments = createFragments({ registry, plugins: [noting(order)], isConcurrent: false });
  await fragments.batch({ a: { name: 'Good' }, b: { name: 'Bad' }, c: { name: 'Good' } });
  await fragments.shutDown();
  const whole = (token: string) =>
    ['jobStart', 'beforeRender', 'afterRender', 'jobEnd'].map((hook) => `${hook} ${token}`);
  assert.deepEqual(order, [
    'initialize',
    'batchStart',
    ...whole('a'),
    'jobStart b',
    'beforeRender b',
    'onError b bad',
    ...whole('c'),
    'batchEnd',
    'shutDown',
  ]);
});

void test('jobs at once: each has its hooks in order, between those of the batch', async () => {
  const order: string[] = [];
  const fragments = createFragments({ registry, plugins: [noting(order)] });
  await fragments.batch({ a: { name: 'Good' }, b: { name: 'Good' } });
  assert.deepEqual(order.slice(0, 2), ['initialize', 'batchStart']);
  assert.equal(order.at(-1), 'batchEnd');
  for (const token of ['a', 'b']) {
    const own = order.filter((entry) => entry.endsWith(` ${token}`));
    assert.deepEqual(
      own,
      ['jobStart', 'beforeRender', 'afterRender', 'jobEnd'].map((hook) => `${hook} ${token}`),
    );
  }
});

void test('plugins run in their order, hook by hook', async () => {
  const order: string[] = [];
  const fragments = createFragments({ registry, plugins: [noting(order, '1'), {}, noting(order, '2')] });
  await fragments.batch({ a: { name: 'Good' } });
  assert.deepEqual(
    order,
    [
      'initialize',
      'batchStart',
      'jobStart a',
      'beforeRender a',
      'afterRender a',
      'jobEnd a',
      'batchEnd',
    ].flatMap((hook) => [`1 ${hook}`, `2 ${hook}`]),
  );
});

void test('plugins are initialized once, before the first of several batches', async () => {
  const order: string[] = [];
  const fragments = createFragments({ registry, plugins: [noting(order)] });
  await Promise.all([fragments.batch({}), fragments.batch({}), fragments.initialize()]);
  assert.deepEqual(order.toSorted(), ['batchEnd', 'batchEnd', 'batchStart', 'batchStart', 'initialize']);
  assert.equal(order[0], 'initialize');
});

void test('a hook is given what it needs to know', async (t) => {
  const seen: Record<string, BatchContext | JobContext> = {};
  const plugin = Object.fromEntries(
    HOOKS.map((hook) => [hook, (context: JobContext) => void (seen[hook] = context)]),
  ) as Plugin;
  const url = await serve(t, createFragments({ registry, plugins: [plugin] }).handle);
  const jobs = { a: { name: 'Good', data: { n: 1 }, metadata: { user: 7 } } };
  await post(`${url}/batch`, jobs);
  const batch = seen['batchStart'] as BatchContext;
  assert.deepEqual(batch.tokens, ['a']);
  assert.deepEqual(batch.jobs, jobs);
  assert.equal(batch.request?.method, 'POST');
  assert.equal(batch.response?.req, batch.request);
  const before = seen['beforeRender'] as JobContext;
  const { token, name, props, metadata, html, duration, statusCode } = before;
  assert.deepEqual(
    { token, name, props, metadata, html, duration, statusCode },
    {
      token: 'a',
      name: 'Good',
      props: { n: 1 },
      metadata: { user: 7 },
      html: null,
      duration: null,
      statusCode: 200,
    },
  );
  const after = seen['afterRender'] as JobContext;
  assert.equal(after.html, '<b>1</b>');
  assert.ok(typeof after.duration === 'number');
  assert.equal(after.request, batch.request);
});

void test('returnMeta goes to the host; batchMeta is shared by all, data by the hooks of a plugin', async () => {
  const counting = (name: string): Plugin => ({
    batchStart({ batchMeta, data }) {
      batchMeta[name] = 1;
      data.set('count', 0);
    },
    jobStart({ batchMeta, returnMeta, data }) {
      data.set('count', (data.get('count') as number) + 1);
      returnMeta[name] = { others: Object.keys(batchMeta), count: data.get('count') };
    },
  });
  const fragments = createFragments({
    registry,
    plugins: [counting('x'), counting('y')],
    isConcurrent: false,
  });
  for (let time = 0; time < 2; time += 1) {
    const answer = await fragments.batch({ a: { name: 'Good' }, b: { name: 'Nobody' } });
    const others = ['x', 'y'];
    assert.deepEqual(resultOf(answer, 'a').meta, { x: { others, count: 1 }, y: { others, count: 1 } });
    assert.deepEqual(resultOf(answer, 'b').meta, { x: { others, count: 2 }, y: { others, count: 2 } });
  }
});

void test('returnMeta that is no JSON is the error of its job alone', async () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  for (const value of [1n, cyclic]) {
    const told: unknown[] = [];
    const plugin: Plugin = {
      jobStart({ token, returnMeta }) {
        returnMeta['sent'] = token === 'bad' ? value : token;
      },
      onError: (_context, error) => void told.push(error),
    };
    const answer = await createFragments({ registry, plugins: [plugin] }).batch({
      good: { name: 'Good', data: { n: 1 } },
      bad: { name: 'Good', data: { n: 2 } },
    });
    const sent = JSON.parse(JSON.stringify(answer)) as typeof answer;
    assert.equal(sent.success, true);
    assert.deepEqual(resultOf(sent, 'good').meta, { sent: 'good' });
    const { success, statusCode, error, html, meta } = resultOf(sent, 'bad');
    assert.deepEqual(
      { success, statusCode, html, meta },
      { success: false, statusCode: 500, html: null, meta: {} },
    );
    assert.match(error?.message ?? '', /^returnMeta of "Good" is not JSON: /);
    assert.equal(told.length, 1);
  }
});

void test('what a hook assigns to its context changes no result', async () => {
  const plugin: Plugin = {
    afterRender: (context) => {
      Object.assign(context, { html: 'mine', statusCode: 418, name: 'Mine' });
    },
  };
  const answer = await createFragments({ registry, plugins: [plugin] }).batch({
    a: { name: 'Good', data: { n: 1 } },
  });
  const { html, statusCode, name } = resultOf(answer, 'a');
  assert.deepEqual({ html, statusCode, name }, { html: '<b>1</b>', statusCode: 200, name: 'Good' });
});

for (const hook of ['jobStart', 'beforeRender', 'afterRender', 'jobEnd'] as const) {
  for (const way of ['throws', 'rejects'] as const) {
    void test(`${hook} that ${way} fails its job alone`, async () => {
      const order: string[] = [];
      const failing: Plugin = {
        [hook]: ({ token }: JobContext) => {
          if (token !== 'a') return;
          if (way === 'rejects') return Promise.reject(new Error('hook'));
          throw new Error('hook');
        },
      };
      const fragments = createFragments({ registry, plugins: [noting(order), failing], isConcurrent: false });
      const answer = await fragments.batch({ a: { name: 'Good', data: { n: 1 } }, b: { name: 'Good' } });
      assert.equal(answer.success, true);
      const { statusCode, error, html, success } = resultOf(answer, 'a');
      assert.equal(statusCode, 500);
      assert.equal(error?.message, 'hook');
      // What was rendered is there, and says so.
      const isRendered = hook === 'afterRender' || hook === 'jobEnd';
      assert.equal(html, isRendered ? '<b>1</b>' : null);
      assert.equal(success, isRendered);
      assert.ok(order.includes('onError a hook'));
      assert.equal(resultOf(answer, 'b').success, true);
    });
  }
}

void test('batchStart that throws fails the batch before any job', async (t) => {
  const order: string[] = [];
  const failing: Plugin = {
    batchStart() {
      throw new TypeError('not today');
    },
  };
  const url = await serve(t, createFragments({ registry, plugins: [noting(order), failing] }).handle);
  const { status, answer } = await post(`${url}/batch`, { a: { name: 'Good' } });
  assert.equal(status, 500);
  assert.equal(answer.success, false);
  assert.equal(answer.error?.name, 'TypeError');
  assert.equal(answer.error.message, 'not today');
  const { html, success, statusCode, duration, error } = resultOf(answer, 'a');
  assert.deepEqual(
    { html, success, statusCode, duration, error },
    { html: null, success: false, statusCode: 200, duration: null, error: null },
  );
  assert.deepEqual(order, ['initialize', 'batchStart', 'onError batch not today']);
});

void test('batchEnd that throws fails the batch, whose jobs are rendered', async (t) => {
  const failing: Plugin = { batchEnd: () => Promise.reject(new Error('at the end')) };
  const url = await serve(t, createFragments({ registry, plugins: [failing] }).handle);
  const { status, answer } = await post(`${url}/batch`, { a: { name: 'Good', data: { n: 1 } } });
  assert.equal(status, 500);
  assert.equal(answer.success, false);
  assert.equal(answer.error?.message, 'at the end');
  assert.equal(resultOf(answer, 'a').html, '<b>1</b>');
});

void test('onError that throws fails the batch, with an answer', async (t) => {
  const failing: Plugin = {
    onError() {
      throw new Error('even worse');
    },
  };
  const url = await serve(t, createFragments({ registry, plugins: [failing] }).handle);
  const { status, answer } = await post(`${url}/batch`, { a: { name: 'Bad' } });
  assert.equal(status, 500);
  assert.equal(answer.error?.message, 'even worse');
});

void test('initialize that fails is the error of every batch', async (t) => {
  const failing: Plugin = { initialize: () => Promise.reject(new Error('no database')) };
  const url = await serve(t, createFragments({ registry, plugins: [failing] }).handle);
  for (let time = 0; time < 2; time += 1) {
    const { status, answer } = await post(`${url}/batch`, { a: { name: 'Good' } });
    assert.equal(status, 500);
    assert.equal(answer.error?.message, 'no database');
  }
});

void test('a body that is no batch is an error that hooks see', async (t) => {
  const order: string[] = [];
  const url = await serve(t, createFragments({ registry, plugins: [noting(order)], bytesMax: 20 }).handle);
  await post(`${url}/batch`, '{');
  await post(`${url}/batch`, `"${'x'.repeat(20)}"`);
  assert.equal(order.length, 2);
  assert.match(order[0] ?? '', /^onError batch The body is not valid JSON/);
  assert.match(order[1] ?? '', /^onError batch The body has more than 20 bytes/);
});

void test('a hook that does not end holds up a batch no longer than its limit', async () => {
  const never: Plugin = { batchStart: () => new Promise(() => {}), jobEnd: () => new Promise(() => {}) };
  const answer = await createFragments({ registry, plugins: [never], hookTimeoutMs: 2 }).batch({
    a: { name: 'Good' },
  });
  assert.equal(resultOf(answer, 'a').success, true);
});

void test('a job that is none has no hooks but onError', async () => {
  const order: string[] = [];
  await createFragments({ registry, plugins: [noting(order)] }).batch({ a: null });
  assert.deepEqual(order, [
    'initialize',
    'batchStart',
    'onError a Job "a" is not an object with name and data',
    'batchEnd',
  ]);
});

void test('shutDown hooks get the options, and what stopped the server', async () => {
  const seen: unknown[] = [];
  const options = { registry, plugins: [{ shutDown: (...given: unknown[]) => void seen.push(...given) }] };
  const error = new Error('stop');
  await createFragments(options).shutDown(error);
  assert.deepEqual(seen, [options, error, undefined]);
});

void test('a hook that rejects after another has thrown does not end the process', async (t) => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  t.after(() => process.off('unhandledRejection', note));
  const rejects: Plugin = {
    batchStart: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('first');
    },
  };
  const throws: Plugin = {
    batchStart: () => {
      throw new Error('second');
    },
  };
  const answer = await createFragments({ registry, plugins: [rejects, throws] }).batch({});
  assert.equal(answer.error?.message, 'second');
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(unhandled, []);
});
