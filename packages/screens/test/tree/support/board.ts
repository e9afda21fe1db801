/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Board: a surface that keeps what batches say, and refuses what the stream forbids. */
import assert from 'node:assert/strict';
import { COMMAND, EVENT, PROPERTIES } from '../../../src/stream/codes.ts';
import type { EventListener, Surface } from '../../../src/surfaces/surface.ts';

export interface Piece {
  readonly id: number;
  parent: Piece | null;
  readonly children: Piece[];
  readonly values: Map<string, number | string>;
  style: number;
  focusStyle: number;
}

const names = new Map<number, string>(Object.entries(PROPERTIES).map(([name, { code }]) => [code, name]));

function piece(id: number): Piece {
  return { id, parent: null, children: [], values: new Map(), style: 0, focusStyle: 0 };
}

export class Board implements Surface {
  readonly width = 1920;
  readonly height = 1080;
  time = 0;
  readonly root = piece(0);
  readonly pieces = new Map<number, Piece>([[0, this.root]]);
  readonly styles = new Map<number, Map<string, number | string>>();
  batches = 0;
  words = 0;
  readonly counts = new Map<number, number>();
  readonly causes: number[] = [];
  focused = 0;
  private listener: EventListener | null = null;

  now(): number {
    return this.time;
  }

  listen(listener: EventListener): void {
    this.listener = listener;
  }

  requestIdle(run: (deadline: () => number) => void): void {
    setTimeout(() => run(() => 5), 0);
  }

  key(name: string, sequence: number, phase = 0): void {
    const words = new Int32Array([EVENT.KEY, phase, sequence, 0, 0]);
    this.listener!(words, words.length, [name]);
  }

  /** Tells of a widget's place. */
  layout(id: number, x: number, y: number, width: number, height: number): void {
    const words = new Int32Array(6);
    words[0] = EVENT.LAYOUT;
    words[1] = id;
    new Float32Array(words.buffer).set([x, y, width, height], 2);
    this.listener!(words, 6, []);
  }

  image(id: number, state: number): void {
    this.listener!(new Int32Array([EVENT.IMAGE, id, state]), 3, []);
  }

  private find(id: number): Piece {
    const found = this.pieces.get(id);
    assert.ok(found, `no widget ${id}`);
    return found;
  }

  private forget(gone: Piece, ids: Set<number>): void {
    for (const child of gone.children) this.forget(child, ids);
    this.pieces.delete(gone.id);
    ids.add(gone.id);
  }

  commit(words: Int32Array, length: number, strings: readonly string[], cause: number): void {
    this.batches++;
    this.words += length;
    this.causes.push(cause);
    const floats = new Float32Array(words.buffer);
    const gone = new Set<number>();
    let into: Map<string, number | string> | null = null;
    let end = 0;
    for (let at = 0; at < length;) {
      if (into !== null && at >= end) into = null;
      const code = words[at]! & 0xff;
      const property = names.get((words[at]! >> 8) & 0xff) ?? '';
      this.counts.set(code, (this.counts.get(code) ?? 0) + 1);
      at++;
      const target = (): Map<string, number | string> => into ?? this.find(words[at++]!).values;
      switch (code) {
        case COMMAND.CREATE: {
          const id = words[at++]!;
          assert.ok(!this.pieces.has(id), `widget ${id} is there already`);
          assert.ok(!gone.has(id), `number ${id} used again in its batch`);
          this.pieces.set(id, piece(id));
          break;
        }
        case COMMAND.PLACE: {
          const parent = this.find(words[at]!);
          const child = this.find(words[at + 1]!);
          const before = words[at + 2]!;
          at += 3;
          if (child.parent !== null) child.parent.children.splice(child.parent.children.indexOf(child), 1);
          child.parent = parent;
          const index = before === 0 ? parent.children.length : parent.children.indexOf(this.find(before));
          assert.ok(index >= 0, `widget ${before} is no child of ${parent.id}`);
          parent.children.splice(index, 0, child);
          break;
        }
        case COMMAND.REMOVE: {
          const child = this.find(words[at++]!);
          assert.ok(child.parent !== null, 'a widget outside the tree is removed');
          child.parent.children.splice(child.parent.children.indexOf(child), 1);
          this.forget(child, gone);
          break;
        }
        case COMMAND.NUMBER:
          target().set(property, floats[at++]!);
          break;
        case COMMAND.PERCENT:
          target().set(property, `${floats[at++]!}%`);
          break;
        case COMMAND.INTEGER:
          target().set(property, words[at++]!);
          break;
        case COMMAND.STRING: {
          const text = strings[words[(into === null ? 1 : 0) + at]!];
          assert.ok(text !== undefined, 'no such string');
          target().set(property, text);
          at++;
          break;
        }
        case COMMAND.RESET:
          target().delete(property);
          break;
        case COMMAND.STYLE:
          this.find(words[at]!).style = words[at + 1]!;
          at += 2;
          break;
        case COMMAND.FOCUS_STYLE:
          this.find(words[at]!).focusStyle = words[at + 1]!;
          at += 2;
          break;
        case COMMAND.DEFINE:
          assert.ok(!this.styles.has(words[at]!), 'a style is defined twice');
          into = new Map();
          this.styles.set(words[at]!, into);
          end = at + 2 + words[at + 1]!;
          at += 2;
          break;
        case COMMAND.FOCUS:
          this.focused = words[at++]!;
          if (this.focused !== 0) this.find(this.focused);
          break;
        case COMMAND.TRANSITION:
          target().set(`transition ${property}`, `${floats[at]!} ${floats[at + 1]!} ${words[at + 2]!}`);
          at += 3;
          break;
        case COMMAND.ANIMATE:
          target().set(
            `animate ${property}`,
            `${floats[at]!} ${floats[at + 1]!} ${floats[at + 2]!} ${floats[at + 3]!} ${words[at + 4]!} ${words[at + 5]!}`,
          );
          at += 6;
          break;
        case COMMAND.STOP:
          target().delete(`animate ${property}`);
          break;
        default:
          assert.fail(`unknown command ${code}`);
      }
    }
  }

  /** The tree, without numbers. */
  show(of: Piece = this.root): string {
    const own = of.values.get('text') ?? '';
    const hidden = of.values.get('display') === 1 ? '!' : '';
    return `${own}${hidden}(${of.children.map((child) => this.show(child)).join(' ')})`;
  }
}
