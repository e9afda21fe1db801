// The committed form of lock files that npm writes only when somebody renews an app of tests or benchmarks: one package a line, without
// licences, funding and addresses of a registry. npm reads it like its own form, and a diff has one line for each package that changed.
//
//   npx tsx tests/conformance/locks.ts            rewrites those that npm has written
//   npx tsx tests/conformance/locks.ts --check    fails where one is in another form
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

interface Lock {
  packages: Record<string, Record<string, unknown>>;
  [field: string]: unknown;
}

/** Whether an install does without a field of a package; `resolved` is an address of the registry at hand, unless it is one of git. */
const isUnread = (field: string, value: unknown): boolean =>
  field === 'license' || field === 'funding' || (field === 'resolved' && String(value).startsWith('http'));

/** Lock files that npm writes whenever a version changes: what is built and shipped. */
const WRITTEN_BY_NPM = ['package-lock.json', 'packaging/package-lock.json'];

const root = path.join(import.meta.dirname, '../..');

/** The text of a lock file with one package a line. Entries stay in npm's order, and installs are the same. */
export function compact(text: string): string {
  const { packages, ...head } = JSON.parse(text) as Lock;
  const lines = Object.entries(packages).map(([name, entry]) => {
    const read = Object.entries(entry).filter(([field, value]) => name === '' || !isUnread(field, value));
    return `${JSON.stringify(name)}: ${JSON.stringify(Object.fromEntries(read))}`;
  });
  const fields = Object.entries(head).map(
    ([field, value]) => `${JSON.stringify(field)}: ${JSON.stringify(value)},`,
  );
  return ['{', ...fields, '"packages": {', lines.join(',\n'), '}}', ''].join('\n');
}

if (process.argv[1] === import.meta.filename) {
  const listed = execFileSync('git', ['ls-files', '*package-lock.json'], { cwd: root, encoding: 'utf8' });
  const files = listed
    .trim()
    .split('\n')
    .filter((file) => !WRITTEN_BY_NPM.includes(file));
  for (const file of files) {
    const text = fs.readFileSync(path.join(root, file), 'utf8');
    const wanted = compact(text);
    if (text === wanted) continue;
    if (process.argv.includes('--check')) {
      console.log(`${file}: npm's form; run \`make format\``);
      process.exitCode = 1;
    } else fs.writeFileSync(path.join(root, file), wanted);
  }
}
