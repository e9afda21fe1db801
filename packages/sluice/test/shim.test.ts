import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SHIM = fileURLToPath(new URL('../bin/sluice.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'sluice-shim-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A stand-in for the gateway's binary. */
function standIn(name: string, script: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!${process.execPath}\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

interface Run {
  readonly child: ChildProcess;
  readonly said: (text: string) => Promise<void>;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; output: string }>;
}

function run(args: readonly string[], env: Readonly<Record<string, string>>, node = process.execPath): Run {
  const child = spawn(node, [SHIM, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    timeout: 20_000,
  });
  let output = '';
  const heard = new Set<() => void>();
  const hear = (data: Buffer): void => {
    output += data.toString();
    for (const listener of heard) listener();
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null; output: string }>((done) =>
    child.on('close', (code, signal) => done({ code, signal, output })),
  );
  const said = (text: string): Promise<void> =>
    new Promise((done, fail) => {
      const look = (): void => {
        if (output.includes(text)) done();
      };
      heard.add(look);
      look();
      child.on('close', () => fail(new Error(`ended without saying ${text}: ${output}`)));
    });
  return { child, said, ended };
}

test('arguments, exit code and the path of the preload are passed on', async () => {
  const binary = standIn(
    'args',
    'console.log(JSON.stringify([process.argv.slice(2), process.env.SLUICE_PRELOAD])); process.exit(3)',
  );
  const preload = fileURLToPath(new URL('../../preload/dist/index.js', import.meta.url));
  const { code, output } = await run(['start', '--port', '1', '--', 'a b'], {
    SLUICE_BINARY: binary,
    SLUICE_PRELOAD: preload,
  }).ended;
  assert.equal(code, 3);
  assert.deepEqual(JSON.parse(output), [['start', '--port', '1', '--', 'a b'], preload]);
});

test(
  'the built preload is found without being named',
  {
    skip: !existsSync(new URL('../../preload/dist/index.js', import.meta.url)) && 'the preload is not built',
  },
  async () => {
    const binary = standIn('preload', 'console.log(process.env.SLUICE_PRELOAD)');
    const { output } = await run([], { SLUICE_BINARY: binary, SLUICE_PRELOAD: '' }).ended;
    assert.match(output, /preload\/dist\/index\.js\n$/);
  },
);

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2', 'SIGTTIN', 'SIGTTOU'] as const) {
  test(`${signal} reaches the gateway once, and its exit code comes back`, async () => {
    const binary = standIn(
      signal,
      `let count = 0; process.on('${signal}', () => { count += 1; console.log('got ${signal}', count); setTimeout(() => process.exit(5), 100); });
       setTimeout(() => {}, 15000); console.log('up');`,
    );
    const { child, said, ended } = run([], { SLUICE_BINARY: binary, SLUICE_PRELOAD: '/x' });
    await said('up');
    child.kill(signal);
    const { code, output } = await ended;
    assert.equal(code, 5);
    assert.equal(output, `up\ngot ${signal} 1\n`);
  });
}

/** A preload that listens at once and later, and leaves at SIGTERM with a code of its own. It says who holds the first port. */
const agent = join(folder, 'agent.cjs');
writeFileSync(
  agent,
  `const { createServer } = require('node:http');
   const listen = (port) => createServer((_, res) => res.end(String(process.pid))).listen(port).on('error', () => {});
   listen(Number(process.env.AGENT_PORT));
   setTimeout(() => listen(Number(process.env.LATE_PORT)), 20);
   process.on('SIGTERM', () => setTimeout(() => process.exit(99), 300));`,
);

async function freePort(): Promise<string> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return String(typeof address === 'object' ? address?.port : '');
}

for (const node of new Set([process.execPath, process.env['SLUICE_TEST_NODE'] ?? process.execPath])) {
  test(`ports of preloads and of the inspector are left to the gateway's workers, by ${node}`, async () => {
    const ports = { AGENT_PORT: await freePort(), LATE_PORT: await freePort() };
    const inspector = await freePort();
    const options = `--require ${agent} --inspect=127.0.0.1:${inspector}`;
    // It is a worker: the options hold for it.
    const binary = standIn(
      'worker',
      `const ask = async (port) => {
         for (;;) {
           const pid = await fetch('http://127.0.0.1:' + port).then((answer) => answer.text(), () => undefined);
           if (pid !== undefined) return Number(pid);
         }
       };
       Promise.all([ask(process.env.AGENT_PORT), ask(process.env.LATE_PORT)]).then((pids) => {
         console.log(JSON.stringify([pids.every((pid) => pid === process.pid), require('node:inspector').url() !== undefined,
           process.env.NODE_OPTIONS, process.env.NODE_V8_COVERAGE, process.env.SLUICE_SHIM_ENV]));
         process.removeAllListeners('SIGTERM');
         process.on('SIGTERM', () => setTimeout(() => process.exit(7), 600));
         console.log('up');
       });`,
    );
    const coverage = join(folder, 'coverage');
    const env = {
      SLUICE_BINARY: binary,
      SLUICE_PRELOAD: '/x',
      NODE_OPTIONS: options,
      NODE_V8_COVERAGE: coverage,
    };
    const { child, said, ended } = run(['start'], { ...env, ...ports }, node);
    await said('up');
    child.kill('SIGTERM');
    const { code, output } = await ended;
    assert.equal(code, 7, output);
    const told = output.split('\n').find((line) => line.startsWith('['));
    assert.deepEqual(JSON.parse(told ?? ''), [true, true, options, coverage, null], output);
  });
}

test('a binary that is missing ends the command although a preload listens', async () => {
  const env = { AGENT_PORT: '0', LATE_PORT: '0', NODE_OPTIONS: `--require ${agent}` };
  const { code } = await run([], { ...env, SLUICE_BINARY: join(folder, 'missing') }).ended;
  assert.equal(code, 1);
});

test('a gateway that a signal ended ends the command by the same signal', async () => {
  const binary = standIn('kill', `process.kill(process.pid, 'SIGKILL'); setTimeout(() => {}, 15000);`);
  const { signal } = await run([], { SLUICE_BINARY: binary, SLUICE_PRELOAD: '/x' }).ended;
  assert.equal(signal, 'SIGKILL');
});

test('a binary that is named and missing is an error that names it', async () => {
  const { code, output } = await run([], { SLUICE_BINARY: join(folder, 'missing') }).ended;
  assert.equal(code, 1);
  assert.match(output, /SLUICE_BINARY names no file: .*missing/);
});

/** The command as a package manager would have installed it, alone or beside packages of binaries for these platforms. */
function installed(...platforms: readonly string[]): string {
  const modules = join(mkdtempSync(join(folder, 'installed-')), 'node_modules');
  cpSync(fileURLToPath(new URL('../bin', import.meta.url)), join(modules, 'sluice/bin'), { recursive: true });
  writeFileSync(join(modules, 'sluice/package.json'), '{ "type": "module" }');
  for (const platform of platforms) {
    mkdirSync(join(modules, '@sluice', platform, 'bin'), { recursive: true });
    writeFileSync(join(modules, '@sluice', platform, 'package.json'), '{}');
    const binary = standIn(`binary-${platform}`, `console.log('ran ${platform}')`);
    renameSync(binary, join(modules, '@sluice', platform, 'bin/sluice'));
  }
  return join(modules, 'sluice/bin/sluice.js');
}

function runInstalled(shim: string, preamble = ''): string {
  const env = { ...process.env, SLUICE_BINARY: '', SLUICE_PRELOAD: '/x' };
  const args = preamble === '' ? [shim] : ['--import', `data:text/javascript,${preamble}`, shim];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  return `${stdout}${stderr}`;
}

const here = `${process.platform}-${process.arch}`;

test("the package of this platform's binary is found, whatever others are there", () => {
  assert.equal(runInstalled(installed('linux-mips', here)), `ran ${here}\n`);
});

test('an installed command never runs a binary that an app happens to have where this repository builds one', () => {
  const shim = installed();
  const target = join(shim, '../../../../gateway/target/release');
  mkdirSync(target, { recursive: true });
  renameSync(standIn('foreign', `console.log('foreign')`), join(target, 'sluice'));
  assert.match(runInstalled(shim), /which holds the binary, is not installed/);
});

test('a missing package of a binary is an error that says which, why, and what to do', () => {
  assert.match(
    runInstalled(installed()),
    new RegExp(`@sluice/${here}, .* is not installed\\. Optional dependencies`),
  );
  const other = here === 'darwin-arm64' ? 'linux-x64' : 'darwin-arm64';
  assert.match(runInstalled(installed(other)), new RegExp(`node_modules was copied here from ${other}`));
});

test('a platform without a binary is an error that names those that have one', () => {
  const output = runInstalled(installed(), `Object.defineProperty(process,'platform',{value:'sunos'})`);
  assert.match(output, /no binary for sunos-\w+, only for linux-x64, linux-arm64, darwin-x64, darwin-arm64/);
});
