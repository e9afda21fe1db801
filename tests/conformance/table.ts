/** The table that a run ends with: one row per framework, one column per check. */

export const columns = [
  'page',
  'post',
  'asset',
  'download',
  'stream',
  '404',
  'route',
  'leaving',
  'websocket',
  'client',
  'stop',
] as const;
export type Column = (typeof columns)[number];
export type Mark = 'yes' | 'NO' | '-';

export interface Row {
  readonly framework: string;
  version: string;
  node: string;
  readonly marks: Partial<Record<Column, Mark>>;
  prepare_s: number;
  run_s: number;
  /** Why it did not run at all. */
  skipped?: string;
}

export function newRow(framework: string): Row {
  return { framework, version: '', node: '', marks: {}, prepare_s: 0, run_s: 0 };
}

export function render(rows: readonly Row[]): string {
  const header = ['framework', 'version', 'Node', ...columns, 'install+build', 'time'];
  const lines = rows.map((row) =>
    row.skipped === undefined
      ? [
          row.framework,
          row.version,
          row.node,
          ...columns.map((column) => row.marks[column] ?? '-'),
          `${row.prepare_s.toFixed(1)} s`,
          `${row.run_s.toFixed(1)} s`,
        ]
      : [row.framework, `skipped: ${row.skipped}`],
  );
  const widths = header.map((title, index) =>
    Math.max(
      title.length,
      ...lines.filter((line) => line.length > 2).map((line) => line[index]?.length ?? 0),
    ),
  );
  const print = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  return [print(header), print(widths.map((width) => '-'.repeat(width))), ...lines.map(print)].join('\n');
}
