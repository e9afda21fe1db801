// A gateway with a page cache, a crawl of it, and trouble meanwhile.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { randomFrom, seed } from '../support/chance.ts';
import { Crawl, TARGETS } from './leak-crawl.ts';
import { bounds } from '../support/bounds.ts';
import { type Sluice, startSluice } from '../support/sluice.ts';
import { end, nothingLeftOf, ownApp } from './scenario.ts';
import { reload } from './versions.ts';

const LANES = 64;

export async function crawled(
  t: TestContext,
  { answers, upgrades, targets = TARGETS }: { answers: number; upgrades: boolean; targets?: string[] },
): Promise<Crawl> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-leaks-'));
  const failing = path.join(dir, 'failing');
  // Small memory, so that much is found on disk alone; pages stay as they are over upgrades and kills.
  const cache = `[cache]\nenabled = true\nbytes_max = 200000\non_reload = "keep"\ndisk_dir = "${dir}/pages"\n`;
  const start = (): Promise<Sluice> =>
    startSluice({
      entry: ownApp('pages.js'),
      workers: 2,
      config: `${cache}[compression]\nenabled = true\n[compose]\nenabled = true\n`,
      runDir: path.join(dir, 'run'),
      env: {
        FAILING_FILE: failing,
        DIED_FILE: path.join(dir, 'died'),
        SLUICE_LOG_ACCESS: 'false',
        SLUICE_DRAIN_TIMEOUT_MS: '3000',
        ...bounds({ private_s: 1 }),
      },
    });
  let sluice = await start();
  t.after(async () => {
    await end(sluice);
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const random = randomFrom(seed);
  const crawl = new Crawl(() => sluice.port, targets, random);
  const counts = { purges: 0, kills: 0, reloads: 0, upgrades: 0, crashes: 0 };
  let isDone = false;

  const trouble = async (): Promise<void> => {
    for (let round = 0; !isDone; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      if (round % 2 === 0) fs.writeFileSync(failing, '');
      else fs.rmSync(failing, { force: true });
      if (round % 4 === 1) {
        await sluice.cli(['cache', 'purge', '--all', ...(round % 8 === 1 ? ['--soft'] : [])]);
        counts.purges += 1;
        // The app purges as well.
        const pages = [{ tag: 'one' }, { prefix: '/page' }, { url: '/user', soft: true }][(round >> 2) % 3];
        const target = `/purge?pages=${encodeURIComponent(JSON.stringify(pages))}`;
        await fetch(`${sluice.url}${target}`, { method: 'POST' }).catch(() => {});
      }
      if (round % 12 === 6) {
        const { workers } = await sluice.status();
        const pid = workers[random(workers.length)]?.pid;
        if (pid) process.kill(pid, 'SIGKILL');
        counts.kills += 1;
      }
      if (round % 16 === 11) {
        await reload(sluice).catch(() => '');
        counts.reloads += 1;
      }
      if (upgrades && round % 40 === 20) {
        const { code } = await sluice.cli(['upgrade']);
        if (code === 0) counts.upgrades += 1;
      }
      if (upgrades && round % 60 === 59) {
        // The next one finds on disk what this one has left there.
        await sluice.kill9();
        await nothingLeftOf(sluice);
        fs.rmSync(sluice.dir, { recursive: true, force: true });
        sluice = await start();
        counts.crashes += 1;
      }
    }
  };
  const began = performance.now();
  const troubled = trouble().finally(() => (isDone = true));
  await crawl.run(LANES, answers, () => !isDone);
  isDone = true;
  await troubled;
  const seconds = (performance.now() - began) / 1000;
  t.diagnostic(
    `${crawl.answers} answers in ${seconds.toFixed(0)} s, ${crawl.cut} of them cut off, ${JSON.stringify(counts)}: ${JSON.stringify(crawl.uses)}`,
  );
  return crawl;
}
