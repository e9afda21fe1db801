/**
 * Paths into data: singular queries of JSONPath (RFC 9535 §2.3.5.1), such as `$.product.images[0].url`, `@.title` and
 * `$['odd name']`. A path gives one value or nothing, reads own properties alone, and runs no code. It must not know trees.
 */

export interface Path {
  /** `$`: the page's data. `@`: the item of the nearest `each`. */
  readonly from: '$' | '@';
  readonly steps: readonly (string | number)[];
}

export interface Scope {
  readonly root: Readonly<Record<string, unknown>>;
  /** Undefined outside of `each`. */
  readonly item?: unknown;
  /** Data that takes note of what is read of it: arms of experiments, which decide who may have the page. */
  readonly noted?: object | undefined;
}

const STEPS_MAX = 32;
const CHARACTERS_MAX = 512;
/** Step by step: `.name`, `[0]`, `['name']` or `["name"]`. */
const STEP =
  /\.([A-Za-z_\u0080-\uFFFF][\w\u0080-\uFFFF]*)|\[(0|-?[1-9]\d{0,8})\]|\['((?:[^'\\]|\\['\\])*)'\]|\["((?:[^"\\]|\\["\\])*)"\]/y;

/** Undefined where the text is no path of this kind. */
export function parsePath(text: string): Path | undefined {
  const from = text[0];
  if ((from !== '$' && from !== '@') || text.length > CHARACTERS_MAX) return undefined;
  const steps: (string | number)[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < text.length) {
    const found = STEP.exec(text);
    if (found === null || steps.length === STEPS_MAX) return undefined;
    const [, name, index, single, double] = found;
    if (index !== undefined) steps.push(Number(index));
    else steps.push(name ?? (single ?? double ?? '').replaceAll(/\\(.)/g, '$1'));
  }
  return { from, steps };
}

/** The value at the path; undefined where there is none. A negative index counts from the end. */
export function valueAt({ from, steps }: Path, { root, item }: Scope): unknown {
  let value: unknown = from === '$' ? root : item;
  for (const step of steps) {
    if (Array.isArray(value)) {
      if (typeof step !== 'number') return undefined;
      value = value.at(step);
    } else {
      if (typeof value !== 'object' || value === null || typeof step !== 'string') return undefined;
      if (!Object.hasOwn(value, step)) return undefined;
      value = (value as Readonly<Record<string, unknown>>)[step];
    }
  }
  return value;
}
