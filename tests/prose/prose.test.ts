// The linter of prose finds what it is for, and lets plain sentences be.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files, read } from '../docs/repository.ts';
import { hasComments, lintComments } from './comments.ts';
import { helpAsProse, lint, pagesToLint, sourcesToLint } from './lint.ts';
import { lintTexts, texts } from './strings.ts';

const rulesOf = async (text: string): Promise<string[]> =>
  (await lint('docs/page.md', text)).map(({ rule }) => rule);
const long = `The gateway ${'reads and '.repeat(14)}writes.`;

void test('a statement that opens with What, Of or Where is found', async () => {
  assert.deepEqual(await rulesOf('What no route is for gets the learned class.'), ['opening']);
  assert.deepEqual(await rulesOf('It starts. Of these, two are slow.'), ['opening']);
  assert.deepEqual(await rulesOf('- Where that is missing, the file counts.'), ['opening']);
  assert.deepEqual(await rulesOf('| a | b |\n| --- | --- |\n| c | Where it is full, it waits. |'), [
    'opening',
  ]);
});

void test('questions, titles and sentences with a noun first may stay', async () => {
  assert.deepEqual(
    await rulesOf('# What the app sees\n\nRequests that match no route use the class of their path.'),
    [],
  );
  assert.deepEqual(
    await rulesOf('## What does a reload cost?\n\nWhat does it cost? One worker at a time.'),
    [],
  );
  assert.deepEqual(await rulesOf('```sh\nWhat is code is not prose.\n```'), []);
});

void test('a sentence of 30 words may stay, and one of 31 is found', async () => {
  assert.deepEqual(await rulesOf(long), ['length']);
  assert.deepEqual(await rulesOf(long.replace('gateway', '')), []);
});

void test('a code span is one word, and words in it are not judged', async () => {
  assert.deepEqual(await rulesOf(`\`just 10ms ${'word '.repeat(40)}\` is the whole command.`), []);
});

void test('items between breaks in a cell of a table are sentences of their own', async () => {
  const cell = `| a |\n| --- |\n| \`x\`: ${'word '.repeat(20)}<br>\`y\`: ${'word '.repeat(20)} |`;
  assert.deepEqual(await rulesOf(cell), []);
  assert.deepEqual(await rulesOf(cell.replaceAll('<br>', ', ')), ['length']);
  assert.deepEqual(await rulesOf('| a |\n| --- |\n| `x`<br>Where it is full. |'), ['opening']);
});

void test('private words and words that tell the reader how to feel are found', async () => {
  assert.deepEqual(await rulesOf('Simply start it.'), ['words']);
  assert.deepEqual(await rulesOf('The log goes on after that, and 0 stands for any time.'), [
    'words',
    'words',
  ]);
  assert.deepEqual(await rulesOf('The log resumes after an adjustment.'), []);
});

void test('numbers without a unit, or glued to it, are found', async () => {
  assert.deepEqual(await rulesOf('The gateway kills it after 10s.'), ['units']);
  assert.deepEqual(await rulesOf('The timeout is 30.'), ['units']);
  assert.deepEqual(
    await rulesOf('The timeout is 30 s. The queue holds 1,000 requests, and CSS has 12 px.'),
    [],
  );
});

void test('help texts are prose, each on its line, without usage and defaults', async () => {
  const page = ['# Command line', '', '```text', 'Start it', '', 'Usage: sluice start just', '', 'Options:'];
  page.push(
    '  -n, --wait <MS>  How long it just, like `2h`,',
    '                   waits [default: 10ms]',
    '```',
    '',
  );
  const findings = await lint('docs/reference/cli.md', page.join('\n'));
  assert.deepEqual(
    findings.map(({ rule, line }) => [rule, line]),
    [['words', 9]],
  );
  assert.equal(helpAsProse(page.join('\n')).split('\n').length, page.length);
});

void test('the pages that users read first are linted', () => {
  const pages = pagesToLint();
  for (const page of ['README.md', 'CHANGELOG.md', 'docs/react.md', 'docs/reference/config.md'])
    assert.ok(pages.includes(page), page);
});

const rust = (text: string): [number, string][] =>
  lintComments('gateway/x/src/lib.rs', text).map(({ line, rule }) => [line, rule]);
const typescript = (text: string): [number, string][] =>
  lintComments('packages/x/src/x.ts', text).map(({ line, rule }) => [line, rule]);

void test('a doc comment opens with a noun or a verb in the third person', () => {
  for (const good of [
    'Pipe to the worker.',
    'Kills the worker after 10 s.',
    'Whether it is stuck.',
    '`key`: a name.',
  ])
    assert.deepEqual(rust(`/// ${good}\nfn x() {}\n`), [], good);
  for (const bad of [
    'For requests that it gets.',
    'How often it looks.',
    'It is full.',
    'One that waits.',
    'Its name.',
  ])
    assert.deepEqual(rust(`/// ${bad}\nfn x() {}\n`), [[1, 'opening']], bad);
  assert.deepEqual(typescript('/** What is kept. */\nconst x = 1;\n'), [[1, 'opening']]);
});

void test('only the first sentence of a doc comment has to open so', () => {
  assert.deepEqual(rust('//! Codec of HTTP.\n//! It knows no sockets.\n'), []);
  assert.deepEqual(typescript('/**\n * Codec of HTTP.\n *\n * It knows no sockets.\n */\n'), []);
});

void test('doc comments keep the other rules, on the line where the sentence begins', () => {
  assert.deepEqual(rust(`/// Codec. Simply\n/// ${'word '.repeat(31)}.\n`), [
    [1, 'length'],
    [1, 'words'],
  ]);
  assert.deepEqual(typescript('/**\n * Codec.\n *\n * The timeout is 30.\n */\n'), [[4, 'units']]);
});

void test('code, tags and comments that document nothing are not judged', () => {
  assert.deepEqual(
    rust('/// Codec.\n/// ```\n/// just code\n/// ```\n//// What is this?\n// What is next.\n'),
    [],
  );
  assert.deepEqual(typescript('/**\n * Codec.\n * @param x what is just read\n */\n// What is next.\n'), []);
  assert.deepEqual(typescript(`/** Codec of \`just ${'word '.repeat(40)}\`. */\n`), []);
});

void test('sources are linted but for tests and generated ones', () => {
  const sources = sourcesToLint();
  assert.ok(sources.length > 500, String(sources.length));
  for (const source of ['gateway/http1/src/lib.rs', 'packages/preload/src/index.ts', 'bench/lib/load.ts'])
    assert.ok(sources.includes(source), source);
  assert.ok(!sources.includes('gateway/cache/src/tests.rs'));
  assert.ok(!hasComments('packages/preload/src/control/messages.ts'));
});

void test('texts of Rust are found across lines and beside characters, and those for developers are not', () => {
  const code = [
    `const QUOTE: char = '"';`,
    `// "the log goes on and on" is a comment`,
    `say("the gateway in {} is \\`,
    `     gone for good");`,
    `let x = value.expect("just an invariant of ours");`,
    `let raw = r#"he says "simply start it" to you"#;`,
    `#[cfg(test)]`,
    `mod tests { const T: &str = "the log goes on and on"; }`,
  ].join('\n');
  assert.deepEqual(
    lintTexts('gateway/cli/src/x.rs', code).map(({ line, message }) => [line, message.split(':')[0]]),
    [
      [3, '"is gone"'],
      [6, '"simply"'],
    ],
  );
});

void test('texts of TypeScript are found in strings, templates and JSX, and comments and short names are not', () => {
  const code =
    '// the log goes on and on\nconst kind = "goes on";\nthrow new Error(`nobody waits for ${name} now`);\nconst a = "the log goes on\\nand on";';
  assert.deepEqual(
    lintTexts('packages/x/src/x.ts', code).map(({ line }) => line),
    [3, 4],
  );
  assert.deepEqual(
    texts('packages/x/src/x.tsx', 'const a = <b>Simply start it now</b>;').map(({ text }) => text),
    ['Simply start it now'],
  );
});

void test('paragraphs of help texts are one line each, because the terminal breaks them', () => {
  const pages = files().filter((file) => /^gateway\/cli\/src\/args\/examples\/.*\.txt$/.test(file));
  assert.ok(pages.length > 20);
  for (const page of pages) assert.doesNotMatch(read(page), /^[^ \n].*[^:\n]\n[^ \n]/m, page);
});
