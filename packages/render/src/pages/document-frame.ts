/**
 * The part of a document's start that is the same for all pages of a tree with the same components: styles, code, the page's data about itself. It
 * is made once and used again, with each page's own nonce. It must not know what a page's data says.
 */
import { randomBytes } from 'node:crypto';
import type { BrowserCode } from '../boxes/head.js';

/** Facts that a frame is made of. */
export interface FrameFacts {
  readonly code: readonly BrowserCode[];
  /** Other facts, in an order that is always the same. They are compared by identity. */
  readonly others: readonly unknown[];
}

interface Frame extends FrameFacts {
  /** HTML between the places of the nonce. */
  readonly pieces: readonly string[];
}

/** Stands for the attribute of the nonce. Random, so that no HTML is taken for it. */
const NONCE_PLACE = ` ${randomBytes(12).toString('hex')}`;
/** Bounds frames of a tree, as arms of experiments and shares of the dial each have their own. */
const FRAMES_MAX = 8;

export class DocumentFrames {
  readonly #frames = new WeakMap<object, Frame[]>();

  /** The frame of these facts. `make` gets the attribute of the nonce, with its leading space. */
  html(
    tree: object,
    facts: FrameFacts,
    nonceAttribute: string,
    make: (nonceAttribute: string) => string,
  ): string {
    let frames = this.#frames.get(tree);
    if (frames === undefined) this.#frames.set(tree, (frames = []));
    let frame = frames.find((each) => isSame(each, facts));
    if (frame === undefined) {
      frame = { ...facts, pieces: make(NONCE_PLACE).split(NONCE_PLACE) };
      frames.unshift(frame);
      if (frames.length > FRAMES_MAX) frames.pop();
    }
    return frame.pieces.join(nonceAttribute);
  }
}

function isSame(known: FrameFacts, facts: FrameFacts): boolean {
  return (
    known.code.length === facts.code.length &&
    known.others.length === facts.others.length &&
    known.others.every((fact, index) => fact === facts.others[index]) &&
    known.code.every((each, index) => {
      const other = facts.code[index];
      return each.component === other?.component && each.isAtOnce === other.isAtOnce;
    })
  );
}
