// The text form of a batch: one command in a line. For tests and for people.
import { type Batch, floatsOf } from './batch.js';
import { COMMAND, EASINGS } from './codes.js';
import { COMMAND_OF, type Command, PROPERTY_OF, type Property, type Word } from './facts.js';

/**
 * Text of a batch that a surface would take. Numbers of widgets come before values, as in `number width 12 640`.
 * A property without a name is written `#200`, a value that names nothing as a plain number.
 */
export function printBatch(batch: Batch): string {
  return new Printer(batch).print();
}

class Printer {
  readonly #batch: Batch;
  readonly #floats: Float32Array;

  constructor(batch: Batch) {
    this.#batch = batch;
    this.#floats = floatsOf(batch.words);
  }

  print(): string {
    let text = '';
    for (let at = 0; at < this.#batch.length;) {
      const code = this.#word(at) & 0xff;
      const command = COMMAND_OF[code] as Command;
      if (code === COMMAND.DEFINE) {
        const end = at + 3 + this.#word(at + 2);
        text += `define ${this.#word(at + 1)} {${this.#entries(at + 3, end)}}\n`;
        at = end;
      } else {
        text += `${this.#line(command, at, 0)}\n`;
        at += 1 + command.words.length;
      }
    }
    return text;
  }

  #entries(start: number, end: number): string {
    const entries: string[] = [];
    for (let at = start; at < end;) {
      const command = COMMAND_OF[this.#word(at) & 0xff] as Command;
      entries.push(this.#line(command, at, 1));
      at += command.words.length;
    }
    return entries.length === 0 ? '' : ` ${entries.join('; ')} `;
  }

  /** The command without its first `skipped` words. */
  #line({ name, property, words }: Command, at: number, skipped: number): string {
    const code = (this.#word(at) >>> 8) & 0xff;
    const of = property ? PROPERTY_OF[code] : undefined;
    let line = property ? `${name} ${of?.name ?? `#${code}`}` : name;
    for (let index = skipped; index < words.length; index += 1)
      line += ` ${this.#value(words[index] as Word, at + 1 + index - skipped, of)}`;
    return line;
  }

  #value(word: Word, at: number, of: Property | undefined): string {
    const value = this.#word(at);
    switch (word) {
      case 'float':
        return printFloat(this.#floats[at] as number);
      case 'string':
        return JSON.stringify(this.#batch.strings[value]);
      case 'easing':
        return EASINGS[value] ?? String(value);
      case 'value':
        return printInteger(value, of);
      case 'widget':
      case 'widget-or-none':
      case 'style':
      case 'count':
        return String(value);
    }
  }

  #word(at: number): number {
    return this.#batch.words[at] as number;
  }
}

function printInteger(value: number, of: Property | undefined): string {
  if (of?.type === 'color') return `#${(value >>> 0).toString(16).padStart(8, '0')}`;
  if (of?.type === 'choice') return of.values?.[value] ?? String(value);
  if (of?.type === 'flag' && (value === 0 || value === 1)) return String(value === 1);
  return String(value);
}

/** Shortest decimal that is the same 32-bit float. */
function printFloat(value: number): string {
  if (Object.is(value, -0)) return '-0';
  if (!Number.isFinite(value)) return String(value);
  for (let digits = 1; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}
