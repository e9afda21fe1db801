// Commands of one batch. Small, since it is part of what a device loads before an app's bundle.
import { COMMAND } from '../stream/codes.js';
import type { Look, Motion, Value } from './picture.js';

export class Writer {
  words = new Int32Array(1024);
  length = 0;
  readonly strings: string[] = [];

  write(command: number, ...words: readonly number[]): void {
    const end = this.length + 1 + words.length;
    if (end > this.words.length) {
      const grown = new Int32Array(Math.max(2 * this.words.length, end));
      grown.set(this.words);
      this.words = grown;
    }
    this.words[this.length] = command;
    this.words.set(words, this.length + 1);
    this.length = end;
  }

  value(id: number, property: number, { command, word, text }: Value): void {
    this.write(command | (property << 8), id, command === COMMAND.STRING ? this.#string(text) : word);
  }

  motion(command: number, id: number, property: number, motion: Motion): void {
    this.write(command | (property << 8), id, ...motion);
  }

  define(style: number, look: Look): void {
    const start = this.length;
    this.write(COMMAND.DEFINE, style, 0);
    for (const [property, { command, word, text }] of look.values)
      this.write(command | (property << 8), command === COMMAND.STRING ? this.#string(text) : word);
    for (const [property, motion] of look.transitions)
      this.write(COMMAND.TRANSITION | (property << 8), ...motion);
    this.words[start + 2] = this.length - start - 3;
  }

  #string(text: string): number {
    return this.strings.push(text) - 1;
  }
}
