/**
 * Starts every app of `frameworks.ts` and asks each the same things: under `sluice start`, or alone with
 * `SLUICE_CONFORMANCE_BARE=1`. What passes alone has to pass under Sluice; where the two may differ, the check says so
 * by naming the mode.
 *
 * SLUICE_TEST_LONG=1            also the frameworks that need a build
 * SLUICE_CONFORMANCE_BARE=1     without Sluice
 * SLUICE_CONFORMANCE_ONLY=a,b   only these
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ask, exchange, leaveWhile, plain, type Ask } from './client.ts';
import { frameworks, type Framework } from './frameworks.ts';
import { isAlive, isListening, launch, leftOf, type Mode, type Running } from './launch.ts';
import { buildIfStale, installIfStale } from './prepare.ts';
import { runtimeFor } from './runtime.ts';
import { eventually } from '../support/eventually.ts';
import { newRow, render, type Column, type Row } from './table.ts';

const mode: Mode = process.env['SLUICE_CONFORMANCE_BARE'] === '1' ? 'bare' : 'sluice';
const long = process.env['SLUICE_TEST_LONG'] === '1';
const only = process.env['SLUICE_CONFORMANCE_ONLY']?.split(',');

/** The apps wait 300 ms between their two parts; a buffered stream would show them together. */
const stream_gap_ms_min = 150;
const stream_asks_max = 5;
/** More than a socket takes at once, and more than the gateway keeps in memory. */
const downloads_bytes = [300_000, 3_000_000];
const prepare_timeout_ms = 30 * 60_000;

const rows: Row[] = [];
after(() =>
  console.log(`\n${mode === 'bare' ? 'Alone, without Sluice' : 'Under Sluice'}:\n\n${render(rows)}\n`),
);

const chosen = frameworks.filter(({ name, tier }) =>
  only === undefined ? long || tier === 'quick' : only.includes(name),
);
const unknown = only?.filter((name) => !frameworks.some((framework) => framework.name === name)) ?? [];
if (unknown.length > 0)
  throw new Error(`SLUICE_CONFORMANCE_ONLY names ${unknown.join(', ')}, which is no framework here`);

for (const framework of chosen) {
  const row = newRow(framework.name);
  rows.push(row);
  const runtime = await runtimeFor(framework.nodeMin, long || only !== undefined);
  if (runtime === undefined) {
    row.skipped = `needs Node ${framework.nodeMin}, this is ${process.version}`;
    void it(framework.name, { skip: row.skipped });
    continue;
  }

  void describe(framework.name, () => {
    let app: Running;
    const started_ms = { prepare: 0, run: 0 };
    /** Processes of the app that must be gone after the stop. */
    const pids = new Set<number>();

    before(
      async () => {
        started_ms.prepare = performance.now();
        const install = join(import.meta.dirname, 'frameworks', framework.install);
        await installIfStale(install, runtime.bin);
        await buildIfStale(framework, install, runtime.bin);
        started_ms.run = performance.now();
        row.prepare_s = (started_ms.run - started_ms.prepare) / 1000;
        row.node = runtime.version;
        row.version =
          framework.shows === 'node' ? runtime.version.slice(1) : versionOf(install, framework.shows);
        app = await launch(
          framework,
          join(import.meta.dirname, 'frameworks', framework.folder),
          runtime,
          mode,
        );
      },
      { timeout: prepare_timeout_ms },
    );

    after(() => {
      row.run_s = (performance.now() - started_ms.run) / 1000;
    });

    /** A check and its place in the table; on failure the app's own output is shown as well. */
    const check = (column: Column, title: string, body: () => Promise<void>) => {
      void it(title, async () => {
        try {
          await body();
          row.marks[column] ??= 'yes';
        } catch (error) {
          row.marks[column] = 'NO';
          console.error(app.output());
          throw error;
        }
      });
    };

    const send = (path: string, more: Partial<Ask> = {}) =>
      ask({
        port: app.port,
        path,
        ...more,
        headers: { ...(mode === 'bare' ? framework.proxyHeaders : {}), ...more.headers },
      });

    check('page', 'renders a page on the server', async () => {
      const page = await send('/');
      assert.equal(page.status, 200);
      assert.match(page.headers['content-type'] ?? '', /^text\/html/);
      assert.match(page.body, helloOf(framework));
    });

    check('page', 'renders again and again over one connection', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      try {
        const ports = new Set<number>();
        for (let round = 0; round < 3; round += 1) {
          const page = await send('/', { agent });
          assert.match(page.body, helloOf(framework));
          ports.add(page.from.port);
        }
        assert.equal(ports.size, 1, 'the connection was not kept');
      } finally {
        agent.destroy();
      }
    });

    check('page', 'renders eight pages asked for at once', async () => {
      const pages = await Promise.all(Array.from({ length: 8 }, () => send('/')));
      for (const page of pages) {
        assert.equal(page.status, 200);
        assert.match(page.body, helloOf(framework));
      }
    });

    check('page', 'answers HEAD with a head alone', async () => {
      const head = await send('/', { method: 'HEAD' });
      assert.equal(head.status, 200);
      assert.equal(head.body, '');
    });

    check('post', `takes a POST of ${framework.post.sends === 'form' ? 'a form' : 'JSON'}`, async () => {
      for (const message of ['Grüße & <more>', 'x'.repeat(50_000)]) {
        const form = framework.post.sends === 'form';
        const answer = await send('/echo', {
          method: 'POST',
          headers: {
            'content-type': form ? 'application/x-www-form-urlencoded' : 'application/json',
            origin: `http://127.0.0.1:${app.port}`,
          },
          body: form ? new URLSearchParams({ message }).toString() : JSON.stringify({ message }),
        });
        assert.equal(answer.status, 200, answer.body.slice(0, 500));
        if (framework.post.answers === 'json') {
          assert.deepEqual(JSON.parse(answer.body), { message });
        } else {
          assert.ok(unescapeHtml(answer.body).includes(`<p>${message}`), answer.body.slice(0, 500));
        }
      }
    });

    check('asset', 'serves a static file', async () => {
      const asset = await send('/hello.txt');
      assert.equal(asset.status, 200);
      assert.match(asset.headers['content-type'] ?? '', /^text\/plain/);
      assert.match(asset.body, /^A static file of the [\w-]+ app\.\n$/);
    });

    const { builtAsset } = framework;
    if (builtAsset !== undefined) {
      check('asset', 'serves a script that the page names', async () => {
        const path = builtAsset.exec((await send('/')).body)?.[0];
        assert.ok(path, 'the page names no script');
        const asset = await send(path);
        assert.equal(asset.status, 200, path);
        assert.match(asset.headers['content-type'] ?? '', /javascript/);
        assert.equal(
          Buffer.byteLength(asset.body),
          Number(asset.headers['content-length'] ?? Buffer.byteLength(asset.body)),
        );
        assert.ok(asset.body.length > 0);
      });
    }

    for (const bytes of downloads_bytes) {
      check('download', `sends all of ${bytes} bytes`, async () => {
        const answer = await send(`/download?bytes=${bytes}`);
        assert.equal(answer.status, 200);
        assert.equal(answer.body.length, bytes);
        assert.equal(Number(answer.headers['content-length'] ?? bytes), bytes);
        // Not assert.equal, which would print both.
        assert.ok(answer.body === '0123456789'.repeat(bytes / 10), 'the bytes are not those of the app');
      });
    }

    check('stream', 'passes each part of a stream on when it is produced', async () => {
      // A busy client sees the first part late. Parts that were held back are never apart, however often it asks.
      let said = '';
      for (let asked = 0; asked < stream_asks_max; asked += 1) {
        const answer = await send('/stream');
        assert.equal(answer.status, 200);
        const at_ms = (part: string) =>
          answer.pieces.find(({ text }) => text.includes(part))?.at_ms ?? Number.NaN;
        const gap_ms = at_ms('second part') - at_ms('first part');
        if (gap_ms >= stream_gap_ms_min) return;
        said = `the parts came ${gap_ms} ms apart:\n${answer.body.slice(0, 2_000)}`;
      }
      assert.fail(said);
    });

    check('404', 'answers 404 for what it does not have', async () => {
      assert.equal((await send('/missing/page')).status, 404);
    });

    if (framework.showsRoutes === true) {
      const isOneClass = async (asks: (name: string) => Promise<void>, name: string) => {
        await asks('first-item');
        if (mode === 'bare') return;
        await eventually(
          async () => {
            await asks('another-item');
            return (await app.classes()).includes(name);
          },
          { deadlineMs: 10_000, what: `the class ${name}` },
        );
      };
      check('route', 'requests of one route are one class once its template was seen', async () => {
        const slug = async (name: string) => {
          const item = await send(`/items/${name}`);
          assert.deepEqual([item.status, JSON.parse(item.body)], [200, { slug: name }]);
        };
        await isOneClass(slug, 'GET /items/:id');
        if (framework.showsPages !== true) return;
        const page = async (name: string) => {
          const { status, body } = await send(`/shop/${name}`);
          assert.deepEqual([status, body.includes(name)], [200, true]);
        };
        await isOneClass(page, 'GET /shop/:id');
      });
    }

    check('leaving', 'sees its client leave, and is free afterwards', async () => {
      // As often as there are workers, and once more.
      for (const how of ['destroy', 'resetAndDestroy', 'end'] as const) {
        await leaveWhile(app.port, `/wait?name=${how}`, how, {
          until: () => app.output().includes(`waits ${how}`),
        });
        await eventually(() => app.output().includes(`left ${how}`), {
          deadlineMs: 10_000,
          what: `the app's word that its client has left by ${how}`,
        });
      }
      assert.equal((await send('/')).status, 200);
    });

    const { webSocket } = framework;
    if (webSocket !== undefined) {
      check('websocket', 'echoes over a WebSocket', async () => {
        const texts = ['first', 'Grüße', 'x'.repeat(300), 'y'.repeat(70_000)];
        const messages =
          webSocket.messages === 'text'
            ? texts
            : texts.map((data) => JSON.stringify({ event: 'echo', data }));
        assert.deepEqual(await exchange(app.port, '/ws', messages), messages);
      });
    }

    check('client', 'sees the client, the host and the port as it would alone', async () => {
      // On Linux all of 127.0.0.0/8 is there to come from, so that the client cannot be mistaken for the gateway.
      const from = process.platform === 'linux' ? '127.0.0.2' : undefined;
      const answer = await send('/debug', { from, headers: { 'x-conformance': 'a, b' } });
      assert.equal(answer.status, 200, answer.body.slice(0, 500));
      const seen = JSON.parse(answer.body) as Seen;
      const { sees } = framework;

      assert.equal(seen.host, `127.0.0.1:${app.port}`);
      assert.equal(seen.protocol, 'http');
      assert.equal(seen.port, String(app.port));
      assert.equal(seen.headers['x-conformance'], 'a, b');
      assert.deepEqual(
        Object.keys(seen.headers).filter((name) => name.startsWith('x-sluice-')),
        [],
      );
      if (sees.socket) {
        assert.equal(plain(seen.remoteAddress ?? ''), answer.from.address);
        assert.equal(seen.remotePort, answer.from.port);
        assert.equal(seen.remoteFamily, seen.remoteAddress?.includes(':') ? 'IPv6' : 'IPv4');
      }
      if (sees.ip) assert.equal(plain(seen.ip ?? ''), answer.from.address);
      if (sees.forwardedForAlone || mode === 'sluice') {
        assert.equal(plain(seen.headers['x-forwarded-for'] ?? ''), answer.from.address);
      }
      assert.ok(isAlive(seen.pid), 'the app tells a process that does not exist');
      pids.add(seen.pid);
    });

    if (mode === 'sluice') {
      check('stop', 'has kept both workers and never gave one of them two requests', async () => {
        const status = (await app.status()) as {
          workers: { restarts_total: number; pid: number | null }[];
          overlaps_total: number;
        };
        assert.equal(status.workers.length, 2);
        assert.deepEqual(
          status.workers.map((worker) => worker.restarts_total),
          [0, 0],
        );
        assert.equal(status.overlaps_total, 0);
        for (const { pid } of status.workers) if (pid !== null) pids.add(pid);
      });
    }

    check('stop', 'ends on SIGTERM and leaves nothing behind', async () => {
      const ended = await app.stop();
      if (mode === 'sluice') assert.equal(ended, 0);
      const left = await leftOf(pids);
      for (const pid of left) process.kill(pid, 'SIGKILL');
      assert.deepEqual(left, [], 'processes were left');
      assert.equal(await isListening(app.port), false, 'something still listens');
    });
  });
}

interface Seen {
  readonly remoteAddress?: string;
  readonly remotePort?: number;
  readonly remoteFamily?: string;
  readonly ip?: string;
  readonly protocol: string;
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly port: string;
  readonly pid: number;
}

function helloOf(framework: Framework): RegExp {
  const app = basename(framework.folder);
  return new RegExp(`<h1[^>]*>Hello from ${app}</h1>[^]*\\d{4}-\\d\\d-\\d\\dT`);
}

function versionOf(folder: string, name: string): string {
  const text = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function unescapeHtml(html: string): string {
  return html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
