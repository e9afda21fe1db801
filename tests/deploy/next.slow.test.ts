// examples/next: an unmodified app of Next.js, installed and built as its README says, under Sluice.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { repositoryDir, startSluice } from '../support/sluice.ts';
import { init, tempDir } from './deployed.ts';

const source = path.join(repositoryDir, 'examples/next');
const built = ['node_modules', '.next'];

void test(
  'an unmodified Next.js app serves pages, data and static files',
  { timeout: 900_000 },
  async (t) => {
    const dir = tempDir(t);
    fs.cpSync(source, dir, { recursive: true, filter: (file) => !built.includes(path.basename(file)) });
    for (const args of [['ci'], ['run', 'build']]) {
      const { status, stdout, stderr } = spawnSync('npm', args, { cwd: dir, encoding: 'utf8' });
      assert.equal(status, 0, `npm ${args.join(' ')}: ${stdout}${stderr}`);
    }
    const printed = await init(dir, '--print');
    const paths = '[files.paths]\n"/_next/static/" = ".next/static"\n';
    assert.ok(printed.includes(paths), printed);
    assert.ok(
      fs.readFileSync(path.join(dir, 'sluice.toml'), 'utf8').includes(paths),
      'it is what sluice init writes',
    );

    const sluice = await startSluice({
      cwd: dir,
      flags: ['--config', path.join(dir, 'sluice.toml')],
      startTimeoutMs: 180_000,
    });
    t.after(() => sluice.stop());
    const page = await (await fetch(sluice.url)).text();
    assert.match(page, /<h1>Tables<\/h1>.*Oak table/s);
    assert.match(await (await fetch(`${sluice.url}/products/oak`)).text(), /<h1>Oak table<\/h1>/);
    assert.equal((await fetch(`${sluice.url}/products/plastic`)).status, 404);
    assert.deepEqual(await (await fetch(`${sluice.url}/api/suggest?q=e`)).json(), ['Elm table']);

    const [chunk = ''] = /\/_next\/static\/[^"'\\]+\.js/.exec(page) ?? [];
    const script = await fetch(`${sluice.url}${chunk}`);
    assert.equal(script.status, 200, chunk);
    assert.match(String(script.headers.get('cache-control')), /immutable/);
    const { workers } = await sluice.status();
    assert.equal(workers.length, 2);
  },
);
