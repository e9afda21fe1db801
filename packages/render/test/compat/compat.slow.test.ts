// Hypernova, its clients and its browser code, unmodified: they are installed here, and cannot tell the difference.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { before, test, type TestContext } from 'node:test';
import { copyRenderer, installIfStale } from '../../../react/test/versions/install.js';
import type { BatchAnswer, FragmentResult } from '../../src/fragments/protocol.js';
import { start } from '../support/fork.js';
import { send } from '../support/serve.js';

const home = import.meta.dirname;
const fixture = (name: string): string => path.join(home, 'fixtures', name);

before(() => installIfStale(home));

type Jobs = Readonly<
  Record<string, { readonly name?: string; readonly data?: unknown; readonly metadata?: unknown }>
>;

const JSON_TYPE = { 'content-type': 'application/json' };

/** Without what differs from one render to the next, or is better here on purpose. */
function comparable({ error, duration, ...rest }: FragmentResult): object {
  // Hosts put it into their pages as a text, whatever it is.
  const html = rest.html as string | number | readonly unknown[] | null;
  return {
    ...rest,
    html: html === null ? null : [html].join().replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'ID'),
    // Hypernova has none where `getComponent` throws.
    hasDuration: html !== null && typeof duration === 'number',
    error: error === null ? null : [error.name, error.message],
  };
}

async function ask(url: string, jobs: Jobs): Promise<object> {
  const { status, text } = await send(`${url}/batch`, 'POST', JSON_TYPE, JSON.stringify(jobs));
  const answer = JSON.parse(text) as BatchAnswer;
  const results = Object.entries(answer.results).map(([token, result]) => [token, comparable(result)]);
  return { status, success: answer.success, hasError: answer.error !== null, results };
}

/** The hooks since they were last asked for, and those of this batch before its render. */
async function hooksOf(url: string): Promise<readonly string[]> {
  const { text } = await send(`${url}/batch`, 'POST', JSON_TYPE, '{"order":{"name":"Order"}}');
  const { results } = JSON.parse(text) as BatchAnswer;
  const html = results['order']?.html ?? '[]';
  return JSON.parse(html) as string[];
}

const good = { name: 'Text', data: { a: 1 } };

const BATCHES: Readonly<Record<string, Jobs>> = {
  'one job': { a: good },
  'no job': {},
  'each kind of data': {
    object: { name: 'Text', data: { a: [1, null, 'x'] } },
    list: { name: 'Text', data: [1] },
    text: { name: 'Text', data: 'text' },
    null: { name: 'Text', data: null },
    none: { name: 'Text' },
  },
  'promises of renders and of functions': { a: { name: 'Later' }, b: { name: 'GetLater', data: 1 } },
  'unknown ones': { a: { name: 'Nobody' }, b: { name: 'Object' }, c: { name: 'Html' }, d: good },
  'failing ones': {
    a: { name: 'Throws' },
    b: { name: 'Rejects' },
    c: { name: 'ThrowsText' },
    d: { name: 'GetThrows' },
    e: good,
  },
  React: { a: { name: 'Counter', data: { start: 3 } }, b: { name: 'Static', data: { start: 4 } } },
  ...Object.fromEntries(
    ['jobStart', 'beforeRender', 'afterRender', 'jobEnd'].map((hook) => [
      `${hook} that throws`,
      { a: good, b: { ...good, metadata: { throws: hook } }, c: good },
    ]),
  ),
  ...Object.fromEntries(
    ['jobStart', 'jobEnd'].map((hook) => [
      `${hook} that rejects`,
      { a: good, b: { ...good, metadata: { rejects: hook } }, c: good },
    ]),
  ),
  ...Object.fromEntries(
    ['batchStart', 'batchEnd'].flatMap((hook) =>
      ['throws', 'rejects'].map((way) => [
        `${hook} that ${way}`,
        { wish: { ...good, metadata: { [way]: hook } }, b: good },
      ]),
    ),
  ),
};

async function both(t: TestContext, mode: string): Promise<readonly [string, string]> {
  const programs = ['real.cjs', 'ours.ts'].map((name) => start(t, fixture(name), mode));
  const [real, ours] = await Promise.all(programs.map((program) => program.address()));
  return [real ?? '', ours ?? ''];
}

void test('jobs one after the other: answers and hooks are those of Hypernova', async (t) => {
  const [real, ours] = await both(t, 'serial');
  for (const [name, jobs] of Object.entries(BATCHES)) {
    assert.deepEqual(await ask(ours, jobs), await ask(real, jobs), name);
    const hooks = await hooksOf(real);
    assert.ok(hooks.length > 2, name);
    assert.deepEqual(await hooksOf(ours), hooks, name);
  }
});

void test('jobs at once: answers are those of Hypernova, and so are the hooks of each job', async (t) => {
  const [real, ours] = await both(t, 'concurrent');
  for (const [name, jobs] of Object.entries(BATCHES)) {
    assert.deepEqual(await ask(ours, jobs), await ask(real, jobs), name);
    const [expected, actual] = [await hooksOf(real), await hooksOf(ours)];
    assert.equal(actual.length, expected.length, name);
    for (const token of [...Object.keys(jobs), 'undefined']) {
      const own = (hooks: readonly string[]) => hooks.filter((hook) => hook.split(' ')[1] === token);
      assert.deepEqual(own(actual), own(expected), `${name}, ${token}`);
    }
    assert.deepEqual(
      actual.filter((hook) => hook.startsWith('batch')),
      expected.filter((hook) => hook.startsWith('batch')),
      name,
    );
  }
});

void test('numbers and lists have the text that hosts make of Hypernova’s answers', async (t) => {
  const [real, ours] = await both(t, 'serial');
  const jobs = { a: { name: 'Number' }, b: { name: 'List' } };
  assert.deepEqual(await ask(ours, jobs), await ask(real, jobs));
});

void test('requests that are no batches have the statuses of Hypernova', async (t) => {
  const [real, ours] = await both(t, 'serial');
  const requests: readonly (readonly [string, string, Readonly<Record<string, string>>, string])[] = [
    ['GET', '/batch', {}, ''],
    ['PUT', '/batch', JSON_TYPE, '{}'],
    ['POST', '/other', JSON_TYPE, '{}'],
    ['POST', '/batch?a=1', JSON_TYPE, '{}'],
    ['POST', '/batch', JSON_TYPE, ''],
    ['POST', '/batch', JSON_TYPE, '{'],
    ['POST', '/batch', JSON_TYPE, 'text'],
    ['POST', '/batch', JSON_TYPE, '"text"'],
    ['POST', '/batch', JSON_TYPE, `{"a":"${'x'.repeat(1_024_000)}"}`],
    ['POST', '/batch', { ...JSON_TYPE, 'content-encoding': 'gzip' }, 'none'],
    ['POST', '/batch', { ...JSON_TYPE, 'content-encoding': 'lzma' }, '{}'],
    ['POST', '/batch', { 'content-type': 'application/json; charset=latin1' }, '{}'],
  ];
  for (const [method, url, headers, body] of requests) {
    const [expected, actual] = [
      await send(`${real}${url}`, method, headers, body),
      await send(`${ours}${url}`, method, headers, body),
    ];
    assert.equal(
      actual.status,
      expected.status,
      `${method} ${url} ${body.slice(0, 10)} ${JSON.stringify(headers)}`,
    );
  }
});

void test('a job that is null ends Hypernova’s batch without an answer, and is a job’s error here', async (t) => {
  const ours = await start(t, fixture('ours.ts')).address();
  const { status, text } = await send(`${ours}/batch`, 'POST', JSON_TYPE, '{"a":null,"b":{"name":"Later"}}');
  const { results } = JSON.parse(text) as BatchAnswer;
  assert.equal(status, 200);
  assert.equal(results['a']?.success, false);
  assert.equal(results['b']?.html, '<p>later</p>');
});

void test('hypernova-client gets its HTML, and falls back job by job', async (t) => {
  const ours = await start(t, fixture('ours.ts')).address();
  const require = createRequire(path.join(home, 'package.json'));
  const Renderer = require('hypernova-client') as new (options: object) => {
    addPlugin(plugin: object): void;
    render(jobs: object): Promise<string>;
  };
  const client = new Renderer({ url: `${ours}/batch` });
  assert.equal(await client.render({ Text: { a: 1 } }), '<p>{"a":1}</p>');
  assert.match(
    await client.render({ Counter: { start: 3 } }),
    /^<div data-hypernova-key="Counter"[^]*Count <!-- -->3<[^]*<!--\{"start":3\}--><\/script>$/,
  );
  assert.match(await client.render({ Throws: { a: 1 } }), /<div data-hypernova-key="Throws" [^>]+><\/div>/);

  const errors: unknown[] = [];
  const succeeded: unknown[] = [];
  client.addPlugin({
    onError: (error: unknown) => errors.push(error),
    onSuccess: (jobs: object) => succeeded.push(Object.keys(jobs)),
    afterResponse: (_current: unknown, results: object) => JSON.stringify(Object.keys(results)),
  });
  assert.equal(await client.render({ Text: {}, Throws: {}, Nobody: {} }), '["Text","Throws","Nobody"]');
  assert.deepEqual(
    errors.map((error) => (error as Error).message),
    ['no such product', 'Component "Nobody" not registered'],
  );
  assert.deepEqual(succeeded, [['Text', 'Throws', 'Nobody']]);
});

void test('Hypernova’s browser code finds places and data, and hydrates them without a word', async (t) => {
  const ours = await start(t, fixture('ours.ts')).address();
  const { text } = await send(
    `${ours}/batch`,
    'POST',
    JSON_TYPE,
    JSON.stringify({ a: { name: 'Counter', data: { start: 3 } } }),
  );
  const { results } = JSON.parse(text) as BatchAnswer;
  const { serialize } = await import('../../src/fragments/markup.js');
  const data = { text: '</script><!-- <script> & &amp; &gt; -->\u2028\0', list: [1, null] };
  const browser = start(t, fixture('browser.cjs'));
  browser.child.send(`${results['a']?.html}${serialize('Data', '<b>', data)}${serialize('Data', '', 7)}`);
  assert.deepEqual(await browser.message(), { text: 'Count 4', isSame: true, said: [], loaded: [data, 7] });
});

void test('renderReact of this package hydrates with the newest React, several of a name, without a word', async (t) => {
  const browser = start(t, path.join(home, '../fragments/fixtures/browser-react.ts'));
  assert.deepEqual(await browser.message(), {
    texts: ['Count 1', 'Count 3'],
    ids: 2,
    isSame: true,
    said: [],
  });
});

const REACT_18 = `
  import { createElement as h, lazy, Suspense, useId, version } from 'react';
  import { react } from '@sluice/render/react';
  import * as server from 'react-dom/server';
  const Late = lazy(async () => ({ default: () => h('b', null, 'late') }));
  const Page = ({ name }) => h('p', { id: useId() }, 'Hello, ', name, h(Suspense, { fallback: 'waits' }, h(Late)));
  const context = { id: 'b7', slots: { names: [] }, signal: new AbortController().signal };
  for (const adapter of [react(), react({ server })]) {
    for (const _ of [1, 2]) console.log(version, await adapter.render(Page, { name: 'Ada' }, context));
  }
`;

void test('React 18.3 renders, and waits for data', async () => {
  const folder = path.join(home, '../../../react/test/versions/18.3');
  installIfStale(folder);
  copyRenderer(folder);
  const copy = path.join(folder, 'node_modules/@sluice/render');
  await rm(copy, { recursive: true, force: true });
  for (const part of ['dist', 'package.json']) {
    await cp(path.join(home, '../..', part), path.join(copy, part), { recursive: true });
  }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', REACT_18], {
    cwd: folder,
  });
  const html = /^18\.3\.\d <p id=":b7R[^"]*">Hello, <!-- -->Ada<!--\$--><b>late<\/b><!--\/\$--><\/p>$/;
  const lines = stdout.trim().split('\n');
  assert.equal(lines.length, 4);
  for (const line of lines) assert.match(line, html);
});

void test('pyramid-hypernova gets its HTML, and falls back job by job', async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sluice-pyramid-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const python = path.join(folder, 'bin', 'python');
  const installs: readonly (readonly [string, readonly string[]])[] = [
    ['python3', ['-m', 'venv', folder]],
    [
      python,
      [
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        'pyramid-hypernova==10.0.3',
        'crochet<2',
      ],
    ],
  ];
  for (const [command, parameters] of installs) {
    const { status, stderr, error } = spawnSync(command, parameters, { encoding: 'utf8', timeout: 300_000 });
    if (status !== 0) {
      t.skip(`pyramid-hypernova cannot be installed: ${error?.message ?? stderr.trim().split('\n').at(-1)}`);
      return;
    }
  }
  const ours = await start(t, fixture('ours.ts')).address();
  const jobs = [
    ['Counter', { start: 3 }],
    ['Text', { a: '</script>' }],
    ['Throws', {}],
    ['Nobody', {}],
  ];
  // In one request by requests, and in several by fido.
  for (const batchSize of ['0', '3']) {
    const parameters = [fixture('host.py'), `${ours}/batch`, batchSize, JSON.stringify(jobs)];
    const { stdout } = await promisify(execFile)(python, parameters);
    const results = JSON.parse(stdout) as {
      name: string;
      html: string;
      error: { name: string; message: string } | null;
    }[];
    const of = (name: string) => results.find((result) => result.name === name) ?? assert.fail(name);
    assert.match(of('Counter').html, /Count <!-- -->3/);
    assert.equal(of('Counter').error, null);
    assert.equal(of('Text').html, '<p>{"a":"</script>"}</p>');
    assert.equal(of('Throws').error?.name, 'RangeError');
    assert.match(of('Throws').html, /data-hypernova-key="Throws"/);
    assert.equal(of('Nobody').error?.message, 'Component "Nobody" not registered');
  }
});
