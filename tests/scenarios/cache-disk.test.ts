// Pages on disk: they are there after a restart and a kill, what was purged is not, and whatever becomes of the disk, every request is
// answered.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { RawConnection, type RawResponse } from '../support/raw.ts';
import { runSluice, type Sluice, startSluice } from '../support/sluice.ts';
import { ask, bytesOf, end, nothingLeftOf, ownApp, running } from './scenario.ts';
import { quick, settled, upgraded } from './upgrades.ts';

const page = '/a?cc=s-maxage=600&h=cache-tag:one';

const text = (answer: RawResponse): string => answer.body.toString();
const did = (answer: RawResponse): string => answer.headers.get('cache-status') ?? '';

/** Where gateways that come one after the other keep their pages. They are of one instance, and so have one run directory. */
class Place {
  readonly dir: string = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-disk-'));
  readonly disk: string;
  readonly failing: string;
  readonly #started: Sluice[] = [];

  constructor(t: TestContext, disk?: string) {
    this.disk = disk ?? path.join(this.dir, 'pages');
    this.failing = path.join(this.dir, 'failing');
    t.after(async () => {
      // They have one run directory, so the latest goes first.
      for (const sluice of this.#started.toReversed()) await end(sluice);
      fs.rmSync(this.dir, { recursive: true, force: true });
    });
  }

  config(more = ''): string {
    return `[cache]\nenabled = true\non_reload = "keep"\ndisk_dir = "${this.disk}"\n${more}`;
  }

  /** The next gateway. */
  async start({ config = this.config(), runDir = path.join(this.dir, 'run') } = {}): Promise<Sluice> {
    const env = { ...quick, FAILING_FILE: this.failing };
    const sluice = await startSluice({ entry: ownApp('pages.js'), workers: 1, config, env, runDir });
    this.#started.push(sluice);
    await eventually(async () => (await disk(sluice)).in_use, { what: 'a disk in use' });
    return sluice;
  }

  get files(): string[] {
    const dir = path.join(this.disk, 'sluice-pages');
    return fs
      .readdirSync(dir)
      .map((name) => path.join(dir, name))
      .filter((name) => name.endsWith('.pages'));
  }
}

interface Disk {
  in_use: boolean;
  pages: number;
  bytes: number;
  hits: number;
  errors: number;
  written: number;
  dropped: number;
  refused: number;
}

async function disk(sluice: Sluice): Promise<Disk> {
  const { stdout } = await sluice.cli(['cache', '--json']);
  return (JSON.parse(stdout) as { disk: Disk }).disk;
}

const written = (sluice: Sluice, count: number): Promise<true> =>
  eventually(async () => (await disk(sluice)).written >= count, { what: 'a page on disk' });
const notes = (sluice: Sluice): string =>
  sluice.logs
    .map((line) => String(line['text']))
    .filter((note) => note.startsWith('cache.disk_dir '))
    .join('\n');

async function killed(sluice: Sluice): Promise<void> {
  await sluice.kill9();
  await nothingLeftOf(sluice);
}

void test('a page is a hit after a kill and after a stop, with its true age', async (t) => {
  const place = new Place(t);
  let sluice = await place.start();
  const first = await ask(sluice, page);
  const varied = '/v?cc=s-maxage=600&h=vary:x-lang';
  const de = await ask(sluice, varied, { headers: 'X-Lang: de\r\n' });
  const fr = await ask(sluice, varied, { headers: 'X-Lang: fr\r\n' });
  await ask(sluice, '/user', { headers: 'Cookie: user=canary\r\n' });
  await written(sluice, 3);
  await eventually(async () => Number((await ask(sluice, page)).headers.get('age')) >= 1);
  for (const leave of [killed, (one: Sluice) => one.cli(['stop']).then(() => one.finished())]) {
    await leave(sluice);
    sluice = await place.start();
    const again = await ask(sluice, page);
    assert.equal(text(again), text(first));
    assert.match(did(again), /^Sluice; hit; ttl=\d+; detail=disk$/);
    const age = Number(again.headers.get('age'));
    assert.ok(age >= 1 && age < 300, `${age} s`);
    assert.match(did(await ask(sluice, page)), /^Sluice; hit; ttl=\d+$/, 'now in memory');
    assert.equal(text(await ask(sluice, varied, { headers: 'X-Lang: fr\r\n' })), text(fr));
    assert.equal(text(await ask(sluice, varied, { headers: 'X-Lang: de\r\n' })), text(de));
    const en = text(await ask(sluice, varied, { headers: 'X-Lang: en\r\n' }));
    assert.ok(en !== text(de) && en !== text(fr));
  }
  for (const file of place.files) assert.doesNotMatch(fs.readFileSync(file, 'latin1'), /user=canary/);
  const metrics = await (await fetch(`${sluice.admin}/metrics`)).text();
  assert.match(metrics, /^sluice_cache_disk_up 1$/m);
  assert.match(metrics, /^sluice_cache_disk_look_ups_total\{look_up="hit"\} [1-9]\d*$/m);
  assert.match((await sluice.cli(['cache'])).stdout, /^Disk +\S+, in use$/m);
});

void test('many who ask for a page on disk at once cost one look-up and no render', async (t) => {
  const place = new Place(t);
  let sluice = await place.start();
  const first = text(await ask(sluice, page));
  await written(sluice, 1);
  await killed(sluice);
  sluice = await place.start();
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(sluice, page)));
  for (const answer of answers) assert.equal(text(answer), first);
  assert.equal((await disk(sluice)).hits, 1);
});

void test('i7 what was purged is not there after a kill, however it was purged', async (t) => {
  const place = new Place(t);
  let sluice = await place.start();
  const purges: [string, () => Promise<unknown>][] = [
    ['/tag?cc=s-maxage=600&h=cache-tag:two', () => sluice.cli(['cache', 'purge', '--tag', 'two'])],
    ['/url?cc=s-maxage=600', () => sluice.cli(['cache', 'purge', '--url', '/url?cc=s-maxage=600'])],
    ['/pre/fix?cc=s-maxage=600', () => sluice.cli(['cache', 'purge', '--prefix', '/pre/'])],
    ['/post?cc=s-maxage=600', () => ask(sluice, '/post?cc=s-maxage=600', { method: 'POST' })],
    [
      '/app?cc=s-maxage=600',
      () => ask(sluice, `/purge?pages=${encodeURIComponent('{"url":"/app?cc=s-maxage=600"}')}`),
    ],
  ];
  const kept = text(await ask(sluice, page));
  const before = new Map<string, string>();
  for (const [target] of purges) before.set(target, text(await ask(sluice, target)));
  await written(sluice, purges.length + 1);
  for (const [target, purge] of purges) {
    await purge();
    // At once: whoever was told that the purge is in force may rely on it.
    await killed(sluice);
    sluice = await place.start();
    const next = await ask(sluice, target);
    assert.notEqual(text(next), before.get(target), target);
    assert.equal(text(await ask(sluice, page)), kept, 'other pages stay');
  }
  // A soft purge stays soft.
  assert.equal((await sluice.cli(['cache', 'purge', '--all', '--soft'])).code, 0);
  await killed(sluice);
  sluice = await place.start();
  assert.doesNotMatch(did(await ask(sluice, page)), /; hit; ttl=[1-9]/);
});

void test('pages that memory lets go are found on disk', async (t) => {
  const place = new Place(t);
  const sluice = await place.start({ config: place.config('bytes_max = 65536\n') });
  const large = (at: number): string => `/large?bytes=9000&n=${at}&cc=s-maxage=600`;
  for (let at = 0; at < 40; at += 1) await ask(sluice, large(at));
  await written(sluice, 40);
  for (let at = 0; at < 40; at += 1) assert.match(did(await ask(sluice, large(at))), /; hit; /);
  assert.ok((await disk(sluice)).hits >= 20);
});

void test('pages are stale, or gone, at a start as cache.on_reload says', async (t) => {
  const place = new Place(t);
  const target = '/a?cc=s-maxage=600,stale-while-revalidate=600';
  const stale = place.config().replace('keep', 'stale');
  let sluice = await place.start({ config: stale });
  const first = text(await ask(sluice, target));
  await written(sluice, 1);
  await killed(sluice);
  sluice = await place.start({ config: stale });
  const again = await ask(sluice, target);
  assert.equal(text(again), first);
  assert.match(did(again), /detail=revalidating$/);
  await written(sluice, 1);
  await killed(sluice);
  sluice = await place.start({ config: place.config().replace('keep', 'drop') });
  assert.match(did(await ask(sluice, target)), /fwd=uri-miss/);
});

void test('i7 a page that has become private is not on disk any more', async (t) => {
  const place = new Place(t);
  let sluice = await place.start();
  const target = '/fickle?cc=s-maxage=1,stale-while-revalidate=600';
  const first = text(await ask(sluice, target));
  await written(sluice, 1);
  fs.writeFileSync(place.failing, '');
  await eventually(async () => text(await ask(sluice, target)) !== first, { what: 'the end of the page' });
  await killed(sluice);
  sluice = await place.start();
  assert.notEqual(text(await ask(sluice, target)), first);
});

void test('i7 bytes that were damaged are never sent, and cost their page alone', async (t) => {
  const place = new Place(t);
  let sluice = await place.start();
  const first = text(await ask(sluice, page));
  const other = text(await ask(sluice, '/b?cc=s-maxage=600'));
  await written(sluice, 2);
  await killed(sluice);
  const [file = ''] = place.files;
  const bytes = fs.readFileSync(file);
  const at = bytes.lastIndexOf(first.trim());
  assert.ok(at > 0);
  bytes[at] = 0x58;
  fs.writeFileSync(file, bytes);
  sluice = await place.start();
  const next = await ask(sluice, page);
  assert.match(did(next), /fwd=uri-miss/);
  assert.equal(text(await ask(sluice, '/b?cc=s-maxage=600')), other);
  assert.equal((await disk(sluice)).errors, 1);
});

void test('i7 pages of another config or another instance are not used', async (t) => {
  const place = new Place(t);
  const starts: { config?: string; runDir?: string }[] = [
    { config: place.config('vary_by = ["cookie:session"]\n') },
    { runDir: path.join(place.dir, 'other') },
  ];
  for (const start of starts) {
    let sluice = await place.start();
    const first = text(await ask(sluice, page));
    await written(sluice, 1);
    await killed(sluice);
    sluice = await place.start(start);
    assert.notEqual(text(await ask(sluice, page)), first);
    await killed(sluice);
  }
});

void test('two gateways do not use one directory at a time, and both serve', async (t) => {
  const place = new Place(t);
  const first = await place.start();
  await ask(first, page);
  await written(first, 1);
  const second = await running(t, { entry: ownApp('pages.js'), workers: 1, config: place.config() });
  await eventually(() => /another gateway uses it; pages are only in memory/.test(notes(second)));
  assert.equal((await disk(second)).in_use, false);
  const body = text(await ask(second, page));
  assert.match(did(await ask(second, page)), /; hit; /, 'in memory');
  await killed(first);
  await eventually(async () => (await disk(second)).in_use, { what: 'the directory for the other' });
  assert.equal(text(await ask(second, page)), body);
});

void test('the directory goes from one gateway of an upgrade to the next with all that was purged', async (t) => {
  const place = new Place(t);
  let sluice = await place.start();
  const before = text(await ask(sluice, page));
  const other = text(await ask(sluice, '/b?cc=s-maxage=600'));
  await written(sluice, 2);
  const toOld = await RawConnection.connect(sluice.port);
  toOld.send(bytesOf('/?cc=no-store'));
  await toOld.response();
  await upgraded(sluice);
  await eventually(async () => (await disk(sluice)).in_use, { what: 'the directory for the new gateway' });
  // A change through the old gateway, which has let go of it.
  toOld.send(bytesOf(page, 'Content-Length: 0\r\n', 'POST'));
  assert.equal((await toOld.response()).status, 200);
  toOld.close();
  await settled(sluice);
  await killed(sluice);
  sluice = await place.start();
  assert.notEqual(text(await ask(sluice, page)), before);
  assert.equal(text(await ask(sluice, '/b?cc=s-maxage=600')), other);
  assert.doesNotMatch(notes(sluice), /another gateway/);
});

/** A small disk of its own, or why there is none. */
function tmpfs(t: TestContext, size: string): string | undefined {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') {
    t.skip('only root may mount a disk that is soon full');
    return undefined;
  }
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-tmpfs-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dir]);
  if (mounted.status !== 0) {
    fs.rmdirSync(dir);
    t.skip(`no disk can be mounted here: ${mounted.stderr.toString().trim()}`);
    return undefined;
  }
  t.after(() => {
    spawnSync('umount', ['-l', dir]);
    fs.rmdirSync(dir);
  });
  return dir;
}

void test('i7 a full disk costs no request, is told once, and keeps no page that was purged', async (t) => {
  const full = tmpfs(t, '1m');
  if (full === undefined) return;
  const place = new Place(t, full);
  let sluice = await place.start();
  const before = text(await ask(sluice, page));
  await written(sluice, 1);
  for (let at = 0; at < 30; at += 1) {
    const answer = await ask(sluice, `/large?bytes=100000&n=${at}&cc=s-maxage=600`);
    assert.equal(answer.status, 200);
  }
  await eventually(async () => (await disk(sluice)).refused >= 1, { what: 'a page that finds no room' });
  await eventually(() => /it cannot be written, so pages are only in memory/.test(notes(sluice)));
  for (let at = 0; at < 30; at += 1)
    assert.match(did(await ask(sluice, `/large?bytes=100000&n=${at}&cc=s-maxage=600`)), /; hit; /);
  // Not a byte is left, so that not even a purge can be written.
  spawnSync('dd', ['if=/dev/zero', `of=${path.join(full, 'filler')}`, 'bs=1k'], { stdio: 'ignore' });
  assert.equal((await sluice.cli(['cache', 'purge', '--tag', 'one'])).code, 0);
  await killed(sluice);
  sluice = await place.start();
  assert.notEqual(text(await ask(sluice, page)), before);
  assert.ok((notes(sluice).match(/cannot be written/g) ?? []).length <= 1);
});

void test('a disk that is read-only leaves pages in memory alone', async (t) => {
  const dir = tmpfs(t, '1m');
  if (dir === undefined) return;
  fs.mkdirSync(path.join(dir, 'sluice-pages'), { mode: 0o700 });
  assert.equal(spawnSync('mount', ['-o', 'remount,ro', dir]).status, 0);
  const place = new Place(t, dir);
  const sluice = await running(t, { entry: ownApp('pages.js'), workers: 1, config: place.config() });
  await eventually(() => /pages are only in memory: .*Read-only file system/.test(notes(sluice)));
  const first = await ask(sluice, page);
  assert.equal(text(await ask(sluice, page)), text(first));
  assert.equal((await sluice.cli(['cache', 'purge', '--tag', 'one'])).code, 0);
  assert.notEqual(text(await ask(sluice, page)), text(first));
});

void test('a config without the cache, or without a directory that can be used, says so', async (t) => {
  const place = new Place(t);
  const toml = path.join(place.dir, 'sluice.toml');
  fs.writeFileSync(toml, `[app]\nentry = ${JSON.stringify(ownApp('pages.js'))}\n[cache]\ndisk_dir = "x"\n`);
  const { code, stderr } = await runSluice(['check', '--config', toml]);
  assert.equal(code, 2);
  assert.match(stderr, /cache\.disk_dir also needs cache\.enabled = true/);
  fs.writeFileSync(path.join(place.dir, 'file'), '');
  const config = place.config().replace(place.disk, path.join(place.dir, 'file'));
  const sluice = await running(t, { entry: ownApp('pages.js'), workers: 1, config });
  await eventually(() => /pages are only in memory: /.test(notes(sluice)));
  await ask(sluice, page);
  assert.match(did(await ask(sluice, page)), /; hit; /);
});
