// Every command of the README and of the guide's list of commands that begins with `sluice` or `npx sluice` runs as it is written: in a directory with the
// files that it names, on a free port in place of the one that it says. Commands that cannot run in a test are named in `EXCLUDED`.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { cleanEnvironment, repositoryDir, sluiceCommand } from '../support/sluice.ts';

/** Commands that do not run here, with the reason. */
const EXCLUDED: [pattern: RegExp, reason: string][] = [
  [/^sluice access\b/, 'asks on a terminal for a password; tests/scenarios/access.test.ts runs it'],
  [/^sluice top\b/, 'runs until it is interrupted; tests/scenarios/commands.test.ts runs it'],
  [/^sluice dev\b/, 'runs until it is interrupted; tests/scenarios/dev.test.ts runs it'],
  [
    /^sluice upgrade\b/,
    'replaces the gateway of all other commands; tests/scenarios/upgrade.test.ts runs it',
  ],
];
/** Words of a table that stand for a value. */
const VALUES: Record<string, string> = { N: '2', URL: 'http://localhost/', ID: 'all', LOG: 'access.log' };
/** Commands with the words that they need beyond those in the table of commands. */
const FURTHER: [pattern: RegExp, words: string[]][] = [
  [/^sluice cache$/, ['status']],
  [/^sluice completion$/, ['bash']],
  [/^sluice compare$/, ['dev.json', 'prod.json']],
  [/^sluice profile$/, ['--seconds', '0.2']],
  [/^sluice heap$/, ['--seconds', '0.2']],
  [/^sluice hotspots$/, ['--live', '--seconds', '0.2']],
  [/^sluice rehearse$/, 'server.js --seconds 1 --loads low --faults none --workers 1'.split(' ')],
];
/** Exit codes with which a command says of a fresh gateway that there is nothing to show yet, or no such worker. */
const NOTHING_YET: [pattern: RegExp, code: number][] = [[/^sluice (?:report|routes|logs .*--worker 7)$/, 1]];

/** A command without npx, which finds the same program in `node_modules/.bin`. */
const bare = (command: string): string => command.replace(/^npx /, '');

const text = ['README.md', 'docs/guide/operating.md']
  .map((page) => fs.readFileSync(path.join(repositoryDir, page), 'utf8'))
  .join('\n');

function commandsOf(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block.split('\n'),
  );
  const inTables = [...markdown.matchAll(/^\| `((?:npx )?sluice [^`]+)` *\|/gm)].map(
    ([, command = '']) => command,
  );
  const lines = blocks.map((line) => line.replace(/\s+#.*$/, '').trim());
  return [...new Set([...lines.filter((line) => /^(?:npx )?sluice /.test(line)), ...inTables])];
}

const commands = commandsOf(text).filter(
  (command) => !EXCLUDED.some(([pattern]) => pattern.test(bare(command))),
);
const isStart = (command: string) => /^sluice start\b/.test(bare(command));
const starts = commands.filter(isStart);
const others = commands.filter((command) => !isStart(command));

/** An app's directory with all that the commands of the README name. */
function appDirectory(): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-readme-'));
  const write = (name: string, content: string, mode = 0o644) => {
    const file = path.join(dir, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content, { mode });
  };
  const server =
    "require('http').createServer((_, response) => response.end('ok')).listen(process.env.PORT);\n";
  const module =
    "import http from 'node:http';\nhttp.createServer((_, response) => { response.end('ok'); }).listen(process.env.PORT);\n";
  for (const name of ['server.js', 'dist/server.js']) write(name, server);
  write('server.ts', module.replace('(_, response)', '(_: unknown, response: http.ServerResponse)'));
  write('server.mjs', module);
  write(
    'package.json',
    JSON.stringify({ name: 'app', main: 'server.js', scripts: { start: 'node server.js' } }),
  );
  write(
    'server.py',
    `import os, socketserver
from http.server import BaseHTTPRequestHandler
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'ok')
    def address_string(self):
        return 'gateway'
socketserver.ThreadingUnixStreamServer(os.environ['SLUICE_SOCKET'], Handler).serve_forever()
`,
  );
  write(
    'access.log',
    '192.0.2.1 - - [28/Nov/2026:20:55:04 +0000] "GET / HTTP/1.1" 200 5 "-" "curl" 0.061 0.048\n'.repeat(20),
  );
  const runs = {
    upper_us: [10],
    counts: [5, 1],
    time_us: [20, 30],
    observed_us: 1_000,
    collections: 0,
    collected_us: 0,
  };
  for (const name of ['dev.json', 'prod.json']) write(name, JSON.stringify({ runs }));
  // Stands for the framework's own: conformance tests run the real one.
  write('node_modules/.bin/next', `#!/bin/sh\n[ "$1" = start ] && exec node server.js\n`, 0o755);
  fs.symlinkSync(path.join(repositoryDir, 'node_modules/.bin/tsx'), path.join(dir, 'node_modules/.bin/tsx'));
  return dir;
}

const dir = appDirectory();
const bin = path.join(dir, 'bin');
const settings = (name: string): NodeJS.ProcessEnv => ({
  ...cleanEnvironment(),
  PATH: `${bin}${path.delimiter}${process.env['PATH']}`,
  SLUICE_RUN_DIR: path.join(dir, name),
  SLUICE_ADMIN_ADDRESS: 'off',
  ...(process.env['SLUICE_BINARY'] === undefined ? {} : { SLUICE_BINARY: process.env['SLUICE_BINARY'] }),
});

before(() => {
  const [program, words] = sluiceCommand([]);
  const quoted = [program, ...words].map((word) => `'${word}'`).join(' ');
  fs.mkdirSync(bin);
  fs.writeFileSync(path.join(bin, 'sluice'), `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
  // As npm installs it: the gateway notices that npx has ended.
  fs.symlinkSync(
    path.join(repositoryDir, 'packages/sluice/bin/sluice.js'),
    path.join(dir, 'node_modules/.bin/sluice'),
  );
});
after(() => {
  fs.rmSync(dir, { recursive: true, force: true });
});

interface Served {
  port: number;
  end(): Promise<void>;
}

/** Runs `sluice start …` by a shell until its server answers. */
async function serve(command: string, name: string): Promise<Served> {
  const port = await freePort();
  const written = command.replace(/(--port|-p)[= ]\d+/, `$1 ${port}`);
  const child = spawn('/bin/sh', ['-c', `exec ${written}`], {
    cwd: dir,
    env: { ...settings(name), PORT: String(port), SLUICE_SERVER_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const exited = once(child, 'exit');
  try {
    await eventually(
      async () => {
        if (child.exitCode !== null) return 'gone';
        return (await fetch(`http://127.0.0.1:${port}/`)).status === 200;
      },
      { deadlineMs: 60_000, what: `an answer of \`${command}\`` },
    );
    assert.equal(child.exitCode, null);
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`\`${command}\` does not serve; it said:\n${said}`, { cause: error });
  }
  return {
    port,
    end: async () => {
      child.kill('SIGTERM');
      await exited;
      // npx ends by the signal itself, and leaves the gateway to end after it.
      if (command.startsWith('npx ')) {
        const isOpen = () => fetch(`http://127.0.0.1:${port}/`).then(...[true, false].map((is) => () => is));
        await eventually(async () => !(await isOpen()), {
          deadlineMs: 30_000,
          what: 'the end of the gateway',
        });
      } else assert.equal(child.exitCode, 0, said);
    },
  };
}

void test('README and guide have commands to run, and each excluded one is in them', () => {
  assert.ok(starts.length >= 6 && others.length >= 23, commands.join('\n'));
  for (const [pattern] of EXCLUDED)
    assert.ok(
      commandsOf(text).some((command) => pattern.test(bare(command))),
      String(pattern),
    );
});

for (const [at, command] of starts.entries()) {
  const program = / -- (\S+)/.exec(command)?.[1];
  const isMissing = program?.startsWith('python') === true && spawnSync(program, ['--version']).status !== 0;
  void test(`README: ${command}`, { skip: isMissing && `needs ${program}` }, async () => {
    await (await serve(command, `s${at}`)).end();
  });
}

void test('README and guide: every other command against a gateway that runs', async (t) => {
  const served = await serve('sluice start server.js --workers 1', 'run');
  try {
    for (const command of others.filter((command) => !/^sluice stop\b/.test(bare(command)))) {
      await t.test(command, () => {
        const words = command.split(' ').map((word) => VALUES[word] ?? word);
        const further = FURTHER.find(([pattern]) => pattern.test(bare(command)))?.[1] ?? [];
        const line = [...words, ...further].join(' ');
        // `init` writes a file, which must not be that of the gateway that runs.
        const cwd = /^sluice init\b/.test(bare(command)) ? fs.mkdtempSync(path.join(dir, 'init-')) : dir;
        if (cwd !== dir) fs.copyFileSync(path.join(dir, 'server.js'), path.join(cwd, 'server.js'));
        const { status, stderr, stdout } = spawnSync('/bin/sh', ['-c', line], {
          cwd,
          env: settings('run'),
          encoding: 'utf8',
          input: '',
          timeout: 120_000,
        });
        const code = NOTHING_YET.find(([pattern]) => pattern.test(bare(command)))?.[1] ?? 0;
        assert.ok(status === 0 || status === code, `${line} ended with ${status}:\n${stderr}${stdout}`);
      });
    }
    const stop = spawn('/bin/sh', ['-c', 'exec sluice stop'], {
      cwd: dir,
      env: settings('run'),
      stdio: 'ignore',
    });
    const [code] = (await once(stop, 'exit')) as [number | null];
    assert.equal(code, 0);
  } finally {
    await served.end();
  }
});
