// Texts in source files that users see: log lines, refusals, output of commands, errors of packages. A text is a string with four words or more.
import { parseSync, traverse } from '@babel/core';
import { JUDGES, type Finding } from './rules.ts';
import { PRINTED } from './words.ts';

const COVERED = /^(?:gateway\/[\w-]+\/src\/.*\.rs|packages\/[\w-]+\/src\/.*\.tsx?)$/;
const TESTS = /\/tests\/|_tests?\.rs$|\/tests\.rs$/;
const WORDS_MIN = 4;

/** Whether the texts of a file are linted. */
export function hasTexts(file: string): boolean {
  return COVERED.test(file) && !TESTS.test(file);
}

interface Text {
  readonly line: number;
  readonly text: string;
}

/** Texts of a source file, with a placeholder for each value in them. */
export function texts(file: string, code: string): Text[] {
  const found = file.endsWith('.rs') ? rustStrings(code) : typescriptStrings(file, code);
  return found.filter(({ text }) => (text.match(/\p{L}{2,}/gu)?.length ?? 0) >= WORDS_MIN);
}

/** Comments, characters and both forms of strings, so that a quote in one of them does not begin another. */
const RUST =
  /\/\/.*|\/\*[\s\S]*?\*\/|b?'(?:[^'\\\n]|\\[^\n]{1,8})'|b?r(?<hashes>#*)"(?<raw>[\s\S]*?)"\k<hashes>|b?"(?<text>(?:[^"\\]|\\[\s\S])*)"/g;
/** Calls whose text states an invariant for developers, and reasons of attributes. */
const FOR_DEVELOPERS = /(?:expect\(|expect_err\(|panic!\(|unreachable!\(|assert\w*!\([^;]*|reason =)$/;

function rustStrings(code: string): Text[] {
  const [served = ''] = code.split(/^#\[cfg\(test\)\]\nmod \w+ \{/m);
  return [...served.matchAll(RUST)].flatMap(({ index, groups }) => {
    const text = groups?.['raw'] ?? groups?.['text'];
    const before = served.slice(Math.max(0, index - 200), index).trimEnd();
    if (text === undefined || FOR_DEVELOPERS.test(before)) return [];
    const shown = text.replace(/\\\n\s*/g, '').replace(/\{[^{}]*\}/g, '_');
    return [{ line: served.slice(0, index).split('\n').length, text: shown }];
  });
}

function typescriptStrings(file: string, code: string): Text[] {
  const found: Text[] = [];
  const ast = parseSync(code, {
    filename: file,
    presets: ['@babel/preset-typescript'],
    configFile: false,
    babelrc: false,
  });
  if (ast === null) return [];
  const take = (line: number | undefined, text: string): void => {
    found.push({ line: line ?? 0, text });
  };
  traverse(ast, {
    StringLiteral({ node }) {
      take(node.loc?.start.line, node.value);
    },
    JSXText({ node }) {
      take(node.loc?.start.line, node.value);
    },
    TemplateLiteral({ node }) {
      take(node.loc?.start.line, node.quasis.map(({ value }) => value.cooked ?? '').join('_'));
    },
  });
  return found;
}

/** Findings in the texts of a source file. A command or name between backticks is one word. */
export function lintTexts(file: string, code: string): Finding[] {
  // Most files have no such word, and a parser for TypeScript takes its time.
  if (file.endsWith('.ts') && messagesOf(code).length === 0) return [];
  return texts(file, code).flatMap(({ line, text }) => {
    const bare = text.replace(/`[^`]*`/g, '_');
    return messagesOf(bare).map((message) => ({
      line,
      rule: 'words',
      message: `${message} — “${bare.slice(0, 60)}”`,
    }));
  });
}

/** Messages about words that pages must not have, and about those that texts must not have either. */
function messagesOf(text: string): string[] {
  const line = text.replace(/\s+/g, ' ');
  const printed = PRINTED.flatMap(({ pattern, instead }) =>
    [...line.matchAll(pattern)].map(([found]) => `"${found}": ${instead}`),
  );
  return [...JUDGES.words({ text: line, isTitle: false }), ...printed];
}
