// Reads the repository's pages and doc comments as the writing rules see them.
import { TextlintKernel } from '@textlint/kernel';
import markdownModule from '@textlint/textlint-plugin-markdown';
import { files, read } from '../docs/repository.ts';
import { hasComments, lintComments } from './comments.ts';
import { JUDGES, ruleOf, type Finding, type RuleId } from './rules.ts';
import { hasTexts, lintTexts } from './strings.ts';

export type { Finding };

// A CommonJS module: what it calls its default is one level down.
const markdown = markdownModule.default;
const kernel = new TextlintKernel();
const rules = Object.entries(JUDGES).map(([ruleId, judge]) => ({ ruleId, rule: ruleOf(judge) }));
const isRule = (id: string): id is RuleId => Object.hasOwn(JUDGES, id);

/** Every page that users or contributors read. */
export function pagesToLint(): string[] {
  return files()
    .filter((file) => file.endsWith('.md') && !/(?:^|\/)(?:fixtures?|vendor|\.changeset)\//.test(file))
    .sort();
}

/**
 * Help texts stand in code blocks of the command line's page, and are prose. Each option or command becomes an item of a
 * list, and every line stays where it was, so that a finding points at it. Usage, examples and `[default: …]` are no prose.
 */
export function helpAsProse(page: string): string {
  return page.replace(/^```text\n([\s\S]*?)^```$/gm, (_, help: string) => {
    const bare = help
      .replace(/\[(?:default|config|env|possible values|aliases): [^\]]*\]/g, blank)
      .replace(/^Usage: .*$/gm, '')
      .replace(/`[^`\n]+`/g, '_code_')
      .replace(/^Examples:\n(?: {2}.*\n)*/gm, blank)
      .replace(/^ {2,10}(?:-[^\n]*?|\S[^\n]*?)(?: {2,}|$)/gm, '- ')
      .replace(/^ {10,}/gm, '  ')
      .replace(/[<>[\]*_`#|]/g, ' ');
    return `\n${bare}`;
  });
}

const blank = (text: string): string => text.replace(/[^\n]/g, '');

/** Source files whose doc comments or texts are linted. */
export function sourcesToLint(): string[] {
  return files()
    .filter((file) => hasComments(file) || hasTexts(file))
    .sort();
}

/** Findings in a page, or in the doc comments and texts of a source file. */
export async function lint(file: string, text = read(file)): Promise<Finding[]> {
  if (!file.endsWith('.md')) {
    return [
      ...(hasComments(file) ? lintComments(file, text) : []),
      ...(hasTexts(file) ? lintTexts(file, text) : []),
    ];
  }
  const { messages } = await kernel.lintText(file.endsWith('reference/cli.md') ? helpAsProse(text) : text, {
    filePath: file,
    ext: '.md',
    plugins: [{ pluginId: 'markdown', plugin: markdown }],
    rules,
  });
  return messages.flatMap(({ ruleId, message, loc }) =>
    isRule(ruleId) ? [{ line: loc.start.line, rule: ruleId, message }] : [],
  );
}
