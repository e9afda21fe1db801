// Stands in for npm, pnpm, yarn and corepack where an image is built without a network: packages come from this repository. It is as
// strict about lock files as they are, and refuses commands that it does not know.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const [manager, ...words] = process.argv.slice(2);
const command = words.join(' ');
const root = process.env.ROOT ?? '';

const need = (file) => {
  if (!fs.existsSync(file)) fail(`${file} is not there`);
};

function fail(text) {
  process.stderr.write(`${manager} ${command}: ${text}\n`);
  process.exit(1);
}

function install() {
  need('package.json');
  const { dependencies = {} } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
  for (const name of Object.keys(dependencies)) need(path.join(repository, 'node_modules', name));
  if (!fs.existsSync('node_modules')) fs.symlinkSync(path.join(repository, 'node_modules'), 'node_modules');
}

const locked = (file) => () => {
  need(file);
  install();
};

function build() {
  const script = JSON.parse(fs.readFileSync('package.json', 'utf8')).scripts.build;
  const env = { ...process.env, PATH: `node_modules/.bin:${path.dirname(process.execPath)}:/usr/bin:/bin` };
  const { status } = spawnSync('/bin/sh', ['-c', script], { stdio: 'inherit', env });
  if (status !== 0) fail(`the build left with ${status}`);
}

function globally() {
  const bin = path.join(root, 'usr/local/bin');
  fs.mkdirSync(bin, { recursive: true });
  fs.symlinkSync(path.join(repository, 'packages/sluice/bin/sluice.js'), path.join(bin, 'sluice'));
}

const prune = () => need('node_modules');
const known = {
  'npm ci --omit=dev': locked('package-lock.json'),
  'npm ci --include=dev': locked('package-lock.json'),
  'npm install --omit=dev': install,
  'npm install --include=dev': install,
  'npm run build': build,
  'npm prune --omit=dev': prune,
  'npm cache clean --force': () => {},
  'corepack enable': () => {},
  'pnpm install --frozen-lockfile --prod': locked('pnpm-lock.yaml'),
  'pnpm install --frozen-lockfile --prod=false': locked('pnpm-lock.yaml'),
  'pnpm run build': build,
  'pnpm prune --prod': prune,
  'yarn install --frozen-lockfile --production': locked('yarn.lock'),
  'yarn install --frozen-lockfile --production=false': locked('yarn.lock'),
  'yarn install --frozen-lockfile --production --ignore-scripts --prefer-offline': prune,
  'yarn install --immutable': locked('yarn.lock'),
  'yarn workspaces focus --production': locked('yarn.lock'),
  'yarn run build': build,
};

const full = `${manager} ${command}`;
if (/^npm install --global sluice@\d+\.\d+\.\d+$/.test(full)) globally();
else if (full in known) known[full]();
else fail('not a command that this stand-in knows');
