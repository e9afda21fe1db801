// `make prose`: fails where a page or the doc comments of a source file break a writing rule more often than tests/prose/baseline.json
// lets them.
// `--shrink` writes down what has been mended. `--list TEXT` shows every finding in pages with TEXT in their paths.
import fs from 'node:fs';
import { count, grown, shrunk, type Baseline } from './baseline.ts';
import { sourcesToLint } from './comments.ts';
import { lint, pagesToLint, type Finding } from './lint.ts';

const file = new URL('baseline.json', import.meta.url);
const baseline = JSON.parse(fs.readFileSync(file, 'utf8')) as Baseline;
const [mode, part = ''] = process.argv.slice(2);

const show = (page: string, { line, rule, message }: Finding): void => {
  console.log(`${page}:${String(line)}  ${rule}  ${message}`);
};

const found: Record<string, Finding[]> = {};
for (const page of [...pagesToLint(), ...sourcesToLint()].filter((name) => name.includes(part)))
  found[page] = await lint(page);

if (mode === '--list') {
  for (const [page, findings] of Object.entries(found)) for (const finding of findings) show(page, finding);
} else if (mode === '--shrink') {
  const now = Object.fromEntries(Object.entries(found).map(([page, findings]) => [page, count(findings)]));
  fs.writeFileSync(file, `${JSON.stringify(shrunk(baseline, now), null, 2)}\n`);
} else {
  const worse = Object.entries(found).flatMap(([page, findings]) =>
    grown(findings, baseline[page]).map((finding): [string, Finding] => [page, finding]),
  );
  for (const [page, finding] of worse) show(page, finding);
  if (worse.length > 0) {
    console.log(
      '\nMore sentences break the writing rules (CONTRIBUTING.md) than tests/prose/baseline.json allows.',
    );
    process.exitCode = 1;
  }
}
