/** The report of a build: which loops breathe, which were left, and why. */
import { writeFileSync } from 'node:fs';

export interface LoopLine {
  /** Line and column, from 1; 0 where an earlier build step made the code. */
  readonly line: number;
  readonly column: number;
  /** `for`, `for…of`, `for…in`, `while` or `do…while`. */
  readonly loop: string;
  /** Name of the function around it; empty where it has none. */
  readonly name: string;
  readonly done: boolean;
  /** Reason against the change, as the end of "because it …"; with `done`, one that the author has overruled. */
  readonly reason: string;
  /** Whether a comment asks for it. */
  readonly isMarked: boolean;
}

export interface LoopFile {
  readonly file: string;
  readonly loops: readonly LoopLine[];
}

export function loopText({ line, column, loop, name, done, reason }: LoopLine): string {
  const place = `${line}:${column} ${loop}${name === '' ? '' : ` in ${name}`}`;
  if (!done) return `${place}: left, because it ${reason}`;
  return reason === '' ? `${place}: breathes` : `${place}: breathes, as marked, although it ${reason}`;
}

/** Text form: the loops of each file, and a sum at the end. */
export function loopsText(files: readonly LoopFile[]): string {
  const named = files.filter(({ loops }) => loops.length > 0);
  const lines = named.flatMap(({ file, loops }) => [file, ...loops.map((loop) => `  ${loopText(loop)}`)]);
  const all = named.flatMap(({ loops }) => loops);
  const done = all.filter((loop) => loop.done).length;
  return [...lines, `${done} of ${all.length} loops breathe`].join('\n');
}

/** Writes `report.json` and, beside it, the text form. */
export function writeLoops(path: string, files: readonly LoopFile[]): void {
  writeFileSync(path, `${JSON.stringify({ files }, undefined, 2)}\n`);
  writeFileSync(path.replace(/(?:\.json)?$/, '.txt'), `${loopsText(files)}\n`);
}
