// Reader of the text form.
import type { Batch } from './batch.js';
import { COMMAND, EASINGS, PROPERTIES } from './codes.js';
import { StreamError } from './errors.js';
import { COMMAND_OF, type Command, IN_STYLES, PROPERTY_OF, type Property, type Word } from './facts.js';

const CODE_OF = new Map(COMMAND_OF.flatMap((command, code) => (command ? [[command.name, code]] : [])));
/** A string in JSON's form, a brace, a semicolon, or a word. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{};]|[^\s{};"]+|"/g;

/**
 * Batch of a text. Blank lines and lines that begin with `//` say nothing.
 *
 * @throws {StreamError} whose `at` is the line, from 0.
 */
export function parseBatch(text: string, cause = 0): Batch {
  const parser = new Parser();
  for (const [line, content] of text.split('\n').entries())
    if (content.trim() !== '' && !content.trim().startsWith('//')) parser.line(content, line);
  return parser.batch(cause);
}

class Parser {
  readonly #words: number[] = [];
  readonly #strings: string[] = [];
  readonly #indices = new Map<string, number>();
  readonly #float = new Float32Array(1);
  readonly #bits = new Int32Array(this.#float.buffer);
  #tokens: readonly string[] = [];
  #at = 0;
  #line = 0;

  line(content: string, line: number): void {
    this.#tokens = content.match(TOKEN) ?? [];
    this.#at = 0;
    this.#line = line;
    const code = this.#code();
    if (code === COMMAND.DEFINE) this.#define();
    else this.#command(code, 0);
    if (this.#at < this.#tokens.length) throw this.#error(`"${this.#tokens[this.#at]}" is too much`);
  }

  batch(cause: number): Batch {
    const words = Int32Array.from(this.#words);
    return { words, length: words.length, strings: this.#strings, cause };
  }

  #define(): void {
    this.#words.push(COMMAND.DEFINE, this.#number());
    const length = this.#words.push(0) - 1;
    if (this.#next() !== '{') throw this.#error('"{" is missing');
    for (let next = this.#peek(); next !== '}'; next = this.#peek()) {
      const code = this.#code();
      if (!IN_STYLES.has(code)) throw this.#error(`"${COMMAND_OF[code]?.name}" in a style`);
      this.#command(code, 1);
      if (this.#peek() === ';') this.#at += 1;
      else if (this.#peek() !== '}') throw this.#error('"}" is missing');
    }
    this.#at += 1;
    this.#words[length] = this.#words.length - length - 1;
  }

  #code(): number {
    const name = this.#next();
    const code = CODE_OF.get(name);
    if (code === undefined) throw this.#error(`"${name}" is no command`);
    return code;
  }

  #command(code: number, skipped: number): void {
    const command = COMMAND_OF[code] as Command;
    const property = command.property ? this.#property() : undefined;
    this.#words.push(code | ((property?.code ?? 0) << 8));
    for (const word of command.words.slice(skipped)) this.#words.push(this.#word(word, property?.of));
  }

  #property(): { code: number; of: Property | undefined } {
    const name = this.#next();
    const code = /^#\d{1,3}$/.test(name)
      ? Number(name.slice(1))
      : Object.hasOwn(PROPERTIES, name)
        ? PROPERTIES[name as keyof typeof PROPERTIES].code
        : undefined;
    if (code === undefined || code > 255) throw this.#error(`"${name}" is no property`);
    return { code, of: PROPERTY_OF[code] };
  }

  #word(word: Word, of: Property | undefined): number {
    if (word === 'float') {
      const text = this.#next();
      const value = Number(text);
      if (Number.isNaN(value) && text !== 'NaN') throw this.#error(`"${text}" is no number`);
      this.#float[0] = value;
      return this.#bits[0] as number;
    }
    if (word === 'string') return this.#string();
    if (word === 'easing') return this.#named(EASINGS);
    if (word === 'value' && of?.type === 'color') return this.#color();
    if (word === 'value' && of?.type === 'flag') return this.#named(['false', 'true']);
    return word === 'value' && of?.values !== undefined ? this.#named(of.values) : this.#number();
  }

  #string(): number {
    const token = this.#next();
    let text: unknown;
    try {
      text = JSON.parse(token);
    } catch {
      text = undefined;
    }
    if (typeof text !== 'string') throw this.#error(`${token} is no string`);
    const index = this.#indices.get(text) ?? this.#strings.push(text) - 1;
    this.#indices.set(text, index);
    return index;
  }

  #color(): number {
    const token = this.#next();
    if (!/^#[0-9a-f]{8}$/i.test(token)) throw this.#error(`"${token}" is no colour of the form #rrggbbaa`);
    return Number.parseInt(token.slice(1), 16) | 0;
  }

  #named(names: readonly string[]): number {
    const index = names.indexOf(this.#tokens[this.#at] ?? '');
    if (index === -1) return this.#number();
    this.#at += 1;
    return index;
  }

  #number(): number {
    const token = this.#next();
    const value = Number(token);
    if (!/^-?\d+$/.test(token) || (value | 0) !== value) throw this.#error(`"${token}" is no integer`);
    return value;
  }

  #peek(): string {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw this.#error('the line ends too early');
    return token;
  }

  #next(): string {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }

  #error(message: string): StreamError {
    return new StreamError(`line ${this.#line + 1}: ${message}`, this.#line);
  }
}
