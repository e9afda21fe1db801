// `sluice profile --open`: the flame graph in the user's browser, and what is said where that does not open.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { app } from '../support/sluice.ts';
import { ask, running } from './scenario.ts';

const OPENER = process.platform === 'darwin' ? 'open' : 'xdg-open';

void test('the flame graph is opened, and a browser that does not come is told with the file', async (t) => {
  const sluice = await running(t, { entry: app('trivial.js'), workers: 1 });
  await ask(sluice, '/');
  const bin = path.join(sluice.dir, 'bin');
  const told = path.join(sluice.dir, 'opened');
  fs.mkdirSync(bin);
  const opener = (body: string) =>
    fs.writeFileSync(path.join(bin, OPENER), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  // Nothing but what stands there, and node, which reads source maps.
  fs.symlinkSync(process.execPath, path.join(bin, 'node'));
  const profile = (...flags: string[]) =>
    sluice.cli(['profile', '--seconds', '0.1', '--open', ...flags], { PATH: `${bin}:/usr/bin:/bin` });

  opener(`echo "$1" > ${told}`);
  const opened = await profile();
  assert.equal(opened.code, 0, opened.stderr);
  const [, file = ''] = /\nopened (.*\.html)\n$/.exec(opened.stdout) ?? [];
  assert.equal(fs.readFileSync(told, 'utf8').trim(), file);
  assert.match(fs.readFileSync(file, 'utf8'), /^<!doctype html>[\s\S]*id="profile"/);

  // With --json, stdout is for programs.
  const json = await profile('--json');
  const { html } = JSON.parse(json.stdout) as { html: string };
  assert.ok(json.stderr.includes(`opened ${html}.`), json.stderr);

  opener('exit 3');
  const failed = await profile();
  assert.equal(failed.code, 0, 'the profile is there all the same');
  assert.match(
    failed.stdout,
    new RegExp(`no browser was opened \\(${OPENER}: exit status: 3\\); open /.*\\.html\n$`),
  );

  // Some openers stay as long as the browser does.
  opener(`echo $$ > ${told}; exec sleep 60`);
  const staying = await profile();
  assert.match(staying.stdout, /\nopened .*\.html\n$/);
  process.kill(Number(fs.readFileSync(told, 'utf8')), 'SIGKILL');

  fs.rmSync(path.join(bin, OPENER));
  const missing = await sluice.cli(['profile', '--seconds', '0.1', '--open'], { PATH: bin });
  assert.equal(missing.code, 0, missing.stderr);
  assert.match(missing.stdout, new RegExp(`no browser was opened \\(${OPENER}: No such file`));
});
