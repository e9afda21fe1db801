// The pages that are made from the sources: what proves each invariant, what has a bound, and what a request at a worker waits for. `make generate` writes them.
import fs from 'node:fs';
import path from 'node:path';
import { CATALOGUE } from '../../packages/render/src/http/errors.js';
import { files, isTest, read, root } from './repository.ts';

const NOTICE = '<!-- Generated from the sources by `make generate`; do not edit. -->';

/** The page's path, and its text as Prettier would leave it but for the width of its columns. */
export const tables: readonly (readonly [string, () => string])[] = [
  ['docs/reference/invariants.md', invariants],
  ['docs/reference/bounds.md', bounds],
  ['docs/reference/timers.md', timers],
  ['docs/reference/render-errors.md', renderErrors],
];

/** A test, and the invariants that its name begins with: `I3, I5: …`, `I1_…`, `i3_i5_…`; in Rust also at its end: `…_i9`. */
interface Proof {
  readonly file: string;
  readonly name: string;
  readonly invariants: readonly string[];
}

export function proofs(): Proof[] {
  return files()
    .filter((file) => /^(?:gateway|packages|tests)\//.test(file) && isTest(file))
    .flatMap((file) => namesOf(file).map((name) => ({ file, name, invariants: invariantsOf(name) })))
    .filter((proof) => proof.invariants.length > 0);
}

function namesOf(file: string): string[] {
  const text = read(file);
  const found = file.endsWith('.rs')
    ? text.matchAll(
        /#\[(?:tokio::)?test[^\]]*\](?:\s*(?:#\[[^\]]*\]|\/\/\/[^\n]*))*\s*(?:async\s+)?fn\s+(\w+)/g,
      )
    : text.matchAll(/\btest\(\s*['"`]((?:\\.|[^\\\n])*?)['"`],/g);
  return [...found].map(([, name]) => name ?? '');
}

function invariantsOf(name: string): string[] {
  const titled = /^((?:I\d+, )*I\d+): /.exec(name)?.[1];
  const words = titled === undefined ? name.split('_') : titled.split(', ');
  return words.filter((word) => /^i(?:10|[1-9])$/i.test(word)).map((word) => word.toUpperCase());
}

function invariants(): string {
  const all = proofs();
  const numbers = [...new Set(all.flatMap((proof) => proof.invariants))].sort(
    (a, b) => numberOf(a) - numberOf(b),
  );
  const sections = numbers.map((invariant) => {
    const rows = all
      .filter((proof) => proof.invariants.includes(invariant))
      .map(({ file, name }) => `- \`${file}\`: ${/^\w+$/.test(name) ? `\`${name}\`` : titleOf(name)}`);
    return `## ${invariant}\n\n${rows.sort().join('\n')}\n`;
  });
  const intro = `The invariants are in [ARCHITECTURE.md](../../ARCHITECTURE.md#invariants). The name of a test begins with the invariants that it proves.`;
  return `${NOTICE}\n\n# Tests of the invariants\n\n${intro}\n\n${sections.join('\n')}`;
}

const numberOf = (invariant: string): number => Number(invariant.slice(1));

/** Without the invariants before it; parts that the test fills in become `…`. */
function titleOf(name: string): string {
  const title = name
    .replace(/^[I\d, ]+: /, '')
    .replaceAll(/\$\{[^}]*\}/g, '…')
    .replaceAll('\\', '');
  return title.replaceAll(/[*_<>]/g, '\\$&');
}

interface Bound {
  readonly file: string;
  readonly name: string;
  readonly value: string;
  /** First sentence of its doc comment; empty without one. */
  readonly text: string;
}

/** Constants whose name ends in `_MAX` or `_TIMEOUT`, of the gateway and of what runs in workers. */
export function constants(): Bound[] {
  return files()
    .filter((file) => /^(?:gateway\/\w+|packages\/preload)\/src\/.*\.(?:rs|ts)$/.test(file))
    .filter((file) => !/(?:^|[/_])tests?(?:\.rs|\/)/.test(file) && !file.endsWith('/allocations.rs'))
    .flatMap(constantsOf);
}

function constantsOf(file: string): Bound[] {
  const found = read(file).matchAll(
    /((?:^[ \t]*(?:\/\/\/|\/\*\*|\*|#\[).*\n)*)^[ \t]*(?:pub(?:\([^)]*\))? |export )?const (\w+_(?:MAX|TIMEOUT))(?:: [^=;]+)? =\s*([^;]+);/gm,
  );
  return [...found].map(([, comment = '', name = '', value = '']) => ({
    file,
    name,
    value: valueOf(name, value),
    text: firstSentence(comment),
  }));
}

function firstSentence(comment: string): string {
  const lines = comment.split('\n').filter((line) => !/^\s*#\[/.test(line));
  const text = lines
    .map((line) =>
      line
        .trim()
        .replace(/^(?:\/\/\/|\/\*\*|\*\/|\*)\s?/, '')
        .replace(/\s*\*\/$/, ''),
    )
    .join(' ')
    .trim();
  const sentence = /^.*?[.:;](?=\s|$)/.exec(text)?.[0] ?? text;
  return sentence
    .replace(/[.:;]$/, '')
    .replaceAll(/\[(`[^`]+`)\]/g, '$1')
    .replaceAll('|', '\\|');
}

/** With its unit where that can be told from the name; else as the source has it. */
function valueOf(name: string, source: string): string {
  const text = source.replaceAll(/(\d)_(?=\d)/g, '$1').trim();
  const duration = /^Duration::from_(secs|millis|micros)\(([^()]+)\)$/.exec(text);
  const amount = product(duration?.[2] ?? text);
  if (amount === undefined) return `\`${source.trim().replaceAll(/\s+/g, ' ')}\``;
  if (duration !== null)
    return time_ms(amount * { secs: 1000, millis: 1, micros: 0.001 }[duration[1] as 'secs']);
  if (/_MS(?:_|$)/.test(name)) return time_ms(amount);
  if (/_US(?:_|$)/.test(name)) return time_ms(amount / 1000);
  if (/BYTES/.test(name)) return bytes(amount);
  return amount.toLocaleString('en-US');
}

function product(text: string): number | undefined {
  const shifted = /^(\d+) << (\d+)$/.exec(text);
  if (shifted !== null) return Number(shifted[1]) * 2 ** Number(shifted[2]);
  const factors = text
    .split('*')
    .map((factor) => (/^[\d.]+$/.test(factor.trim()) ? Number(factor) : Number.NaN));
  const result = factors.reduce((whole, factor) => whole * factor, 1);
  return Number.isNaN(result) ? undefined : result;
}

function time_ms(ms: number): string {
  if (ms < 1) return `${ms * 1000} µs`;
  if (ms < 1000) return `${ms} ms`;
  return ms < 3_600_000
    ? `${(ms / 1000).toLocaleString('en-US')} s`
    : `${(ms / 3_600_000).toLocaleString('en-US')} h`;
}

function bytes(count: number): string {
  if (count >= 1 << 20 && count % (1 << 20) === 0)
    return `${(count / (1 << 20)).toLocaleString('en-US')} MiB`;
  if (count >= 1 << 10 && count % (1 << 10) === 0)
    return `${(count / (1 << 10)).toLocaleString('en-US')} KiB`;
  return `${count.toLocaleString('en-US')} bytes`;
}

/** Rows of the table of bounds in the catalogue: what and why, value, name. */
export function fixedBounds(): string[][] {
  const rows = read('gateway/catalog/src/config/bounds.rs').matchAll(
    /((?:^ {4}\/\/\/.*\n)+)^ {4}(\w+): u\d+ = ([\d_]+), "([^"]+)";$/gm,
  );
  return [...rows].map(([, comment = '', name = '', value = '', unit = '']) => [
    comment
      .replaceAll(/^ {4}\/\/\/ ?/gm, '')
      .trim()
      .replaceAll('\n', ' ')
      .replaceAll('|', '\\|'),
    fixedValue(unit, Number(value.replaceAll('_', ''))),
    `\`${name}\``,
  ]);
}

function fixedValue(unit: string, amount: number): string {
  if (amount === 0) return '0';
  if (unit === 'milliseconds') return time_ms(amount);
  if (unit === 'seconds') return time_ms(amount * 1000);
  if (unit === 'bytes') return bytes(amount);
  return `${amount.toLocaleString('en-US')} ${unit}`;
}

function bounds(): string {
  const all = constants();
  const folders = [...new Set(all.map(({ file }) => folderOf(file)))].sort();
  const sections = folders.map((folder) => {
    const rows = all
      .filter(({ file }) => folderOf(file) === folder)
      .map(({ file, name, value, text }) => [text, value, `\`${file.slice(folder.length + 5)}::${name}\``]);
    return `## ${folder}\n\n${table(['limit', 'value', 'constant, with its file below `src`'], rows)}\n`;
  });
  const intro = `Limits in the code (invariant I6) that operators have no reason to change. Limits that operators may change are in\n[the configuration](config.md).`;
  const fixed = table(['limit, and reason why it is not a key', 'value', 'name'], fixedBounds());
  const file = '`gateway/catalog/src/config/bounds.rs`';
  const notKeys = `## Bounds that are no keys\n\nLimits in ${file}, which all parts of the gateway use.\n\n${fixed}\n`;
  return `${NOTICE}\n\n# Bounds\n\n${intro}\n\n${notKeys}\n${sections.join('\n')}`;
}

const TIMERS = 'gateway/dispatch/src/exchange/timers.rs';

/** Rows of the table in the source, as they stand there. */
export function timerRows(): string[][] {
  const source = read(TIMERS);
  const hooks_ms = Number(/HOOKS_MS_MAX: u64 = (\d+)/.exec(source)?.[1]);
  const row =
    /TimerRow \{\s*timer: Timer::\w+,\s*name: "([^"]+)",\s*ms: (\d+)( \+ HOOKS_MS_MAX)?,\s*then: "([^"]+)",\s*reason: "([^"]+)",\s*\}/g;
  return [...source.matchAll(row)].map(([, name = '', ms = '', hooks, then = '', reason = '']) => [
    name,
    time_ms(Number(ms) + (hooks === undefined ? 0 : hooks_ms)),
    then,
    reason,
  ]);
}

function timers(): string {
  const intro = `Time limits of a request in a worker, from \`${TIMERS}\`. The setting \`response.worker_timeout_ms\` sets two more: for a silent worker, and for an answer that no client waits for.`;
  return `${NOTICE}\n\n# Timers of an exchange\n\n${intro}\n\n${table(['waits for', 'at most', 'then', 'reason'], timerRows())}\n`;
}

function renderErrors(): string {
  const intro = `Errors of the handlers of \`@sluice/render\`, from \`packages/render/src/http/errors.ts\`. The body of the answer is JSON, \`{ "error": MESSAGE, "code": CODE }\`.\nErrors of fragments have the form of [the protocol](../guide/fragments.md#the-protocol). The gateway has [errors of its own](errors.md).`;
  const rows = Object.entries(CATALOGUE).map(([code, [status, text]]) => [
    `\`${code}\``,
    String(status),
    text,
  ]);
  return `${NOTICE}\n\n# Errors of handlers\n\n${intro}\n\n${table(['code', 'status', 'means'], rows)}\n`;
}

function folderOf(file: string): string {
  return file.slice(0, file.indexOf('/src/'));
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, at) => Math.max(cell.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

if (process.argv[1] === import.meta.filename) {
  for (const [page, text] of tables) fs.writeFileSync(path.join(root, page), text());
}
