// `sluice dev`: an app that starts again when its files change, waits for that when it has ended, and is never cut short.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { Sluice, StartOptions } from '../support/sluice.ts';
import { running, statusWhen } from './scenario.ts';

interface Project {
  readonly dir: string;
  write(file: string, text: string): void;
}

const SERVER = `import http from 'node:http';
import { hello } from './lib/hello.mjs';
http.createServer((request, response) => {
  if (request.url === '/boom') setTimeout(() => { throw new Error('boom <i>on purpose</i>'); });
  else if (request.url === '/loop') { const end = Date.now() + 4_000; while (Date.now() < end); response.end('looped'); }
  else response.end(hello + ' ' + process.env.NODE_ENV);
}).listen(process.env.PORT, () => console.log('own words'));
`;
const HELLO = (word: string): string => `export const hello = '${word}';\n`;

function project(t: TestContext): Project {
  // The loaders name modules by their real paths.
  const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'slu-dev-')));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  const write = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    fs.writeFileSync(path.join(dir, file), text);
  };
  write('server.mjs', SERVER);
  write('lib/hello.mjs', HELLO('one'));
  return { dir, write };
}

const develop = (t: TestContext, { dir }: Project, options: StartOptions = {}): Promise<Sluice> =>
  running(t, { dev: true, cwd: dir, ...(options.command ? {} : { entry: 'server.mjs' }), ...options });

const text = async ({ url }: Sluice, target = '/'): Promise<string> => (await fetch(url + target)).text();

/** Waits until the app answers with this. */
const says = (sluice: Sluice, what: string): Promise<unknown> =>
  eventually(async () => (await text(sluice)).includes(what), { deadlineMs: 30_000, what });

void test('a change of a file that the app has loaded starts it again, and other files do not', async (t) => {
  const files = project(t);
  const sluice = await develop(t, files);
  assert.equal(await text(sluice), 'one development');
  files.write('lib/hello.mjs', HELLO('two'));
  await says(sluice, 'two development');
  assert.match(sluice.stdout, /^sluice: lib\/hello\.mjs has changed: the app restarts$/m);
  const restarts = (await sluice.status()).workers[0]?.restarts_total;
  files.write('lib/unused.mjs', HELLO('three'));
  files.write('node_modules/pkg/index.js', '');
  // Nothing happens: several looks at the files go by.
  await wait(1_000);
  assert.equal((await sluice.status()).workers[0]?.restarts_total, restarts);
});

void test('an app that has ended waits for a change, and says why in the browser and elsewhere', async (t) => {
  const files = project(t);
  const sluice = await develop(t, files);
  const answer = await fetch(`${sluice.url}/boom`, { headers: { accept: 'text/html,*/*;q=0.1' } });
  assert.equal(answer.status, 503);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
  const page = await answer.text();
  assert.match(page, /exit code 1[^]*Error: boom &lt;i&gt;on purpose&lt;\/i&gt;[^]*server\.mjs:4/);
  const later = await fetch(sluice.url);
  assert.equal(later.headers.get('x-sluice-error'), 'SLU-APP-DOWN');
  assert.match(await later.text(), /boom <i>on purpose<\/i>/);
  assert.equal((await sluice.status()).workers.length, 0, 'nothing is tried again meanwhile');
  files.write('lib/hello.mjs', HELLO('mended'));
  await says(sluice, 'mended');
});

void test('a file that cannot be parsed, and one that was not loaded before it, can be mended', async (t) => {
  const files = project(t);
  files.write('lib/hello.mjs', "import './deep.mjs';\nexport const hello = 'deep';\n");
  files.write('lib/deep.mjs', "throw new Error('thrown at the first start');\n");
  const sluice = await develop(t, files, { waitUntilReady: false });
  const down = await eventually(
    async () => {
      const body = await text(sluice);
      return body.includes('thrown at the first start') && body;
    },
    { deadlineMs: 60_000, what: 'the page about the first start' },
  );
  assert.match(down, /deep\.mjs:1/);
  files.write('lib/deep.mjs', 'this is no module');
  await says(sluice, 'SyntaxError');
  files.write('lib/deep.mjs', '');
  await says(sluice, 'deep development');
});

void test('standard output has the words of the app and requests in short, and `sluice logs` has all', async (t) => {
  const sluice = await develop(t, project(t));
  await text(sluice, '/path?query');
  await eventually(() => /^200 GET \/path\?query {2}[\d.]+ ms$/m.test(sluice.stdout), { deadlineMs: 10_000 });
  // A line may go on in the next one, which is waited for.
  await eventually(() => /^own words$/m.test(sluice.stdout), { deadlineMs: 10_000 });
  assert.doesNotMatch(sluice.stdout, /pid|worker 1/);
  const { stdout } = await sluice.cli(['logs', '--text']);
  assert.match(stdout, /worker_started .*pid=\d+[^]*w1 \| own words/);
});

void test('a thread that stands still for seconds, as at a breakpoint, is left alone and answers', async (t) => {
  const sluice = await develop(t, project(t), { env: { SLUICE_WORKERS_STUCK_AFTER_MS: '1500' } });
  assert.equal(await text(sluice, '/loop'), 'looped');
  const { workers } = await sluice.status();
  assert.deepEqual(
    workers.map(({ restarts_total }) => restarts_total),
    [0],
  );
});

void test('a command is started again when what it has loaded changes, with one worker and no cache', async (t) => {
  const files = project(t);
  files.write('package.json', JSON.stringify({ type: 'module', scripts: { dev: 'node server.mjs' } }));
  const sluice = await develop(t, files, { command: ['npm', 'run', '--silent', 'dev'] });
  assert.equal(await text(sluice), 'one development');
  files.write('lib/hello.mjs', HELLO('two'));
  await says(sluice, 'two development');
  await statusWhen(sluice, ({ workers }) => workers.length === 1, 'one worker');
});

void test('`--watch` names what the app reads by itself, and `--inspect` opens the inspector', async (t) => {
  const files = project(t);
  files.write('views/page.html', 'one');
  const sluice = await develop(t, files, { flags: ['--watch', 'views', '--inspect=0'] });
  await eventually(() => /Debugger listening on ws:/.test(sluice.stdout), { deadlineMs: 10_000 });
  files.write('views/new.html', 'two');
  await eventually(() => sluice.stdout.includes('views/new.html has changed'), { deadlineMs: 10_000 });
  await statusWhen(sluice, ({ workers }) => workers[0]?.restarts_total === 1, 'a new start');
});

void test('a file that is renamed hides no change of another file', async (t) => {
  const files = project(t);
  const sluice = await develop(t, files);
  fs.renameSync(path.join(files.dir, 'lib/hello.mjs'), path.join(files.dir, 'lib/renamed.mjs'));
  // Nothing shows when the gateway has seen it: a few looks go by.
  await wait(1_000);
  files.write('lib/renamed.mjs', HELLO('renamed'));
  files.write('server.mjs', SERVER.replace('hello.mjs', 'renamed.mjs'));
  await says(sluice, 'renamed development');
});

void test('a request that a change cuts short does not get the stack of an earlier failure', async (t) => {
  const files = project(t);
  files.write(
    'server.mjs',
    SERVER.replace("'/loop')", "'/held') console.log('held');\n  else if (request.url === '/loop')"),
  );
  const sluice = await develop(t, files);
  assert.match(await text(sluice, '/boom'), /boom <i>on purpose<\/i>/);
  files.write('lib/hello.mjs', HELLO('mended'));
  await says(sluice, 'mended');
  const held = fetch(`${sluice.url}/held`, { method: 'POST' });
  await eventually(() => /^held$/m.test(sluice.stdout), { deadlineMs: 10_000 });
  files.write('lib/hello.mjs', HELLO('again'));
  const answer = await held;
  assert.equal(answer.headers.get('x-sluice-error'), 'SLU-WORKER-DIED');
  assert.doesNotMatch(await answer.text(), /boom/);
});

void test('an app hears from processes that it forks what they say, and starts again when their files change', async (t) => {
  const files = project(t);
  files.write(
    'child.mjs',
    "import './lib/hello.mjs';\nprocess.send('own words');\nprocess.on('disconnect', () => process.exit());\n",
  );
  const lines = [
    "import http from 'node:http';",
    "import { fork } from 'node:child_process';",
    'const heard = [];',
    "fork('./child.mjs').on('message', (message) => heard.push(message));",
    'http.createServer((_, response) => response.end(JSON.stringify(heard))).listen(process.env.PORT);',
  ];
  files.write('server.mjs', lines.join('\n'));
  const sluice = await develop(t, files);
  await says(sluice, 'own words');
  assert.equal(await text(sluice), '["own words"]');
  files.write('lib/hello.mjs', HELLO('two'));
  await eventually(() => sluice.stdout.includes('hello.mjs has changed'), { deadlineMs: 10_000 });
  await statusWhen(sluice, ({ workers }) => workers[0]?.restarts_total === 1, 'a new start');
});

void test('`--inspect` is added to the arguments for Node.js of the file, and refused for a command', async (t) => {
  const files = project(t);
  files.write('first.mjs', "console.log('first of all');\n");
  files.write('sluice.toml', '[app]\nnode_args = ["--import", "./first.mjs"]\n');
  const sluice = await develop(t, files, { flags: ['--inspect=0'] });
  await eventually(() => /Debugger listening on ws:[^]*first of all/.test(sluice.stdout), {
    deadlineMs: 10_000,
  });
  files.write('sluice.toml', '[app]\ncommand = ["node", "server.mjs"]\n');
  await assert.rejects(
    running(t, { dev: true, cwd: files.dir, flags: ['--inspect=0'] }),
    /--inspect is for scripts/,
  );
});

void test('a page of the app that fails in production says nothing of its stack', async (t) => {
  const files = project(t);
  const sluice = await running(t, { entry: 'server.mjs', cwd: files.dir, workers: 1 });
  const answer = await fetch(`${sluice.url}/boom`, { method: 'POST', headers: { accept: 'text/html' } });
  assert.equal(answer.status, 502);
  assert.doesNotMatch(await answer.text(), /boom|at /);
});
