/** What `npx sluice` brings along is enough for `react = "fast"`, in an app that has nothing of Sluice. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';

const packages = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'sluice-brings-'));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Manifest {
  readonly files: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Puts what would be published of a package of this repository, and of those that it depends on, into `modules`. */
function install(name: string, modules: string): void {
  const source = join(packages, name.replace('@sluice/', ''));
  const { files, dependencies = {} } = JSON.parse(
    readFileSync(join(source, 'package.json'), 'utf8'),
  ) as Manifest;
  for (const file of ['package.json', ...files])
    cpSync(join(source, file), join(modules, name, file), { recursive: true });
  for (const dependency of Object.keys(dependencies)) install(dependency, modules);
}

/** An app elsewhere, whose only packages are React's. */
function appWithReact(): string {
  const require = createRequire(join(packages, 'react/package.json'));
  const app = join(folder, 'app');
  mkdirSync(join(app, 'node_modules'), { recursive: true });
  for (const name of ['react', 'react-dom']) {
    symlinkSync(dirname(require.resolve(`${name}/package.json`)), join(app, 'node_modules', name));
  }
  writeFileSync(
    join(app, 'server.js'),
    `const { createElement } = require('react');
     const html = require('react-dom/server').renderToString(createElement('p', null, 'a', 'b'));
     const [copy] = globalThis[Symbol.for('sluice.react.copies.1')] ?? [];
     console.log(JSON.stringify({ html, renders: copy?.statistics().renders }));
     process.exit();`,
  );
  return join(app, 'server.js');
}

/** In the gateway's place: runs the app as a worker that was told \`react = "fast"\`. */
function gatewayFor(entry: string): string {
  const file = join(folder, 'gateway');
  const env = { SLUICE_REACT: 'fast', SLUICE_SOCKET: join(folder, 'a'), SLUICE_CONTROL: join(folder, 'b') };
  writeFileSync(
    file,
    `#!${process.execPath}
     const { SLUICE_PRELOAD } = process.env;
     const { stdout, stderr } = require('node:child_process').spawnSync(
       process.execPath, ['--import', SLUICE_PRELOAD, ${JSON.stringify(entry)}],
       { encoding: 'utf8', env: { ...process.env, ...${JSON.stringify(env)}, NODE_ENV: 'production' } });
     console.log(stdout + stderr);`,
  );
  chmodSync(file, 0o755);
  return file;
}

test('an app is rendered by the renderer that came with the command', () => {
  const modules = join(folder, 'installed/node_modules');
  install('sluice', modules);
  const { stdout } = spawnSync(process.execPath, [join(modules, 'sluice/bin/sluice.js')], {
    encoding: 'utf8',
    timeout: 60_000,
    // Not here, where the renderer of this repository would be found.
    cwd: folder,
    env: { ...process.env, SLUICE_BINARY: gatewayFor(appWithReact()), SLUICE_PRELOAD: '' },
  });
  assert.deepEqual(JSON.parse(stdout.split('\n')[0] ?? ''), { html: '<p>a<!-- -->b</p>', renders: 1 });
});
