// Draws what `sluice top --once` has printed as docs/assets/top.svg, the picture of the first page:
//
//   COLUMNS=100 sluice top --once | npx tsx tests/docs/top-picture.ts
//
// Bars are reversed and what is wrong is red, as on a terminal. It must not know what the lines mean.
import fs from 'node:fs';
import path from 'node:path';
import { text as read } from 'node:stream/consumers';
import { root } from './repository.ts';

const COLUMN = 8.4;
const ROW = 19;
const MARGIN = 14;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function row(line: string, number: number, columns: number): string {
  const y = MARGIN + number * ROW;
  const isBar = number === 0 || /^ *(ID|AGO|CLASS) /.test(line);
  const isBad = /^(errors \d|ALARM |NO ANSWER)|\b(lowered|backoff)\b| ERR /.test(line);
  const bar = `<rect x="${MARGIN}" y="${y}" width="${columns * COLUMN}" height="${ROW}" fill="#d6d9de"/>`;
  const fill = isBar ? '#14171c' : isBad ? '#ff7b72' : '#e6e9ee';
  const at = `x="${MARGIN}" y="${y + ROW - 5}" fill="${fill}" xml:space="preserve"`;
  // Each line is as wide as its letters, whichever font there is.
  const wide = `textLength="${(line.length * COLUMN).toFixed(1)}" lengthAdjust="spacingAndGlyphs"`;
  return `${isBar ? bar : ''}${line === '' ? '' : `<text ${at} ${wide}>${escaped(line)}</text>`}`;
}

const lines = (await read(process.stdin)).trimEnd().split('\n');
const columns = Math.max(...lines.map((line) => line.length));
const [width, height] = [columns * COLUMN + 2 * MARGIN, lines.length * ROW + 2 * MARGIN];
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">
<title>sluice top</title>
<rect width="${width}" height="${height}" rx="8" fill="#14171c"/>
${lines.map((line, number) => row(line, number, columns)).join('\n')}
</svg>
`;
const file = path.join(root, 'docs/assets/top.svg');
fs.mkdirSync(path.dirname(file), { recursive: true });
fs.writeFileSync(file, svg);
