// npm and npx between whoever starts the gateway and the gateway: they end at a signal and leave what they have started
// behind. The gateway notices and leaves in order, unless it was meant to outlive them.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { repositoryDir } from '../support/sluice.ts';
import { isAlive, ownApp } from './scenario.ts';

/** The bar: everything is gone this long after the signal. */
const GONE_MS = 15_000;

/** A project that has Sluice installed, by a link as `npm link` makes it. */
class Project {
  readonly dir: string = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-npx-'));
  readonly runDir: string = path.join(this.dir, 'run');
  readonly port: number;
  child: ChildProcess | undefined;

  constructor(context: TestContext, port: number) {
    this.port = port;
    fs.mkdirSync(path.join(this.dir, 'node_modules/.bin'), { recursive: true });
    fs.symlinkSync(
      path.join(repositoryDir, 'packages/sluice/bin/sluice.js'),
      path.join(this.dir, 'node_modules/.bin/sluice'),
    );
    context.after(() => {
      for (const pid of [this.gatewayPid(), this.child?.pid]) {
        if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
      }
      fs.rmSync(this.dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    });
  }

  get start(): string[] {
    const flags = ['--port', String(this.port), '--admin', 'off', '--run-dir', this.runDir, '--workers', '1'];
    return ['start', ownApp('hold.js'), ...flags];
  }

  get develop(): string[] {
    return ['dev', 'app.js', '--port', String(this.port), '--run-dir', this.runDir];
  }

  /** A script of `package.json`. */
  scripts(scripts: Record<string, string>): void {
    fs.writeFileSync(path.join(this.dir, 'package.json'), JSON.stringify({ private: true, scripts }));
  }

  /** Runs a command in its own process group, and waits until the gateway serves. */
  async serving(command: string[]): Promise<ChildProcess> {
    const child = this.begin(command);
    const ready = async () => (await fetch(`http://127.0.0.1:${this.port}/.sluice/ready`)).status === 200;
    await eventually(ready, {
      deadlineMs: 60_000,
      what: `a gateway by ${command.join(' ')}: ${this.output}`,
    });
    return child;
  }

  begin(command: string[]): ChildProcess {
    if (!fs.existsSync(path.join(this.dir, 'package.json'))) this.scripts({});
    const output = fs.openSync(path.join(this.dir, 'output'), 'a');
    const kept = Object.entries(process.env).filter(
      ([name]) => !/^(npm_|NODE_OPTIONS|NODE_TEST_CONTEXT)/.test(name),
    );
    const [program = '', ...args] = command;
    const direct = process.env['SLUICE_BINARY'] === undefined ? {} : { SLUICE_PRELOAD: this.#preload };
    const child = spawn(program, args, {
      cwd: this.dir,
      detached: true,
      stdio: ['ignore', output, output],
      env: { ...Object.fromEntries(kept), ...direct, HOLD_DIR: this.dir },
    });
    fs.closeSync(output);
    this.child = child;
    return child;
  }

  get #preload(): string {
    return process.env['SLUICE_PRELOAD'] ?? path.join(repositoryDir, 'packages/preload/dist/index.js');
  }

  gatewayPid(): number | undefined {
    const file = path.join(this.runDir, 'sluice.pid');
    return fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : undefined;
  }

  get output(): string {
    const file = path.join(this.dir, 'output');
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  }

  /** A request that stays in service until it is released. */
  async held(): Promise<{ answer: Promise<number>; release: () => void }> {
    const answer = fetch(`http://127.0.0.1:${this.port}/hold/it`).then(({ status }) => status);
    answer.catch(() => {});
    await eventually(() => fs.existsSync(path.join(this.dir, 'journal')), { what: 'a request in service' });
    return {
      answer,
      release: () => {
        fs.writeFileSync(path.join(this.dir, 'it'), '');
      },
    };
  }

  /** Processes that have this project's run directory in their arguments or their environment, the guardian too. */
  processes(): number[] {
    const mentions = (pid: string): boolean => {
      try {
        const read = (name: string) => fs.readFileSync(`/proc/${pid}/${name}`, 'latin1');
        return `${read('cmdline')}\0${read('environ')}`.includes(this.runDir);
      } catch {
        return false;
      }
    };
    return fs
      .readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && mentions(name))
      .map(Number)
      .filter(isAlive);
  }

  async gone(): Promise<void> {
    const isGone = () => this.processes().length === 0;
    await eventually(isGone, { deadlineMs: GONE_MS, what: `the end of everything: ${this.output}` });
  }
}

const skip = fs.existsSync('/proc/self/stat') ? false : 'processes are counted in /proc';

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  void test(
    `${signal} to npx drains: what is in service is answered, and nothing is left`,
    { skip },
    async (t) => {
      const project = new Project(t, await freePort());
      const npx = await project.serving(['npx', '--no-install', 'sluice', ...project.start]);
      const { answer, release } = await project.held();
      npx.kill(signal);
      await eventually(() => project.output.includes('"event":"draining"'), { what: 'the drain' });
      release();
      assert.equal(await answer, 200);
      await project.gone();
      assert.match(project.output, /sluice: npm \(process \d+\), which started the gateway, is gone/);
      assert.match(project.output, /"event":"stopped"/);
    },
  );
}

const serves = `require('node:http').createServer((_, response) => response.end('ok')).listen(process.env.PORT);`;

for (const [state, app, said] of [
  ['serves', `${serves} console.log('the app is here');`, 'the app is here'],
  // Its timer keeps it from ending, and it never listens.
  ['starts', `setInterval(() => {}, 1000); console.log('the app is here');`, 'the app is here'],
  ['is broken', `throw new Error('a syntax error or so');`, 'a syntax error or so'],
] as const) {
  for (const command of [
    ['npx', '--no-install', 'sluice'],
    ['npm', 'run', 'dev'],
  ] as const) {
    void test(
      `SIGTERM to ${command[0]} ends sluice dev and all that it has started, while the app ${state}`,
      { skip },
      async (t) => {
        const project = new Project(t, await freePort());
        fs.writeFileSync(path.join(project.dir, 'app.js'), app);
        project.scripts({ dev: `sluice ${project.develop.join(' ')}` });
        const npx = project.begin([...command, ...(command[0] === 'npx' ? project.develop : [])]);
        await eventually(() => project.output.includes(said), {
          deadlineMs: 60_000,
          what: `the app: ${project.output}`,
        });
        npx.kill('SIGTERM');
        await project.gone();
      },
    );
  }
}

void test('SIGTERM to npm start drains, though a program stands between', { skip }, async (t) => {
  const project = new Project(t, await freePort());
  const wrapper = `require('node:child_process').spawn(process.argv[2], process.argv.slice(3), { stdio: 'inherit' })`;
  fs.writeFileSync(path.join(project.dir, 'cross-env.js'), wrapper);
  project.scripts({ start: `node cross-env.js sluice ${project.start.join(' ')}` });
  const npm = await project.serving(['npm', 'start']);
  npm.kill('SIGTERM');
  await project.gone();
  assert.match(project.output, /"event":"stopped"/);
});

void test('npm that is ended while the gateway starts leaves none behind', { skip }, async (t) => {
  const project = new Project(t, await freePort());
  project.scripts({ start: 'sluice start' });
  const bin = path.join(project.dir, 'node_modules/.bin/sluice');
  const started = spawnSync(
    'sh',
    // The shell between ends at once, and the program below it starts when it belongs to process 1.
    ['-c', `(sleep 0.2; exec "${bin}" ${project.start.join(' ')}) >output 2>&1 & :`],
    {
      cwd: project.dir,
      env: { ...process.env, npm_lifecycle_event: 'start', npm_lifecycle_script: 'sluice start' },
    },
  );
  assert.equal(started.status, 0);
  await eventually(() => project.output !== '', { what: 'a word of it' });
  await project.gone();
  if (initIsNoShell()) assert.match(project.output, /npm was ended before the gateway started/);
});

/** Whether orphans go to a process that cannot be npm or its shell. */
function initIsNoShell(): boolean {
  return !/(^|\/)(npm|npx|node|(ba|da)?sh)\b/.test(
    fs.readFileSync('/proc/1/cmdline', 'latin1').split('\0')[0] ?? '',
  );
}

void test(
  'a terminal that is closed ends npm and not a gateway that was started by nohup',
  { skip },
  async (t) => {
    const project = new Project(t, await freePort());
    const npx = await project.serving(['nohup', 'npx', '--no-install', 'sluice', ...project.start]);
    const gateway = project.gatewayPid() ?? 0;
    // What an interactive shell does to its jobs. Node does not inherit that nohup ignores the signal.
    process.kill(-(npx.pid ?? 0), 'SIGHUP');
    if (npx.exitCode === null && npx.signalCode === null) await once(npx, 'exit');
    await eventually(() => project.output.includes('"event":"reload_finished"'), {
      what: 'the reload by SIGHUP',
    });
    // A second reload takes longer than the look at the starter.
    process.kill(gateway, 'SIGUSR2');
    await eventually(() => project.output.match(/"event":"reload_finished"/g)?.length === 2, {
      what: 'another',
    });
    assert.ok(isAlive(gateway));
    assert.doesNotMatch(project.output, /is gone/);
    process.kill(gateway, 'SIGTERM');
    await project.gone();
  },
);

for (const [how, script] of [
  ['nohup', (start: string) => `nohup ${start} >>output 2>&1 &`],
  ['setsid', (start: string) => `setsid --fork ${start} >>output 2>&1`],
  ['&', (start: string) => `${start} >>output 2>&1 &`],
] as const) {
  void test(`a script that detaches the gateway by ${how} is taken at its word`, { skip }, async (t) => {
    const project = new Project(t, await freePort());
    project.scripts({ detached: script(`sluice ${project.start.join(' ')}`) });
    const npm = await project.serving(['npm', 'run', 'detached']);
    if (npm.exitCode === null && npm.signalCode === null) await once(npm, 'exit');
    const gateway = project.gatewayPid() ?? 0;
    process.kill(gateway, 'SIGHUP');
    await eventually(() => project.output.includes('"event":"reload_finished"'), { what: 'a reload' });
    assert.ok(isAlive(gateway));
    process.kill(gateway, 'SIGTERM');
    await project.gone();
  });
}

const namespaces = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0;

void test(
  'npm as process 1 is named as what keeps a container from draining, and idle workers leave',
  {
    skip: skip || (namespaces ? false : 'process namespaces cannot be had here'),
  },
  async (t) => {
    const project = new Project(t, await freePort());
    const unshare = ['unshare', '--pid', '--fork', '--mount-proc'];
    const outside = await project.serving([...unshare, 'npx', '--no-install', 'sluice', ...project.start]);
    assert.match(project.output, /npm is process 1 of this container/);
    const children = fs.readFileSync(`/proc/${outside.pid}/task/${outside.pid}/children`, 'utf8');
    process.kill(Number(children.trim().split(' ')[0]), 'SIGTERM');
    await project.gone();
    assert.match(project.output, /"event":"draining"/);
  },
);
