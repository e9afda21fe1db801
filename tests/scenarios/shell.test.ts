// A page for the browser to fill, in place of a 503: from a file, and from the app.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import type { RawResponse } from '../support/raw.ts';
import { bounds } from '../support/bounds.ts';
import type { Sluice } from '../support/sluice.ts';
import { ask, assertRefused, ownApp, recordOf, running, sent, statusWhen } from './scenario.ts';
import { reload } from './versions.ts';

const BROWSER = 'Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\nSec-Fetch-Dest: document\r\n';

async function shop(t: TestContext, config: string) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-shell-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  const [version, release] = ['version', 'release'].map((name) => path.join(dir, name)) as [string, string];
  fs.writeFileSync(version, 'one');
  const html = path.join(dir, 'shell.html');
  fs.writeFileSync(html, '<!doctype html><title>file one</title>\n');
  const sluice = await running(t, {
    entry: ownApp('shells.js'),
    workers: 1,
    config: `[queue]\nlength_max = 0\n[workers]\nconcurrency = 1\n${config.replace('FILE', html)}`,
    env: { VERSION_FILE: version, RELEASE_FILE: release, ...bounds({ reload_at_once: 1 }) },
  });
  /** Asks for this while the only worker is held and the queue has no room. */
  const whileFull = async <T>(what: () => Promise<T>): Promise<T> => {
    fs.rmSync(release, { force: true });
    const held = await sent(sluice, '/hold');
    await statusWhen(sluice, ({ requests }) => requests.in_service === 1, 'a worker that is held');
    const got = await what();
    fs.writeFileSync(release, '');
    assert.equal((await held.response()).status, 200);
    held.close();
    return got;
  };
  const told = (name: string): void => fs.writeFileSync(version, name);
  /** Until this version was asked for its shell: while the worker is held there is no room for that either. */
  const asked = async (name: string): Promise<void> => {
    const file = `${version}.asked`;
    await eventually(() => fs.existsSync(file) && fs.readFileSync(file, 'utf8').includes(name), {
      what: `a look at the shell of ${name}`,
    });
  };
  return { sluice, html, whileFull, told, asked };
}

const page = (sluice: Sluice, target: string, more = {}): Promise<RawResponse> =>
  ask(sluice, target, { headers: BROWSER, ...more });

void test('a browser gets the shell of a file where the queue has no room, and others get the 503', async (t) => {
  const { sluice, html, whileFull } = await shop(t, '[shell]\nfiles = { "/" = "FILE" }\n');
  assert.equal((await page(sluice, '/')).body.toString(), 'content one\n');
  await whileFull(async () => {
    const shell = await page(sluice, '/products?page=2');
    assert.deepEqual([shell.status, shell.body.toString()], [200, fs.readFileSync(html, 'utf8')]);
    assert.equal(shell.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.deepEqual(
      [shell.headers.get('cache-control'), shell.headers.get('x-robots-tag')],
      ['no-store', 'noindex'],
    );
    const head = await page(sluice, '/', { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length'), head.body.length], [200, '39', 0]);
    for (const headers of ['', 'Accept: */*\r\n', BROWSER.replace('document', 'empty')])
      assertRefused(await ask(sluice, '/script', { headers }), 503, 'SLU-QUEUE-FULL');
    assertRefused(await page(sluice, '/form', { method: 'POST', body: 'a=b' }), 503, 'SLU-QUEUE-FULL');
  });
  const line = await recordOf(sluice, '/products?page=2');
  assert.deepEqual(
    [line['step'], line['status'], line['outcome'], line['error']],
    ['shell', 200, 'edge', null],
  );
  assert.equal((await recordOf(sluice, '/script'))['step'], 'refuse');
  assert.match((await sluice.cli(['status'])).stdout, /^ladder +refuse 4, render \d+, shell 2$/m);
  // A deploy brings a new file.
  fs.writeFileSync(html, '<!doctype html><title>file two</title>\n');
  await reload(sluice);
  await whileFull(async () => assert.match((await page(sluice, '/')).body.toString(), /file two/));
});

void test('the app gives a shell for each of its versions, and one that fails leaves the last in use', async (t) => {
  const { sluice, whileFull, told, asked } = await shop(
    t,
    '[shell]\nfiles = { "/" = "FILE" }\npages = { "/shop/" = "/shop/shell" }\n',
  );
  const title = async (target: string): Promise<string | undefined> =>
    whileFull(async () => /<title>(.*)<\/title>/.exec((await page(sluice, target)).body.toString())?.[1]);
  await asked('one');
  await eventually(async () => (await title('/shop/a')) === 'shop one', {
    what: 'the shell of the first version',
  });
  assert.equal(await title('/shopping'), 'file one');
  const got = await whileFull(() => page(sluice, '/shop/a', { headers: `${BROWSER}Cookie: user=1\r\n` }));
  assert.deepEqual([got.headers.get('set-cookie'), got.headers.get('x-cookies')], [undefined, 'none']);
  told('two');
  await reload(sluice);
  await asked('two');
  await eventually(async () => (await title('/shop/a')) === 'shop two', {
    what: 'the shell of the second version',
  });
  told('broken');
  await reload(sluice);
  await eventually(
    () => sluice.logs.find((log) => String(log['text']).includes('sent no shell for /shop/shell')),
    {
      what: 'a note',
    },
  );
  assert.equal(await title('/shop/a'), 'shop two');
});
