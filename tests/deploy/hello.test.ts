// examples/hello: the app runs as it is, and its files for production are those that `sluice init` writes.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { repositoryDir, startSluice } from '../support/sluice.ts';
import { answerOfImage, appWith, exposure, hasSystemd, init, verified } from './deployed.ts';

const hello = path.join(repositoryDir, 'examples/hello');
const written = ['hello.service', 'Dockerfile', '.dockerignore', 'compose.yaml', 'kubernetes.yaml'];
const own = ['package.json', 'server.js', 'sluice.toml'];

/** systemd's scale ends at 10; most of what is left is the network, which a server needs. */
const EXPOSURE_MAX = 2;

void test('hello answers under Sluice, and its code is ten lines of Express', async (t) => {
  const code = fs.readFileSync(path.join(hello, 'server.js'), 'utf8');
  assert.ok(code.trimEnd().split('\n').length <= 10 && !code.includes('sluice'));
  const sluice = await startSluice({ cwd: hello, flags: ['--config', path.join(hello, 'sluice.toml')] });
  t.after(() => sluice.stop());
  const text = await (await fetch(`${sluice.url}/Ada`)).text();
  assert.match(text, /^Hello, Ada, from process \d+\n$/);
  const { workers } = await sluice.status();
  assert.ok(
    workers.some(({ pid }) => text.includes(`process ${pid}\n`)),
    text,
  );
});

void test('files of hello for production are what sluice init writes', async (t) => {
  const dir = appWith(
    t,
    Object.fromEntries(own.map((name) => [name, fs.readFileSync(path.join(hello, name), 'utf8')])),
  );
  const told = await init(dir, '--systemd', '--docker', '--compose', '--kubernetes');
  assert.ok(
    told.includes('kept sluice.toml\n') && written.every((name) => told.includes(`wrote ${name}\n`)),
    told,
  );
  for (const name of written) {
    const [now, committed] = [dir, hello].map((folder) => fs.readFileSync(path.join(folder, name), 'utf8'));
    assert.equal(
      committed,
      now,
      `write ${name} anew: sluice init --systemd --docker --compose --kubernetes --force`,
    );
  }
});

void test('systemd accepts the unit, and finds little that it leaves open', (t) => {
  if (!hasSystemd(t)) return;
  const unit = path.join(hello, 'hello.service');
  assert.equal(verified(t, unit), '');
  const level = exposure(t, unit);
  assert.ok(level <= EXPOSURE_MAX, `exposure ${level}`);
});

void test('steps of the Dockerfile lead to an app that answers and drains', async (t) => {
  assert.match(await answerOfImage(t, hello), /^Hello, world/);
});
