// The writing rules as textlint rules: each looks at one sentence. They know nothing of files or of what is mended later.
import type { AnyTxtNode } from '@textlint/ast-node-types';
import type { TextlintRuleModule } from '@textlint/types';
import { splitAST, SentenceSplitterSyntax } from 'sentence-splitter';
import { StringSource } from 'textlint-util-to-string';
import { PHRASES } from './words.ts';

export const WORDS_MAX = 30;

/** A sentence as its reader counts it: a code span is one word, which no rule looks into. */
export interface Sentence {
  readonly text: string;
  readonly isTitle: boolean;
}

/** Says what is wrong with a sentence, in a few words each; nothing where it may stay. */
type Judge = (sentence: Sentence) => string[];

const SIGN_OF_CODE = '_';

export const opening: Judge = ({ text, isTitle }) => {
  const first = /^[("“*]*(What|Of|Where|Whoever|Whatever)\b/.exec(text)?.[1];
  if (first === undefined || isTitle || text.endsWith('?')) return [];
  return [`opens with "${first}": begin with the noun that the sentence is about`];
};

export const length: Judge = ({ text }) => {
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}_]/u.test(word)).length;
  return words > WORDS_MAX
    ? [`has ${String(words)} words, ${String(WORDS_MAX)} at most: make two of it`]
    : [];
};

export const words: Judge = ({ text }) =>
  PHRASES.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map(([found]) => `"${found}": ${instead}`),
  );

const UNIT = 'ns|µs|ms|s|min|h|B|KB|MB|GB|KiB|MiB|GiB|kB';
const GLUED = new RegExp(`(?<![\\w.:/-])\\d[\\d,.]*(?:${UNIT})\\b`, 'g');
const BARE =
  /\b(?:timeout|time-?out|deadline|delay|interval|wait|grace|lifetime|after|within)s?(?: period)? (?:of|is|for|=) \d[\d,.]*(?=[.,;)]|$| (?:and|or|unless)\b)/g;

export const units: Judge = ({ text }) => [
  ...[...text.matchAll(GLUED)].map(([found]) => `"${found}": a space goes between number and unit`),
  ...[...text.matchAll(BARE)].map(([found]) => `"${found}": say the unit`),
];

export const JUDGES = { opening, length, words, units } as const;
export type RuleId = keyof typeof JUDGES;

/** Sentence that breaks a rule, by the line on which it begins. */
export interface Finding {
  readonly line: number;
  readonly rule: RuleId;
  readonly message: string;
}

type Block = Parameters<typeof splitAST>[0];

// Four rules look at each block, and splitting it is most of the work.
const split = new WeakMap<object, { readonly node: AnyTxtNode; readonly text: string }[]>();

function sentencesOf(block: Block): { readonly node: AnyTxtNode; readonly text: string }[] {
  const known = split.get(block);
  if (known !== undefined) return known;
  const sentences = splitAST(block)
    .children.filter((child) => child.type === SentenceSplitterSyntax.Sentence)
    .flatMap(itemsOf)
    .map((node) => {
      const source = new StringSource(node, {
        replacer: ({ node: inner, maskValue }) =>
          inner.type === 'Code' ? maskValue(SIGN_OF_CODE) : undefined,
      });
      return { node: node as unknown as AnyTxtNode, text: source.toString().replace(/\s+/g, ' ').trim() };
    });
  split.set(block, sentences);
  return sentences;
}

/** A cell of a table may hold a list, whose items stand between breaks: each is a sentence. */
function itemsOf<
  Node extends { readonly children?: readonly { readonly type: string; readonly value?: unknown }[] },
>(node: Node): Node[] {
  const items: NonNullable<Node['children']>[number][][] = [[]];
  for (const child of node.children ?? []) {
    if (child.type === 'Html' && child.value === '<br>') items.push([]);
    else items.at(-1)?.push(child);
  }
  return items.map((children) => ({ ...node, children }));
}

/** The rule of textlint that asks a judge about each sentence of paragraphs, headings and table cells. */
export function ruleOf(judge: Judge): TextlintRuleModule {
  return (context) => {
    const { Syntax, RuleError, report } = context;
    const look = (block: Block, isTitle: boolean): void => {
      for (const { node, text } of sentencesOf(block)) {
        for (const message of judge({ text, isTitle: isTitle && !/[.:]$/.test(text) }))
          report(node, new RuleError(`${message} — “${text.slice(0, 60)}”`));
      }
    };
    return {
      [Syntax.Paragraph]: (node) => {
        look(node as Block, false);
      },
      [Syntax.Header]: (node) => {
        look(node as unknown as Block, true);
      },
      [Syntax.TableCell]: (node) => {
        look(node as unknown as Block, true);
      },
    };
  };
}
