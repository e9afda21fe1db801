// Runs test files beside each other, and files that fail then once more, alone: `node --import tsx tests/support/run.ts FILE…`.
// A fault fails twice. A file that passes alone has met a busy machine or a race, and is named at the end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Failed files that are run once more; with more of them, the change or the machine is broken. */
const AGAIN_MAX = 4;

const reporter = fileURLToPath(new URL('failed-files.mjs', import.meta.url));

interface Run {
  readonly hasPassed: boolean;
  /** Absolute paths. Empty where the runner itself failed. */
  readonly failed: readonly string[];
}

/** `concurrency`: files that run at the same time. */
async function run(files: readonly string[], concurrency: number): Promise<Run> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-failed-'));
  const list = path.join(folder, 'failed');
  try {
    const runner = spawn(
      process.execPath,
      [
        '--import',
        'tsx',
        '--test',
        `--test-concurrency=${concurrency}`,
        '--test-reporter=spec',
        '--test-reporter-destination=stdout',
        `--test-reporter=${reporter}`,
        `--test-reporter-destination=${list}`,
        ...files,
      ],
      { stdio: 'inherit' },
    );
    const [code] = (await once(runner, 'exit')) as [number | null];
    const failed = readFileSync(list, 'utf8').split('\n').filter(Boolean);
    return { hasPassed: code === 0, failed: [...new Set(failed)] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const files = process.argv.slice(2);
// One file more at once than there are CPUs: much of a test is waiting, and some measure shares of CPU time.
const first = await run(files, os.availableParallelism() + 1);
if (!first.hasPassed) {
  const { failed } = first;
  // A test that a helper file defines is reported by the helper's path, which cannot be run.
  const given = new Set(files.map((file) => path.resolve(file)));
  const canRunAgain = failed.length > 0 && failed.every((file) => given.has(file));
  if (!canRunAgain || failed.length > AGAIN_MAX) process.exit(1);
  const names = failed.map((file) => path.relative(process.cwd(), file)).join(', ');
  console.log(`\nfailed beside others, run once more alone: ${names}\n`);
  const again = await run(failed, 1);
  console.log(again.hasPassed ? `\nflaky, passed alone: ${names}` : '\nfailed twice');
  process.exit(again.hasPassed ? 0 : 1);
}
