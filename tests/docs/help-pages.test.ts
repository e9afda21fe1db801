// Recipes, moves, FAQ and troubleshooting tell the truth: quoted messages are the catalogue's, settings are valid, and recipes start
// apps as the conformance tests do. Whether keys, codes, flags and names exist is the business of `names.test.ts`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { frameworks } from '../conformance/frameworks.ts';
import { runSluice } from '../support/sluice.ts';
import { fenced, files, prose, read } from './repository.ts';

const pages = files().filter((file) =>
  /^docs\/(?:(?:recipes|moving)\/[^/]+|faq|troubleshooting)\.md$/.test(file),
);
const recipes = pages.filter((page) => page.startsWith('docs/recipes/'));

/** Which app of the conformance tests stands behind a recipe. */
const TESTED: Readonly<Record<string, string>> = {
  express: 'express5',
  fastify: 'fastify',
  nestjs: 'nestjs',
  next: 'next-start',
  'react-router': 'react-router',
  nuxt: 'nuxt',
  sveltekit: 'sveltekit',
  astro: 'astro',
};

const bySpaces = (text: string): string => text.replace(/\s+/g, ' ');

/** Everything that the catalogue can print: reference pages, and literals of the refusals as they are written. */
const catalogue = bySpaces(
  [
    ...files().filter((file) => /^docs\/reference\/(?:errors|cli|config|log)\.md$/.test(file)),
    ...files().filter((file) => /^gateway\/catalog\/src\/refusals(?:\/\w+)?\.rs$/.test(file)),
  ]
    .map((file) => read(file).replace(/\\\n\s*/g, ''))
    .join('\n'),
);

const quotes = (page: string): string[] =>
  [...prose(read(page)).matchAll(/^> (.+)$/gm)].map(([, line]) => line ?? '');

void test('the pages are found', () => {
  assert.equal(recipes.length, Object.keys(TESTED).length);
  assert.ok(pages.length >= 15, pages.join(' '));
});

void test('messages that troubleshooting quotes are those of the catalogue', () => {
  const quoted = quotes('docs/troubleshooting.md');
  assert.ok(quoted.length > 25, String(quoted.length));
  assert.deepEqual(
    quoted.filter((line) => !catalogue.includes(bySpaces(line))),
    [],
  );
});

for (const page of recipes) {
  const name = path.basename(page, '.md');

  void test(`the recipe for ${name} starts the app as its conformance test does`, () => {
    const framework = frameworks.find((candidate) => candidate.name === TESTED[name]);
    assert.ok(framework !== undefined, name);
    const { start, env = {}, install, folder } = framework;
    const target = 'entry' in start ? start.entry : `-- npx ${start.command.join(' ')}`;
    const variables = Object.entries(env).map(([key, value]) => `${key}=${value} `);
    const command = `${variables.join('')}sluice start ${target}`;
    const commands = fenced(read(page), 'sh').flatMap((block) => block.split('\n'));
    assert.ok(commands.includes(command), `${page} lacks: ${command}`);
    const app = `tests/conformance/frameworks/${install === folder ? install : folder}`;
    assert.ok(read(page).includes(`\`${app}\``), `${page} does not name ${app}`);
  });

  void test(`sluice check accepts the settings of the recipe for ${name}`, async (t) => {
    const [settings] = fenced(read(page), 'toml');
    assert.ok(settings !== undefined, page);
    const cwd = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-recipe-'));
    t.after(() => {
      fs.rmSync(cwd, { recursive: true, force: true });
    });
    fs.writeFileSync(path.join(cwd, 'sluice.toml'), settings);
    // The files that a build leaves behind.
    const entry = /^entry = "(.+)"$/m.exec(settings)?.[1] ?? 'server.js';
    fs.mkdirSync(path.dirname(path.join(cwd, entry)), { recursive: true });
    fs.writeFileSync(path.join(cwd, entry), '');
    fs.writeFileSync(path.join(cwd, 'package.json'), JSON.stringify({ main: entry }));
    for (const [, folder = ''] of settings.matchAll(/^paths = \{ "[^"]+" = "([^"]+)" \}$/gm))
      fs.mkdirSync(path.join(cwd, folder), { recursive: true });
    const { code, stdout, stderr } = await runSluice(['check'], { cwd });
    assert.equal(code, 0, stderr + stdout);
  });
}
