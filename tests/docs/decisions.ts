// The index of decisions: titles and statuses come from the records, subjects and one-line summaries are written in the index.
// `make generate` brings it up to date, also after a merge that has appended rows or brought old ones back.
import fs from 'node:fs';
import path from 'node:path';
import { files, read, root } from './repository.ts';

export const FOLDER = 'docs/decisions';
export const INDEX = `${FOLDER}/README.md`;
const NEWEST = 'Newest';

export interface DecisionRecord {
  readonly file: string;
  readonly number: string;
  readonly title: string;
  /** Status in the words of the index. */
  readonly status: string;
  /** Text of the status line without links; undefined for a record in force. */
  readonly line: string | undefined;
}

/** Reads a record. Without a line that begins with `Status:` it is in force. */
export function recordOf(file: string, text: string): DecisionRecord {
  const [, number = '', title = ''] = /^# (\d{4}): (.+)$/m.exec(text) ?? [];
  const found = /^Status: ([\s\S]*?)\n(?:\n|$)/m.exec(text)?.[1];
  const line = found?.replace(/\[(\d{4})\]\([^)]*\)/g, '$1').replaceAll('\n', ' ');
  const status = line === undefined ? 'in force' : statusOf(line);
  return { file, number, title, status, line };
}

/** Returns the words of a status line that the index repeats; the reason follows them. */
function statusOf(line: string): string {
  const found = /^(?:no longer holds|(?:changed|superseded) by \d{4}(?:, \d{4})*)(?=[.,:;] | because )/.exec(
    line,
  );
  return found?.[0] ?? line;
}

/** Reads all records, by file name. */
export function records(): Map<string, DecisionRecord> {
  const found = files().filter((file) => /^docs\/decisions\/\d{4}-[\w-]+\.md$/.test(file));
  return new Map(
    found.map((file) => {
      const name = path.posix.basename(file);
      return [name, recordOf(name, read(file))];
    }),
  );
}

export interface Row {
  readonly section: string;
  readonly number: string;
  readonly file: string;
  readonly cells: readonly string[];
}

const ROW = /^\| \[(\d{4})\]\(([^)]+)\) \| (.+) \|$/;

/** Reads the rows of the index, with the headings above them. */
export function rowsOf(index: string): Row[] {
  let section = '';
  return index.split('\n').flatMap((line) => {
    section = /^## (.+)$/.exec(line)?.[1] ?? section;
    const [, number = '', file = '', rest = ''] = ROW.exec(line) ?? [];
    return number === '' ? [] : [{ section, number, file, cells: rest.split(' | ') }];
  });
}

/**
 * Brings an index up to date: rows of subjects get the titles and statuses of their records. Records without such a row stand
 * in "Newest", which every other row leaves.
 */
export function upToDate(index: string, known: ReadonlyMap<string, DecisionRecord>): string {
  const placed = new Map(
    rowsOf(index)
      .filter(({ section, cells }) => section !== NEWEST && cells.length === 3)
      .map((row) => [row.file, row]),
  );
  const written = new Set<string>();
  const lines = index.split('\n').flatMap((line) => {
    const [, , file = ''] = ROW.exec(line) ?? [];
    if (file === '') return [line];
    const record = known.get(file);
    const row = placed.get(file);
    if (record === undefined || row === undefined || written.has(file)) return [];
    written.add(file);
    return [`| [${record.number}](${file}) | ${record.title} | ${row.cells[1] ?? ''} | ${record.status} |`];
  });
  const rest = [...known.values()].filter(({ file }) => !placed.has(file));
  const newest = rest
    .sort((a, b) => a.number.localeCompare(b.number))
    .map(({ file, number, title }) => `| [${number}](${file}) | ${title} |`);
  return `${[lines.join('\n').trimEnd(), ...newest].join('\n')}\n`;
}

if (process.argv[1] === import.meta.filename)
  fs.writeFileSync(path.join(root, INDEX), upToDate(read(INDEX), records()));
