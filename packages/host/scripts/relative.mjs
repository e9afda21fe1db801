// Has the built files of the package in this folder name those of `dist/shared` by relative paths: to look `#host/…` up in the package's manifest
// costs each worker's start a millisecond.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

for (const file of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
  if (!/\.(?:js|d\.ts)$/.test(file)) continue;
  const text = readFileSync(path.join('dist', file), 'utf8');
  const shared = `${path.posix.relative(path.dirname(file), 'shared')}/`;
  const named = text.replaceAll("'#host/", shared.startsWith('.') ? `'${shared}` : `'./${shared}`);
  if (named !== text) writeFileSync(path.join('dist', file), named);
}
