/**
 * The parts of a document's start that are the same for all pages of a tree with the same components: styles and code. They are made once and used
 * again, with each page's own nonce. It must not know a page's data, or HTML that is a request's own.
 */
import { randomBytes } from 'node:crypto';
import type { BrowserCode } from '../boxes/head.js';

/** Facts that a frame is made of. */
export interface FrameFacts {
  readonly code: readonly BrowserCode[];
  /** Other facts, in an order that is always the same. They are compared by identity. */
  readonly others: readonly unknown[];
}

export interface Frame {
  /** HTML of styles and code. */
  readonly html: string;
  /** Files of components by their names, as JSON. */
  readonly files: string;
}

interface KeptFrame extends FrameFacts {
  /** HTML between the places of the nonce. */
  readonly pieces: readonly string[];
  readonly files: string;
}

/** Stands for the attribute of the nonce. Random, so that no HTML is taken for it. */
const NONCE_PLACE = ` ${randomBytes(12).toString('hex')}`;
/** Bounds frames of a tree, as arms of experiments and shares of the dial each have their own. */
const FRAMES_MAX = 8;

export class DocumentFrames {
  readonly #frames = new WeakMap<object, KeptFrame[]>();

  /** The frame of these facts. `make` gets the attribute of the nonce, with its leading space. */
  of(
    tree: object,
    facts: FrameFacts,
    nonceAttribute: string,
    make: (nonceAttribute: string) => Frame,
  ): Frame {
    let frames = this.#frames.get(tree);
    if (frames === undefined) this.#frames.set(tree, (frames = []));
    const at = frames.findIndex((each) => isSame(each, facts));
    const frame = frames[at] ?? keptFrame(facts, make(NONCE_PLACE));
    if (at !== 0) {
      // Those that are used stay.
      if (at !== -1) frames.splice(at, 1);
      frames.unshift(frame);
      if (frames.length > FRAMES_MAX) frames.pop();
    }
    return { html: frame.pieces.join(nonceAttribute), files: frame.files };
  }
}

function keptFrame({ code, others }: FrameFacts, { html, files }: Frame): KeptFrame {
  return { code, others, pieces: html.split(NONCE_PLACE), files };
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
