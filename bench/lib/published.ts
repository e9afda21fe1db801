// Results that may be published, and their form.
import fs from 'node:fs';
import path from 'node:path';
import { type Cell, unequal } from '../faults/equal.ts';
import { unlike } from '../schedule/alike.ts';

/** Reason for not publishing a result, for the person who asked for it. */
export class Unpublishable extends Error {}

interface Result {
  quick?: boolean;
  data?: { cells?: object[] };
}

/** Conditions that a benchmark's figures have to fulfil; empty if they do. */
const RULES: Record<string, (result: Result) => string[]> = {
  'faults-cells': ({ data }) => unequal((data?.cells ?? []) as Cell[]),
  'schedule-mixed': ({ data }) => unlike((data?.cells ?? []) as Parameters<typeof unlike>[0]),
};

/** Copies the newest result of a benchmark. `root`: the folder whose absolute path is left out. */
export function publish(name: string, results: string, root: string): { source: string; target: string } {
  const source = fs
    .readdirSync(results)
    .filter((file) => file.startsWith(`${name}-`) && file.endsWith('.json'))
    .sort()
    .at(-1);
  if (source === undefined)
    throw new Unpublishable(`bench/results has nothing of ${name}: run the benchmark first`);
  const whole = JSON.parse(fs.readFileSync(path.join(results, source), 'utf8')) as Result;
  const reasons = [
    ...(whole.quick === true ? ['it is of a quick run'] : []),
    ...(RULES[name]?.(whole) ?? []),
  ];
  if (reasons.length > 0)
    throw new Unpublishable(`${source} is not published:\n${reasons.map((each) => `  ${each}`).join('\n')}`);
  const target = path.join(results, 'published', `${name}.json`);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  // The place of the repository says nothing.
  fs.writeFileSync(target, byCell(whole).replaceAll(`${path.resolve(root)}/`, ''));
  return { source, target };
}

/** JSON of a result without single requests, with one cell a line. */
export function byCell(result: Result): string {
  const short = (value: unknown, indent?: number): string =>
    JSON.stringify(value, (key, each: unknown) => (key === 'samples' ? undefined : each), indent);
  const cells = result.data?.cells;
  if (cells === undefined) return `${short(result, 1)}\n`;
  const around = short({ ...result, data: { ...result.data, cells: [] } }, 1);
  const lines = cells.map((cell) => short(cell)).join(',\n');
  return `${around.replace('"cells": []', () => `"cells": [\n${lines}\n]`)}\n`;
}
