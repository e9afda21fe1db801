// `sluice init` for apps of each package manager: images lead to an answer, units and manifests pass their checks.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { runSluice } from '../support/sluice.ts';
import { answerOfImage, appWith, exposure, hasSystemd, init, verified } from './deployed.ts';
import { at, composed, kubernetes } from './manifests.ts';

const commonJs = `require('node:http').createServer((_, response) => response.end('as before')).listen(process.env.PORT);\n`;
const esm = `import http from 'node:http';
http.createServer((_, response) => response.end('as a module')).listen(process.env.PORT);\n`;
/** Leaves what the standalone build of Next.js leaves, as far as an image is concerned. */
const standaloneBuild = `
const fs = require('node:fs');
fs.mkdirSync('.next/standalone', { recursive: true });
fs.mkdirSync('.next/static', { recursive: true });
fs.writeFileSync('.next/static/a.js', 'chunk');
fs.writeFileSync('.next/standalone/server.js', \`
  const fs = require('node:fs');
  const http = require('node:http');
  const text = fs.readFileSync('.next/static/a.js') + ' ' + fs.readFileSync('public/b.txt');
  http.createServer((_, response) => response.end(text)).listen(process.env.PORT);
\`);`;

const everything = ['--systemd', '--docker', '--compose', '--kubernetes'];

interface Case {
  readonly what: string;
  readonly package: object;
  readonly files: Readonly<Record<string, string>>;
  readonly answer: string;
}

const cases: readonly Case[] = [
  {
    what: 'npm',
    package: { main: 'server.js' },
    files: { 'package-lock.json': '{}', 'server.js': commonJs },
    answer: 'as before',
  },
  {
    what: 'pnpm with ESM and Sluice of its own',
    package: { type: 'module', scripts: { start: 'node server.mjs' }, dependencies: { sluice: '0.1.0' } },
    files: { 'pnpm-lock.yaml': '', 'server.mjs': esm },
    answer: 'as a module',
  },
  {
    what: 'yarn with a build',
    package: {
      scripts: { build: 'mkdir -p dist && cp source.js dist/server.js', start: 'node dist/server.js' },
    },
    files: { 'yarn.lock': '', 'source.js': commonJs, 'sluice.toml': '[app]\nentry = "dist/server.js"\n' },
    answer: 'as before',
  },
  {
    what: 'the standalone build of Next.js',
    package: { scripts: { build: 'node build.js' }, dependencies: {}, devDependencies: { next: '16' } },
    files: {
      'package-lock.json': '{}',
      'next.config.mjs': `export default {\n  output: 'standalone',\n};\n`,
      'build.js': standaloneBuild,
      'public/b.txt': 'public file',
    },
    answer: 'chunk public file',
  },
];

for (const { what, package: manifest, files, answer } of cases) {
  void test(`an app by ${what} gets files that run it`, async (t) => {
    const text = JSON.stringify({ name: '@acme/shop', ...manifest });
    const dir = appWith(t, { ...files, 'package.json': text });
    const told = await init(dir, ...everything);
    assert.match(told, /\nnext:\n/);
    assert.equal(await answerOfImage(t, dir), answer);
    kubernetes(dir);
    composed(dir);
    if (!hasSystemd(t)) return;
    assert.equal(verified(t, path.join(dir, 'shop.service')), '');
    assert.ok(exposure(t, path.join(dir, 'shop.service')) <= 2);
  });
}

void test('times and ports of sluice.toml are those of the files', async (t) => {
  const config = `[server]\nport = 443\ntls_cert = "c.pem"\ntls_key = "k.pem"\n
[drain]\ntimeout_ms = 90_000\n\n[workers]\nstop_timeout_ms = 1_000\n\n[edge]\nping_path = "/alive"\n`;
  const dir = appWith(t, {
    'package.json': '{"name":"shop","main":"server.js"}',
    'server.js': '',
    'sluice.toml': config,
  });
  await init(dir, ...everything);
  assert.equal(at(composed(dir), 'stop_grace_period'), '96s');
  const { deployment, service } = kubernetes(dir);
  const pod = at(deployment, 'spec.template.spec');
  assert.equal(at(pod, 'terminationGracePeriodSeconds'), 101);
  const env = at(pod, 'containers.0.env') as readonly { name: string; value: string }[];
  const valueOf = (name: string): string | undefined => env.find((one) => one.name === name)?.value;
  assert.equal(valueOf('SLUICE_DRAIN_DELAY_MS'), '5000', 'balancers need time');
  assert.equal(valueOf('SLUICE_DRAIN_TIMEOUT_MS'), '90000');
  assert.equal(valueOf('SLUICE_WORKERS_STOP_TIMEOUT_MS'), '1000');
  assert.equal(at(pod, 'containers.0.ports.0.containerPort'), 443);
  assert.deepEqual(at(pod, 'containers.0.securityContext.capabilities.add'), ['NET_BIND_SERVICE']);
  assert.equal(at(service, 'spec.ports.0.port'), 443);
  assert.match(
    fs.readFileSync(path.join(dir, 'shop.service'), 'utf8'),
    /^AmbientCapabilities=CAP_NET_BIND_SERVICE$/m,
  );
  if (hasSystemd(t)) assert.equal(verified(t, path.join(dir, 'shop.service')), '');
});

void test('files that exist stay as they are without --force, and nothing else is written', async (t) => {
  const dir = appWith(t, {
    'package.json': '{"name":"shop"}',
    'server.js': '',
    Dockerfile: 'FROM mine\n',
  });
  const { code, stderr } = await runSluice(['init', '--docker', '--systemd'], { cwd: dir });
  assert.equal(code, 2, stderr);
  assert.match(stderr, /Dockerfile exists\. .*--force/);
  assert.deepEqual(fs.readdirSync(dir).sort(), ['Dockerfile', 'package.json', 'server.js']);
  await init(dir, '--docker', '--force');
  assert.match(fs.readFileSync(path.join(dir, 'Dockerfile'), 'utf8'), /^FROM node:/m);
});

void test('--print shows the files and writes none', async (t) => {
  const dir = appWith(t, { 'package.json': '{"name":"shop"}', 'server.js': '' });
  assert.match(await init(dir, '--systemd', '--print'), /^# shop under Sluice/);
  const both = await init(dir, '--docker', '--print');
  assert.ok(both.startsWith('==> Dockerfile <==\n') && both.includes('\n==> .dockerignore <==\n'), both);
  assert.deepEqual(fs.readdirSync(dir).sort(), ['package.json', 'server.js']);
});

void test('a configuration that is wrong is told before anything is written', async (t) => {
  const dir = appWith(t, { 'package.json': '{"name":"shop"}', 'sluice.toml': '[server]\nprot = 1\n' });
  const { code, stderr } = await runSluice(['init', '--docker'], { cwd: dir });
  assert.equal(code, 2, stderr);
  assert.match(stderr, /prot/);
  assert.ok(!fs.existsSync(path.join(dir, 'Dockerfile')));
});
