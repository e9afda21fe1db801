// Declarations of an app that exports what this package has made, against the package as it is built.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const MODULES = join(import.meta.dirname, '../../../../node_modules');
const OPTIONS =
  '--ignoreConfig --declaration --emitDeclarationOnly --strict --skipLibCheck --module nodenext --target es2022 --types node';

const APP = `
import { graphHooks } from '@sluice/graph/react';
import { typedGraph } from '@sluice/graph/router';
import { httpSource } from '@sluice/graph/browser';

const graph = typedGraph()({});
export const typed = graph.model({});
export const { useGraph, useModel, useValue } = graphHooks<typeof graph.schema>();
export const source = httpSource('/model.json');
// A call has one answer, for which an app may wait.
void source.call(['cart', 'add'], [], [], []).then(({ jsonGraph }) => jsonGraph);
`;

void test('an app that is compiled with declarations may export its hooks and its source', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-declarations-'));
  t.after(async () => rm(folder, { recursive: true }));
  await symlink(MODULES, join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'app.ts'), APP);
  const told = await new Promise<string>((resolve) => {
    execFile(
      join(MODULES, '.bin/tsc'),
      [...OPTIONS.split(' '), 'app.ts'],
      { cwd: folder },
      (_error, stdout, stderr) => resolve(stdout + stderr),
    );
  });
  assert.equal(told, '');
  assert.match(await readFile(join(folder, 'app.d.ts'), 'utf8'), /useGraph: .*, useModel: /u);
});
