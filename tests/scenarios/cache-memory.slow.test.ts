// Everything that clients can make the gateway hold because of its page cache, at once: renders for many that are written and not over,
// purges with long URLs, and beside them clients that do not read and uploads that do not end. The gateway has 64 MiB for what waits and
// 64 MiB for pages, in a memory cgroup of 256 MB where this user may make one.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { MemoryCgroup, needed } from '../../bench/lib/cgroup.ts';
import { bounds } from '../support/bounds.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw.ts';
import type { Sluice } from '../support/sluice.ts';
import { bytesOf, ownApp, running } from './scenario.ts';

const noProc = fs.existsSync('/proc/self/status') ? false : 'there is no /proc here';
const MIB = 2 ** 20;
const BOUND = 64 * MIB;
const LIMIT = 256 * MIB;
/** A page that is kept: a little less than `page_bytes_max`. */
const PAGE_BYTES = 3_900_000;
const PAGES = 100;
const mebibytes = (bytes: number): string => `${Math.round(bytes / MIB)} MiB`;

const residentBytes = (pid: number): number =>
  1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

async function metric(sluice: Sluice, name: string): Promise<number> {
  const text = await (await fetch(`${sluice.admin}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? assert.fail(`${name} is missing`));
}

interface World {
  sluice: Sluice;
  gateway: number;
  /** Renders end. */
  release: () => void;
  /** The most that the gateway has held since the start. */
  peak: () => number;
}

async function started(t: TestContext, cgroup: MemoryCgroup | undefined): Promise<World> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-cache-memory-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  const released = path.join(dir, 'released');
  const entry = ownApp('pages.js');
  const sluice = await running(t, {
    // The workers have memory of their own.
    ...(cgroup === undefined
      ? { entry }
      : { through: cgroup.enter, command: [...cgroup.leave, process.execPath, entry] }),
    workers: 2,
    config: `[cache]\nenabled = true\nbytes_max = ${BOUND}\n`,
    env: {
      SLUICE_MEMORY_BUFFERS_BYTES_MAX: String(BOUND),
      SLUICE_TEMP_BYTES_MAX: String(8_000_000_000),
      SLUICE_WORKERS_CONCURRENCY_MAX: '500',
      SLUICE_QUEUE_WAIT_MS_MAX: '600000',
      SLUICE_SERVER_SEND_TIMEOUT_MS: '600000',
      ...bounds({ body_grace_ms: 600_000 }),
      SLUICE_LOG_ACCESS: 'false',
      RELEASED_FILE: released,
    },
  });
  // Not before: it would take the limit for that of its workers, and bound by that how many requests wait in them.
  cgroup?.limit(LIMIT);
  const gateway = await sluice.gatewayPid();
  let peak = 0;
  const watch = setInterval(() => {
    if (fs.existsSync(`/proc/${gateway}`)) peak = Math.max(peak, residentBytes(gateway));
  }, 20);
  t.after(() => {
    clearInterval(watch);
  });
  return { sluice, gateway, release: () => fs.writeFileSync(released, ''), peak: () => peak };
}

interface Read {
  /** What has come so far. */
  bytes: number;
  ended: Promise<string>;
}

/** A client that reads a page as it comes. `ended` resolves with the hash of all of it. */
function reads(sluice: Sluice, target: string): Read {
  const hash = crypto.createHash('sha256');
  const read: Read = {
    bytes: 0,
    ended: new Promise((resolve, reject) => {
      http
        .get(`${sluice.url}${target}`, { agent: false }, (answer) => {
          answer.on('data', (piece: Buffer) => {
            hash.update(piece);
            read.bytes += piece.length;
          });
          answer.once('end', () => {
            resolve(hash.digest('hex'));
          });
          answer.once('error', reject);
        })
        .once('error', reject);
    }),
  };
  // One that fails is looked at in the end.
  read.ended.catch(() => {});
  return read;
}

const held = (id: number): string => `/held?cc=public,max-age=600&bytes=${PAGE_BYTES}&id=${id}`;
const hashOf = (id: number): string =>
  crypto
    .createHash('sha256')
    .update(Buffer.alloc(PAGE_BYTES, `${id} `))
    .update('ended\n')
    .digest('hex');

/** Asks for that many pages, and waits until all that their renders write meanwhile has come. */
async function heldPages(sluice: Sluice): Promise<Read[]> {
  const pages = Array.from({ length: PAGES }, (_, id) => reads(sluice, held(id)));
  await eventually(() => pages.every(({ bytes }) => bytes === PAGE_BYTES), {
    deadlineMs: 120_000,
    what: 'pages that are written and not over',
  });
  return pages;
}

async function wholeAndKept(sluice: Sluice, pages: Read[]): Promise<void> {
  const hashes = await Promise.all(pages.map(async ({ ended }) => ended));
  for (const [id, hash] of hashes.entries()) assert.equal(hash, hashOf(id), `page ${id}`);
  await eventually(async () => (await metric(sluice, 'sluice_cache_pages')) > 5, {
    deadlineMs: 20_000,
    what: 'pages that are kept as far as they have room',
  });
  assert.ok((await metric(sluice, 'sluice_cache_bytes')) <= BOUND);
}

void test(
  'I6: a hundred unfinished renders for many clients stay within memory.buffers_bytes_max',
  { skip: noProc },
  async (t) => {
    const { sluice, gateway, release, peak } = await started(t, undefined);
    const before = residentBytes(gateway);
    const pages = await heldPages(sluice);
    assert.ok((await metric(sluice, 'sluice_memory_buffers_bytes')) <= BOUND);
    t.diagnostic(
      `${PAGES} pages of ${mebibytes(PAGE_BYTES)}: ${mebibytes(peak() - before)} more than at rest`,
    );
    // The rest is for bytes on their way to a disk, and for what the allocator holds back.
    assert.ok(peak() - before < 2 * BOUND, mebibytes(peak() - before));
    release();
    await wholeAndKept(sluice, pages);
    // Kept pages besides.
    assert.ok(peak() - before < 3 * BOUND, mebibytes(peak() - before));
  },
);

/** Changes of pages with long random URLs, which drop whatever is kept of them. */
async function purges(sluice: Sluice, count: number): Promise<void> {
  const lane = async (): Promise<void> => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (let at = 0; at < count / 32; at++) {
      const target = `/change/${crypto.randomBytes(1900).toString('hex')}`;
      const status = await new Promise<number>((resolve, reject) => {
        const request = http.request(`${sluice.url}${target}`, { method: 'POST', agent }, (answer) => {
          answer.resume().once('end', () => {
            resolve(answer.statusCode ?? 0);
          });
        });
        request.once('error', reject).end();
      });
      assert.equal(status, 200);
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: 32 }, lane));
}

void test(
  'I6: renders, purges, slow readers and uploads at once do not crash a gateway with 256 MB',
  { skip: noProc },
  async (t) => {
    const made = MemoryCgroup.make();
    const cgroup = typeof made === 'string' ? undefined : made;
    if (typeof made === 'string')
      t.diagnostic(`No memory cgroup could be made (${made}): the resident set is held against 256 MB.`);
    const connections: RawConnection[] = [];
    const { sluice, gateway, release, peak } = await started(t, cgroup);
    try {
      let most = 0;
      const watch = setInterval(() => {
        if (cgroup !== undefined) most = Math.max(most, needed(cgroup.usage()));
      }, 50);
      t.after(() => {
        clearInterval(watch);
      });
      const [uploads, readers, body] = [100, 200, 2_000_000];
      for (let at = 0; at < uploads; at++) {
        const upload = await RawConnection.connect(sluice.port);
        upload.send(bytesOf('/upload', `Content-Length: ${body}\r\n`, 'POST'));
        upload.send(Buffer.alloc(body - 1, 'u').toString());
        connections.push(upload);
      }
      for (let at = 0; at < readers; at++) {
        const reader = await RawConnection.connect(sluice.port);
        reader.pause();
        reader.send(bytesOf(`/large?bytes=3000000&at=${at}`));
        connections.push(reader);
      }
      const pages = heldPages(sluice);
      await purges(sluice, 15_000);
      const written = await pages;
      assert.ok((await metric(sluice, 'sluice_memory_buffers_bytes')) <= BOUND);
      release();
      // They were rendered while others purged, so some are not kept; all of them come whole.
      const hashes = await Promise.all(written.map(async ({ ended }) => ended));
      for (const [id, hash] of hashes.entries()) assert.equal(hash, hashOf(id), `page ${id}`);
      for (const upload of connections.slice(0, uploads)) upload.send('u');
      for (const upload of connections.slice(0, uploads)) {
        const { status, body: told } = await upload.response({ deadlineMs: 120_000 });
        assert.deepEqual([status, told.toString()], [200, `${body}\n`]);
      }
      // The pages are asked for once more, and this time they fill the cache.
      await wholeAndKept(
        sluice,
        Array.from({ length: PAGES }, (_, id) => reads(sluice, held(id))),
      );
      assert.equal(await sluice.gatewayPid(), gateway, 'the gateway is the one of the beginning');
      const peaks = cgroup?.peak();
      t.diagnostic(
        `the gateway took ${mebibytes(peak())} of resident memory at most` +
          (cgroup === undefined ? '' : `, and its cgroup ${mebibytes(most)} without files`),
      );
      assert.equal(peaks?.kills ?? 0, 0);
      // Resident are also parts of the binary, which the kernel takes back when it needs to.
      const taken = cgroup === undefined ? peak() : most;
      assert.ok(taken < LIMIT, mebibytes(taken));
    } finally {
      for (const connection of connections) connection.close();
    }
  },
);
