// Faults that profiles are to name. Each has its function; its lines are those from there to the next empty one.
import fs from 'node:fs';

/** Backtracks more with each letter: an expression that grows. */
export function growingExpression(length: number): boolean {
  return /^(a+)+$/.test(`${'a'.repeat(length)}!`);
}

/** A read that everybody waits for. */
export function synchronousRead(file: string): number {
  return fs.readFileSync(file).length;
}

/** A parse that everybody waits for. */
export function largeParse(text: string): number {
  return (JSON.parse(text) as unknown[]).length;
}

const sessions: object[] = [];

/** A list that nobody ever empties. */
export function leak(count: number): number {
  for (let index = 0; index < count; index += 1)
    sessions.push({ index, text: `session ${index}`, of: [index] });
  return sessions.length;
}

/** Rubbish that lives long enough to be copied. */
export function collectorStorm(count: number): number {
  let kept: object[] = [];
  for (let index = 0; index < count; index += 1) {
    kept.push({ index, text: `item ${index}`, of: { list: [index, index + 1, index + 2] } });
    if (kept.length > 200_000) kept = kept.slice(100_000);
  }
  return kept.length;
}
