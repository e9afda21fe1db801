/** Outlines of SVG path data as polygons. It knows the commands of the shop's drawings: M H V L Q T C A Z, absolute and relative. */

export type Point = readonly [x: number, y: number];
export type Polygon = readonly Point[];

/** Straight pieces that stand for a curve. */
const PIECES = 12;
const TOKENS = /[a-zA-Z]|-?(?:\d+\.?\d*|\.\d+)/g;
/** Numbers that each command takes. */
const ARGUMENTS: Readonly<Record<string, number>> = { M: 2, L: 2, H: 1, V: 1, Q: 4, T: 2, C: 6, A: 7, Z: 0 };

/**
 * Polygons of path data, one for each sub-path.
 *
 * @throws Error for a command that is not known, or a number that is missing.
 */
export function outlineOf(data: string): Polygon[] {
  const tokens = data.match(TOKENS) ?? [];
  const polygons: Point[][] = [];
  let current: Point[] = [];
  let [x, y] = [0, 0];
  let control: Point | undefined;
  let at = 0;
  let command = '';
  while (at < tokens.length) {
    const token = tokens[at] ?? '';
    if (/[a-zA-Z]/.test(token)) {
      command = token;
      at += 1;
    } else if (command === 'M' || command === 'm') {
      command = command === 'M' ? 'L' : 'l';
    }
    const kind = command.toUpperCase();
    const count = ARGUMENTS[kind];
    if (count === undefined) throw new Error(`The path has a command that is not known: ${command}`);
    const numbers = tokens.slice(at, at + count).map(Number);
    if (numbers.length < count || numbers.some(Number.isNaN))
      throw new Error(`A number of ${command} is missing`);
    at += count;
    const [dx, dy] = command === kind ? [0, 0] : [x, y];
    const point = (place: number): Point => [(numbers[place] ?? 0) + dx, (numbers[place + 1] ?? 0) + dy];
    const start: Point = [x, y];
    let end: Point = start;
    let next: Point | undefined;
    switch (kind) {
      case 'M':
        end = point(0);
        current = [end];
        polygons.push(current);
        break;
      case 'L':
        end = point(0);
        current.push(end);
        break;
      case 'H':
        end = [(numbers[0] ?? 0) + dx, y];
        current.push(end);
        break;
      case 'V':
        end = [x, (numbers[0] ?? 0) + dy];
        current.push(end);
        break;
      case 'Q':
      case 'T': {
        next =
          kind === 'Q' ? point(0) : control === undefined ? start : [2 * x - control[0], 2 * y - control[1]];
        end = point(count - 2);
        current.push(...curve([start, next, next, end], quadratic));
        break;
      }
      case 'C':
        end = point(4);
        current.push(...curve([start, point(0), point(2), end], cubic));
        break;
      case 'A':
        end = point(5);
        current.push(...arc(start, end, numbers));
        break;
      default: {
        end = current[0] ?? start;
        // A command after the end of a sub-path begins another at its start.
        current = [end];
        polygons.push(current);
      }
    }
    control = next;
    [x, y] = end;
  }
  return polygons.filter((polygon) => polygon.length > 1);
}

type Curve = readonly [Point, Point, Point, Point];

function curve(points: Curve, weights: (t: number) => readonly [number, number, number, number]): Point[] {
  return Array.from({ length: PIECES }, (_, piece): Point => {
    const [a, b, c, d] = weights((piece + 1) / PIECES);
    const along = (axis: 0 | 1): number =>
      a * points[0][axis] + b * points[1][axis] + c * points[2][axis] + d * points[3][axis];
    return [along(0), along(1)];
  });
}

function cubic(t: number): readonly [number, number, number, number] {
  const u = 1 - t;
  return [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
}

/** The two inner points are the same one. */
function quadratic(t: number): readonly [number, number, number, number] {
  const u = 1 - t;
  return [u * u, 2 * u * t, 0, t * t];
}

/** An arc of a circle or ellipse that is not turned; the form in which SVG's specification converts it to its centre. */
function arc([x1, y1]: Point, [x2, y2]: Point, numbers: readonly number[]): Point[] {
  let [rx, ry] = [Math.abs(numbers[0] ?? 0), Math.abs(numbers[1] ?? 0)];
  const [isLarge, isSweep] = [numbers[3] === 1, numbers[4] === 1];
  if (rx === 0 || ry === 0 || (x1 === x2 && y1 === y2)) return [[x2, y2]];
  const [hx, hy] = [(x1 - x2) / 2, (y1 - y2) / 2];
  const grow = Math.sqrt((hx / rx) ** 2 + (hy / ry) ** 2);
  if (grow > 1) [rx, ry] = [rx * grow, ry * grow];
  const square = (rx * hy) ** 2 + (ry * hx) ** 2;
  const size = Math.sqrt(Math.max(0, (rx * ry) ** 2 / square - 1)) * (isLarge === isSweep ? -1 : 1);
  const [cx, cy] = [(size * rx * hy) / ry, (-size * ry * hx) / rx];
  const from = Math.atan2((hy - cy) / ry, (hx - cx) / rx);
  const to = Math.atan2((-hy - cy) / ry, (-hx - cx) / rx);
  let sweep = to - from;
  if (isSweep && sweep < 0) sweep += 2 * Math.PI;
  if (!isSweep && sweep > 0) sweep -= 2 * Math.PI;
  const pieces = PIECES * 2;
  return Array.from({ length: pieces }, (_, piece): Point => {
    const angle = from + (sweep * (piece + 1)) / pieces;
    return [cx + (x1 + x2) / 2 + rx * Math.cos(angle), cy + (y1 + y2) / 2 + ry * Math.sin(angle)];
  });
}
