// The interpreter of Dockerfiles refuses what it cannot do, so that no step is skipped in silence.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { appWith, tempDir } from './deployed.ts';
import { Refused, build, processOf } from './dockerfile.ts';

void test('steps that it cannot do alike are refused', (t) => {
  for (const step of [
    'RUN apt-get update',
    'RUN npm install --omit=dev; rm -rf /',
    'RUN --mount=type=cache,target=/x npm ci',
    'COPY ../secret ./',
    'COPY *.js ./',
    'COPY missing ./',
    'COPY --chown=1:1 a.js ./',
    'COPY --from=nowhere /app ./',
    'COPY a.js b.js to',
    'COPY ignored.log ./',
    'ADD a.js ./',
    'ENTRYPOINT ["sluice"]',
    'CMD sluice start',
    'USER 0',
    'ENV A="b c"',
    'FROM scratch',
    'nonsense',
  ]) {
    const context = appWith(t, {
      Dockerfile: `FROM node:24-slim\nWORKDIR /app\n${step}\n`,
      '.dockerignore': '*.log\n',
      'a.js': '',
      'b.js': '',
      'ignored.log': '',
    });
    assert.throws(() => build(context, tempDir(t)), Refused, step);
  }
  const negated = appWith(t, { Dockerfile: 'FROM node:24-slim\n', '.dockerignore': '!a\n' });
  assert.throws(() => build(negated, tempDir(t)), Refused);
});

void test('a command that fails ends the build', (t) => {
  const context = appWith(t, { Dockerfile: 'FROM node:24-slim\nWORKDIR /app\nRUN npm ci --omit=dev\n' });
  assert.throws(() => build(context, tempDir(t)), /package-lock\.json is not there/);
});

void test('files go from the context and from stage to stage as Docker has them', (t) => {
  const context = appWith(t, {
    Dockerfile: [
      'FROM node:24-slim AS build',
      'WORKDIR /app',
      '# comment',
      'COPY a.js \\',
      '  folder/b.js ./',
      'COPY . ./all',
      'FROM node:24-slim',
      'ENV NODE_ENV=production',
      'WORKDIR /srv',
      'COPY --from=build /app/all ./',
      'CMD ["./a.js", "x"]',
    ].join('\n'),
    '.dockerignore': 'node_modules\n.env.*\n',
    'a.js': '',
    'folder/b.js': '',
    'node_modules/c.js': '',
    '.env.local': '',
  });
  const scratch = tempDir(t);
  const image = build(context, scratch);
  assert.deepEqual(fs.readdirSync(path.join(scratch, 'build/app')).sort(), ['a.js', 'all', 'b.js']);
  const { cwd, env, args } = processOf(image);
  assert.deepEqual(fs.readdirSync(cwd).sort(), ['.dockerignore', 'Dockerfile', 'a.js', 'folder']);
  assert.deepEqual([env, args], [{ NODE_ENV: 'production' }, ['x']]);
});
