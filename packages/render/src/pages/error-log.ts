/** The default of `PagesOptions.onError`: one line of standard error for each box that failed, and no more than a log can bear. */
import { toError } from '../thrown.js';
import type { PagesOptions } from './options.js';

/** Bounds lines of one window: a page may have thousands of boxes, and all of them may fail on each request. */
const LINES_MAX = 20;
const WINDOW_MS = 10_000;
/** Bounds characters of each part, which may come from a poster of trees. */
const PART_CHARACTERS_MAX = 300;
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;

export function errorLog(
  write: (line: string) => void = (line) => console.error(line),
  now_ms: () => number = () => performance.now(),
): NonNullable<PagesOptions['onError']> {
  let windowEnds_ms = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let left = 0;
  return (error, component, box) => {
    const at_ms = now_ms();
    if (at_ms >= windowEnds_ms) {
      if (left > 0) write(`${left} further boxes failed, which the log omits`);
      windowEnds_ms = at_ms + WINDOW_MS;
      lines = left = 0;
    }
    lines += 1;
    if (lines > LINES_MAX) left += 1;
    else write(`Component ${JSON.stringify(oneLine(component))} in box ${oneLine(box)}: ${reasonOf(error)}`);
  };
}

function reasonOf(thrown: Error): string {
  const { name, message } = toError(thrown);
  return oneLine(`${name}: ${message}`);
}

function oneLine(text: string): string {
  const line = text.slice(0, PART_CHARACTERS_MAX + 1).replaceAll(CONTROLS, ' ');
  return line.length > PART_CHARACTERS_MAX ? `${line.slice(0, PART_CHARACTERS_MAX)}…` : line;
}
