// What a benchmark prints and keeps: the machine, what was compared, a table, its bars, and the same as JSON.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { repositoryDir } from '../../tests/support/sluice.ts';
import type { Options } from './options.ts';
import { commandsRun, configurationsUsed, find, versionOf } from './run.ts';

const resultsDir = fileURLToPath(new URL('../results/', import.meta.url));

export interface Bar {
  what: string;
  bar: string;
  figure: string;
  met: boolean;
}

/** Flag that asks a peer for its version. */
const VERSION_FLAGS = { nginx: '-v', haproxy: '-v', varnishd: '-V', hitch: '-V', h2load: '--version' };

/** Prints and returns what the figures depend on. `peers`: programs whose versions count besides Sluice and Node. */
export function describe(
  title: string,
  options: Options,
  peers: (keyof typeof VERSION_FLAGS)[] = [],
): Record<string, unknown> {
  const cpus = os.cpus();
  const about = {
    title,
    date: new Date().toISOString(),
    command: ['npx tsx', path.relative(repositoryDir, process.argv[1] ?? ''), ...process.argv.slice(2)].join(
      ' ',
    ),
    machine: `${cpus.length} × ${cpus[0]?.model.trim() ?? 'unknown CPU'}, ${Math.round(os.totalmem() / 2 ** 30)} GiB`,
    cores: os.availableParallelism(),
    kernel: `${os.type()} ${os.release()} ${os.arch()}`,
    load_before: os
      .loadavg()
      .map((value) => value.toFixed(2))
      .join(' '),
    node: process.version,
    sluice: sluiceVersion(),
    ...Object.fromEntries(peers.map((peer) => [peer, versionOf(find(peer), VERSION_FLAGS[peer])])),
    runs: options.runs,
    workers: options.workers,
    quick: options.quick,
  };
  console.log(`# ${title}\n`);
  for (const [name, value] of Object.entries(about).slice(1))
    console.log(`${name.padEnd(12)} ${String(value)}`);
  if (options.quick) console.log('\nA quick run shows that the tool works. Its figures say little.');
  console.log('');
  return about;
}

/** The gateway of `make start` is hardly optimised: its figures would say nothing. */
function refuseBinaryOfStart(): void {
  const target = path.join(repositoryDir, 'gateway/target');
  const named = path.join(
    repositoryDir,
    `packages/sluice/platform/${process.platform}-${process.arch}/sluice`,
  );
  const binary = [
    process.env['SLUICE_BINARY'],
    named,
    `${target}/release/sluice`,
    `${target}/start/sluice`,
  ].find((file) => file !== undefined && fs.existsSync(file));
  if (binary !== undefined && /[\\/]start[\\/]sluice$/.test(fs.realpathSync(binary)))
    throw new Error(
      `${binary} is the binary of \`make start\`, which is hardly optimised. Run \`make build\` first.`,
    );
}

function sluiceVersion(): string {
  refuseBinaryOfStart();
  const binary = process.env['SLUICE_BINARY'];
  const program = binary ?? path.join(repositoryDir, 'packages/sluice/bin/sluice.js');
  if (!fs.existsSync(program)) return 'not built';
  const [command, args] = binary === undefined ? [process.execPath, [program]] : [program, []];
  const version = spawnSync(command, [...args, '--version'], { encoding: 'utf8' }).stdout?.trim() ?? '';
  return `${version === '' ? 'of unknown version' : version} (${revision()})`;
}

function revision(): string {
  try {
    const git = (args: string[]) =>
      execFileSync('git', args, { cwd: repositoryDir, encoding: 'utf8', stdio: 'pipe' });
    const changed = git(['status', '--porcelain']).trim() !== '';
    return `${git(['rev-parse', '--short', 'HEAD']).trim()}${changed ? ', with changes' : ''}`;
  } catch {
    return 'no revision';
  }
}

export function printTable(columns: string[], rows: (string | number)[][]): void {
  const cells = [columns, ...rows.map((row) => row.map(String))];
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const isNumber = columns.map((_, at) => rows.every((row) => /^[-\d.,±×% ]*$/.test(String(row[at] ?? ''))));
  const line = (row: string[]) =>
    `| ${row.map((cell, at) => (isNumber[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join(' | ')} |`;
  console.log(line(columns));
  console.log(
    `| ${widths.map((width, at) => (isNumber[at] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))).join(' | ')} |`,
  );
  for (const row of cells.slice(1)) console.log(line(row));
  console.log('');
}

/** Prints the bars, writes everything to `bench/results/`, and sets the exit code where `--strict` asks for it. */
export function conclude(
  name: string,
  options: Options,
  about: Record<string, unknown>,
  bars: Bar[],
  data: unknown,
): void {
  if (bars.length > 0) {
    const rows = bars.map(({ what, bar, figure, met }) => [what, bar, figure, met ? 'met' : 'MISSED']);
    printTable(['what', 'bar', 'figure', ''], rows);
  }
  const commands = commandsRun();
  if (commands.length > 0)
    console.log(`Servers started besides Sluice:\n${commands.map((line) => `  ${line}`).join('\n')}\n`);
  fs.mkdirSync(resultsDir, { recursive: true });
  const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const file = path.join(resultsDir, `${name}-${stamp}.json`);
  fs.writeFileSync(
    file,
    `${JSON.stringify({ ...about, bars, commands, configurations: configurationsUsed(), data }, null, 2)}\n`,
  );
  console.log(`Written to ${path.relative(process.cwd(), file)}`);
  if (options.strict && bars.some(({ met }) => !met)) process.exitCode = 1;
}

export function median(values: number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const middle = Math.floor(sorted.length / 2);
  const [upper, lower] = [sorted[middle] ?? Number.NaN, sorted[middle - 1] ?? Number.NaN];
  return sorted.length % 2 === 1 ? upper : (lower + upper) / 2;
}

export const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);

/** Three significant figures where they fit, whole numbers from a hundred on. */
export function short(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '-';
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

export const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;
export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
