// `make prose`: fails where a page, or the doc comments or texts of a source file, break a writing rule. `--list TEXT` looks only at pages with TEXT in their paths.
import { lint, pagesToLint, sourcesToLint } from './lint.ts';

const [mode, part = ''] = process.argv.slice(2);
if (mode !== undefined && mode !== '--list') {
  console.error('usage: npx tsx tests/prose/run.ts [--list TEXT]');
  process.exit(2);
}
for (const page of [...pagesToLint(), ...sourcesToLint()].filter((name) => name.includes(part))) {
  for (const { line, rule, message } of await lint(page)) {
    console.log(`${page}:${String(line)}  ${rule}  ${message}`);
    process.exitCode = 1;
  }
}
if (process.exitCode === 1) console.log('\nSentences break the writing rules (CONTRIBUTING.md).');
