// `install.sh` on machines where everything, or a part of it, is missing. Programs of the system are stand-ins that say what they were told.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./install.sh', import.meta.url));

interface Machine {
  /** User id. */
  user?: number;
  /** Programs that are there already. */
  has?: string[];
  /** Packages that apt does not find. */
  unknown?: string[];
  /** Exit code of `apt-get update`. */
  update?: number;
}

/** Returns what apt-get was asked for, and what was said. */
function install(t: TestContext, { user = 0, has = [], unknown = [], update = 0 }: Machine) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-install-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  const log = path.join(dir, 'log');
  fs.writeFileSync(log, '');
  const program = (name: string, body: string) =>
    fs.writeFileSync(path.join(dir, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  program('id', `echo ${user}`);
  const failing = unknown.map((name) => `*" ${name}") exit 100 ;;`).join(' ');
  program(
    'apt-get',
    `echo "$*" >> ${log}\ncase "$*" in update*) exit ${update} ;; ${failing} *) exit 0 ;; esac`,
  );
  for (const name of has) program(name, 'exit 0');
  const { status, stderr } = spawnSync('/bin/sh', [script], {
    env: { PATH: dir },
    encoding: 'utf8',
  });
  const installed = fs
    .readFileSync(log, 'utf8')
    .split('\n')
    .flatMap((line) => / --no-install-recommends (.+)$/.exec(line)?.[1] ?? []);
  return { status, stderr, installed };
}

void test('all that is missing is installed on a bare machine', (t) => {
  assert.deepEqual(install(t, {}), {
    status: 0,
    stderr: '',
    installed: ['slowhttptest', 'openssl', 'redis-server', 'varnish', 'chromium'],
  });
});

void test('what is there is left alone, whatever the browser is called', (t) => {
  for (const browser of ['chromium', 'chromium-browser', 'google-chrome']) {
    const has = ['slowhttptest', 'openssl', 'redis-server', 'varnishtest', browser];
    assert.deepEqual(install(t, { has }), { status: 0, stderr: '', installed: [] });
  }
});

void test('a package that is unknown keeps no other away, nor does a source that does not answer', (t) => {
  const { status, stderr, installed } = install(t, { unknown: ['chromium'], update: 100 });
  assert.equal(status, 0);
  assert.deepEqual(installed, ['slowhttptest', 'openssl', 'redis-server', 'varnish', 'chromium']);
  assert.match(stderr, /^not installed: chromium; /);
});

void test('somebody who may not install is told what is missing', (t) => {
  const { status, stderr, installed } = install(t, { user: 1000, has: ['openssl'] });
  assert.deepEqual([status, installed], [0, []]);
  assert.match(stderr, /^not installed: slowhttptest redis-server varnish chromium; /);
});
