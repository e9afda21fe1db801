// Doc comments as the writing rules see them: `///`, `//!` and `/** … */`. It must not know which findings are allowed.
import { JUDGES, type Finding, type RuleId } from './rules.ts';
import { OPENINGS } from './words.ts';

/** Folders with doc comments that are linted, tests apart. */
const COVERED = /^(?:gateway\/[\w-]+\/src|packages\/[\w-]+\/src|tests\/support|bench)\//;

/** Sources that are tests, or that `make generate` writes from comments elsewhere. */
const NOT_LINTED = [
  /^(?:gateway|packages|bench)\/(?:.*\/)?(?:tests|fixtures|vendor|node_modules)\//,
  /(?:^|\/)(?:\w+_)?tests(?:_support)?\.rs$/,
  /^packages\/dashboard\/src\/snapshot\.ts$/,
  /^packages\/preload\/src\/control\/messages\.ts$/,
  /^gateway\/supervisor\/src\/control\/line\.rs$/,
  /^packages\/sluice\/src\/config\.ts$/,
];

/** Whether the doc comments of a file are linted. */
export function hasComments(file: string): boolean {
  return /\.(?:rs|tsx?|mts)$/.test(file) && COVERED.test(file) && !NOT_LINTED.some((name) => name.test(file));
}

/** A line of a doc comment without its marks. */
interface Line {
  readonly number: number;
  readonly text: string;
}

/** The doc comments of a source file, line by line. */
export function docComments(file: string, text: string): Line[][] {
  return file.endsWith('.rs') ? rustComments(text) : blockComments(text);
}

function rustComments(text: string): Line[][] {
  const comments: Line[][] = [];
  let isOpen = false;
  for (const [at, line] of text.split('\n').entries()) {
    const found = /^\s*\/\/(?:\/(?!\/)|!) ?(.*)$/.exec(line)?.[1];
    if (found !== undefined) {
      if (!isOpen) comments.push([]);
      comments.at(-1)?.push({ number: at + 1, text: found });
    }
    isOpen = found !== undefined;
  }
  return comments;
}

function blockComments(text: string): Line[][] {
  return [...text.matchAll(/^[^\S\n]*\/\*\*(?!\/)([\s\S]*?)\*\//gm)].map(({ index, 1: inner = '' }) => {
    const first = text.slice(0, index).split('\n').length;
    return inner
      .split('\n')
      .map((line, at) => ({ number: first + at, text: line.replace(/^\s*\* ?/, '').trim() }));
  });
}

/** Sentences with the line on which each begins. Code blocks and tags such as `@param` are left out; a code span is one word. */
export function sentences(comment: readonly Line[]): Line[] {
  const found: Line[] = [];
  let isCode = false;
  let isTag = false;
  let open: Line | undefined;
  const close = (): void => {
    if (open !== undefined) found.push(open);
    open = undefined;
  };
  for (const { number, text } of comment) {
    const isFence = text.startsWith('```');
    if (isFence) isCode = !isCode;
    const isApart = text === '' || isFence || isCode || /^(?:[-*@|#>]|\d+\. )/.test(text);
    if (isApart) close();
    // Block tags stand at the end of a comment, and are no sentences.
    isTag ||= text.startsWith('@');
    if (isFence || isCode || isTag || text === '' || /^[|#]/.test(text)) continue;
    const bare = text.replace(/`[^`]*`/g, '_').replace(/^(?:[-*>]|\d+\.) /, '');
    for (const part of bare.split(/(?<=[.?!][)”"]?)\s+(?=[\p{Lu}_[“"(])/u)) {
      open =
        open === undefined ? { number, text: part } : { number: open.number, text: `${open.text} ${part}` };
      if (/[.?!][)”"]?$/.test(part)) close();
    }
  }
  close();
  return found;
}

/** Messages about the opening of a doc comment, which has to be a noun or a verb in the third person. */
export function openingOf(text: string): string[] {
  const [, first = ''] = /^[("“*[]*(\p{L}[\p{L}']*)/u.exec(text) ?? [];
  const found = OPENINGS.find(({ words }) => words.includes(first));
  if (found !== undefined) return [`opens with "${first}": ${found.instead}`];
  return /^One (?:that|which|who|whose)\b/.test(text) ? ['opens with "One that": name the thing'] : [];
}

/** Findings in the doc comments of a source file. */
export function lintComments(file: string, text: string): Finding[] {
  return docComments(file, text).flatMap((comment) => {
    const all = sentences(comment);
    const opening = all
      .slice(0, 1)
      .flatMap(({ number, text: first }) => findings(number, first, 'opening', openingOf(first)));
    const rest = all.flatMap(({ number, text: sentence }) =>
      (['length', 'words', 'units'] as const).flatMap((rule) =>
        findings(number, sentence, rule, JUDGES[rule]({ text: sentence, isTitle: false })),
      ),
    );
    return [...opening, ...rest];
  });
}

function findings(line: number, text: string, rule: RuleId, messages: readonly string[]): Finding[] {
  return messages.map((message) => ({ line, rule, message: `${message} — “${text.slice(0, 60)}”` }));
}
