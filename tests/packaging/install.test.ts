// From an empty folder to the first answer, as a user of npm, pnpm or Yarn has it: packages come from a registry on this machine,
// and only Node.js is needed.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { HOST } from '../../packaging/platforms.ts';
import { root } from '../../packaging/workspace.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { type Registry, startRegistry, toolsDir } from './registry.ts';
import { releaseForTest } from './tarballs.ts';

const COMMANDS_MAX = 3;
const SERVER = "require('node:http').createServer((_, res) => res.end('hello')).listen(process.env.PORT);\n";

/** An agent as scripts preload it: it answers on AGENT_PORT with the worker that it is in. */
const AGENT = `require('node:http').createServer((_, res) => res.end('worker ' + process.env.SLUICE_WORKER))
  .listen(process.env.AGENT_PORT).on('error', () => {});
`;
const WITH_AGENT = { scripts: { app: 'NODE_OPTIONS="$NODE_OPTIONS --require ./agent.cjs" sluice' } };

/** A user's folder, and the commands that are typed in it. */
class Folder {
  readonly dir: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #context: TestContext;
  commands = 0;

  constructor(context: TestContext, { env }: Registry) {
    this.dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-install-'));
    this.#context = context;
    this.#env = { ...env, SLUICE_RUN_DIR: path.join(this.dir, 'run') };
    context.after(() =>
      fs.rmSync(this.dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
    );
    fs.writeFileSync(path.join(this.dir, 'server.js'), SERVER);
  }

  run(program: string, ...args: string[]): string {
    this.commands += 1;
    const { status, stdout, stderr } = spawnSync(program, args, { ...this.#options, encoding: 'utf8' });
    assert.equal(status, 0, `${program} ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Starts a gateway by this command, whose script preloads the agent; returns whose the agent's port is. */
  async agentOf(program: string, ...args: string[]): Promise<string> {
    fs.writeFileSync(path.join(this.dir, 'agent.cjs'), AGENT);
    const manifest = path.join(this.dir, 'package.json');
    const installed = JSON.parse(fs.readFileSync(manifest, 'utf8')) as object;
    fs.writeFileSync(manifest, JSON.stringify({ ...installed, ...WITH_AGENT }));
    const port = await freePort();
    let owner = '';
    const asked = async () => (owner = await (await fetch(`http://127.0.0.1:${port}/`)).text());
    const look = () => eventually(asked, { deadlineMs: 20_000, what: 'an answer of the agent' });
    assert.equal(await this.answers(program, args, { env: { AGENT_PORT: String(port) }, look }), 'hello');
    return owner;
  }

  /** Starts a gateway by this command, asks it, looks at it, and stops it. */
  async answers(
    program: string,
    args: readonly string[] = [],
    { env = {}, look }: { env?: Record<string, string>; look?: () => Promise<unknown> } = {},
  ): Promise<string> {
    this.commands += 1;
    const port = await freePort();
    const flags = ['start', 'server.js', '--port', String(port), '--admin', 'off', '--workers', '1'];
    const options = this.#options;
    const child = spawn(program, [...args, ...flags], { ...options, env: { ...options.env, ...env } });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => (output += data.toString()));
    this.#context.after(() => child.kill('SIGKILL'));
    const answer = async (): Promise<string | false> => {
      if (child.exitCode !== null) return `ended: ${output}`;
      const response = await fetch(`http://127.0.0.1:${port}/`);
      return response.status === 200 && response.text();
    };
    this.commands += 1;
    const answered = await eventually(answer, { deadlineMs: 60_000, what: 'an answer' });
    await look?.();
    child.kill('SIGTERM');
    // Package managers between may end earlier than the gateway.
    await eventually(() => child.exitCode !== null || child.signalCode !== null, {
      deadlineMs: 30_000,
      what: 'the end',
    });
    await eventually(() => !fs.existsSync(path.join(this.dir, 'run/sluice.pid')), {
      deadlineMs: 30_000,
      what: 'the end of the gateway',
    });
    return answered;
  }

  get #options(): { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly stdio: 'pipe' } {
    return { cwd: this.dir, env: this.#env, stdio: 'pipe' };
  }
}

const skip = !fs.existsSync(toolsDir) && 'packaging/node_modules is not installed';

void test('packages from a registry', { skip }, async (t) => {
  const registry = await startRegistry(t);
  const release = await releaseForTest({ after: (remove) => t.after(remove) });

  await t.test('files of dist/ install before anything is published, as the guide says', async (t) => {
    const folder = new Folder(t, registry);
    const guide = fs.readFileSync(path.join(root, 'docs/guide/getting-started.md'), 'utf8');
    const words = /^npm (install (?:.*\\\n)*.*)$/m.exec(guide)?.[1]?.split(/[\s\\]+/) ?? [];
    const here = (word: string) => word.replace(/^..\/sluice\/dist/, release.dir).replace('linux-x64', HOST);
    assert.ok(words.length >= 5, words.join(' '));
    folder.run('npm', ...words.map(here));
    assert.equal(await folder.answers('npx', ['sluice']), 'hello');
  });

  const published = await registry.publish(release.dir);
  assert.equal(published.match(/^published /gm)?.length, release.tarballs.length, published);

  await t.test('a second try to publish leaves what is there', async () => {
    const again = await registry.publish(release.dir);
    assert.equal(again.match(/^there already: /gm)?.length, release.tarballs.length, again);
  });

  await t.test('an empty folder with a server answers after three commands', async (t) => {
    const folder = new Folder(t, registry);
    const began = performance.now();
    folder.run('npm', 'install', 'sluice');
    assert.equal(await folder.answers('npx', ['sluice']), 'hello');
    t.diagnostic(`${folder.commands} commands, ${((performance.now() - began) / 1000).toFixed(1)} s`);
    assert.ok(folder.commands <= COMMANDS_MAX, `${folder.commands} commands`);
    assert.equal(await folder.agentOf('npm', 'run', 'app', '--'), 'worker 1');
    const installed = fs.readdirSync(path.join(folder.dir, 'node_modules/@sluice'));
    assert.deepEqual(installed.toSorted(), [HOST, 'preload', 'react'].toSorted());
  });

  await t.test('the binary finds the preload by itself, without Node between', async (t) => {
    const folder = new Folder(t, registry);
    folder.run('npm', 'install', 'sluice');
    const binary = `node_modules/@sluice/${HOST}/bin/sluice`;
    assert.equal(await folder.answers(path.join(folder.dir, binary)), 'hello');
  });

  await t.test('an installed command profiles and draws the flame graph', async (t) => {
    const folder = new Folder(t, registry);
    folder.run('npm', 'install', 'sluice');
    const profiled = async () => folder.run('npx', 'sluice', 'profile', '--seconds', '0.2', '--json');
    let report = '';
    assert.equal(
      await folder.answers('npx', ['sluice'], { look: async () => (report = await profiled()) }),
      'hello',
    );
    const { file, html } = JSON.parse(report) as { readonly file: string; readonly html: string };
    assert.match(fs.readFileSync(html, 'utf8'), /<script type="application\/json" id="profile">/);
    assert.match(folder.run('npx', 'sluice', 'profile', file), /of wall-clock time/);
  });

  await t.test('a global install answers in a folder that has no packages', async (t) => {
    const folder = new Folder(t, registry);
    folder.run('npm', 'install', '--global', '--prefix', path.join(folder.dir, 'global'), 'sluice');
    assert.equal(await folder.answers(path.join(folder.dir, 'global/bin/sluice')), 'hello');
  });

  await t.test("pnpm's layout of links answers", async (t) => {
    const folder = new Folder(t, registry);
    const pnpm = path.join(toolsDir, '.bin/pnpm');
    folder.run(pnpm, 'add', 'sluice');
    assert.equal(await folder.answers(pnpm, ['exec', 'sluice']), 'hello');
    assert.equal(await folder.agentOf(pnpm, 'run', 'app'), 'worker 1');
    const real = fs.realpathSync(path.join(folder.dir, 'node_modules/sluice'));
    const binary = path.join(real, '../@sluice', HOST, 'bin/sluice');
    assert.equal(await folder.answers(fs.realpathSync(binary)), 'hello');
  });

  await t.test("Yarn's Plug'n'Play answers, without node_modules", async (t) => {
    const folder = new Folder(t, registry);
    const yarn = path.join(toolsDir, '.bin/yarn');
    fs.writeFileSync(path.join(folder.dir, 'package.json'), '{}');
    fs.writeFileSync(path.join(folder.dir, 'yarn.lock'), '');
    folder.run(yarn, 'add', 'sluice');
    assert.equal(await folder.answers(yarn, ['sluice']), 'hello');
    assert.equal(await folder.agentOf(yarn, 'run', 'app'), 'worker 1');
    assert.ok(!fs.existsSync(path.join(folder.dir, 'node_modules')));
  });

  await t.test('an install without optional packages says what to do', async (t) => {
    const folder = new Folder(t, registry);
    folder.run('npm', 'install', '--omit=optional', 'sluice');
    assert.throws(
      () => folder.run('npx', 'sluice', '--version'),
      (error: Error) => {
        assert.match(error.message, /the package @sluice\/\w+-\w+, which holds the binary, is not installed/);
        assert.match(error.message, /--omit=optional.*install again on this machine/s);
        return true;
      },
    );
  });
});
