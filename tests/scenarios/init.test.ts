// `sluice init` in folders as frameworks leave them after a build, and the files that the gateway sends with what it wrote.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { type Finished, type Sluice, app, runSluice } from '../support/sluice.ts';
import { ask, running } from './scenario.ts';
import { isFromApp } from './site.ts';

const IMMUTABLE = 'public, max-age=31536000, immutable';
const ASKS_AGAIN = 'public, max-age=0';

/** The folder of an app whose server is `echo.js`. */
class Folder {
  readonly dir: string = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-init-'));

  constructor(t: TestContext, packageJson: object, server: string) {
    t.after(() => {
      fs.rmSync(this.dir, { recursive: true, force: true });
    });
    this.write('package.json', JSON.stringify(packageJson));
    this.write(server, fs.readFileSync(app('echo.js')));
  }

  write(name: string, content: string | Buffer): this {
    const file = path.join(this.dir, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
    return this;
  }

  async init(...args: string[]): Promise<Finished> {
    return runSluice(['init', ...args], { cwd: this.dir });
  }

  async start(t: TestContext): Promise<Sluice> {
    const checked = await runSluice(['check'], { cwd: this.dir });
    assert.equal(checked.code, 0, checked.stderr);
    return running(t, { workers: 1, cwd: this.dir });
  }

  get config(): string {
    return fs.readFileSync(path.join(this.dir, 'sluice.toml'), 'utf8');
  }
}

/** Each path with the `Cache-Control` of the file there, or `app` where the app answers. */
async function served(sluice: Sluice, expected: Record<string, string>): Promise<void> {
  const found: Record<string, string> = {};
  for (const target of Object.keys(expected)) {
    const response = await ask(sluice, target);
    found[target] = isFromApp(response) ? 'app' : (response.headers.get('cache-control') ?? 'none');
  }
  assert.deepEqual(found, expected);
}

void test('Next.js: files of the build are sent for ever, and the app keeps all else', async (t) => {
  const folder = new Folder(
    t,
    { dependencies: { next: '16' }, scripts: { start: 'node server.js' } },
    'server.js',
  );
  folder
    .write('.next/static/chunks/main.js', 'main')
    .write('.next/static/Bu1ldId/_buildManifest.js', 'manifest')
    .write('.next/BUILD_ID', 'Bu1ldId')
    .write('.next/server/secret.js', 'secret')
    .write('.next/static/.env', 'secret')
    .write('.env', 'secret');
  const { code, stdout } = await folder.init();
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^found Next\.js, by package\.json\nfound the app: server\.js\nfound \.next\/static, /,
  );
  await served(await folder.start(t), {
    '/_next/static/chunks/main.js': IMMUTABLE,
    '/_next/static/Bu1ldId/_buildManifest.js': IMMUTABLE,
    '/_next/static/chunks/missing.js': 'app',
    '/_next/static/.env': 'app',
    '/_next/static/../server/secret.js': 'app',
    '/_next/static/%2e%2e/BUILD_ID': 'app',
    '/.env': 'app',
    '/': 'app',
  });
});

void test('React Router: the client folder is sent from the root, its assets for ever', async (t) => {
  const packages = { devDependencies: { '@react-router/dev': '8', vite: '8' } };
  const folder = new Folder(t, { ...packages, scripts: { start: 'node server.js' } }, 'server.js');
  folder
    .write('build/client/assets/root-words.js', 'root')
    .write('build/client/favicon.ico', 'icon')
    .write('build/client/.vite/manifest.json', '{}')
    .write('build/client/.well-known/security.txt', 'Contact')
    .write('build/server/index.js', 'secret');
  assert.equal((await folder.init()).code, 0);
  await served(await folder.start(t), {
    '/assets/root-words.js': IMMUTABLE,
    '/favicon.ico': ASKS_AGAIN,
    '/.well-known/security.txt': ASKS_AGAIN,
    '/.vite/manifest.json': 'app',
    '/../server/index.js': 'app',
    '/assets/': 'app',
    '/': 'app',
  });
});

void test('SvelteKit and Nuxt: only what a build gives another name is sent for ever', async (t) => {
  const kit = new Folder(
    t,
    { type: 'commonjs', devDependencies: { '@sveltejs/kit': '3' }, scripts: { start: 'node build' } },
    'build/index.js',
  );
  kit
    .write('build/client/_app/immutable/entry/start.js', 'start')
    .write('build/client/_app/version.json', '{}');
  assert.match((await kit.init()).stdout, /found the app: build\/index\.js/);
  await served(await kit.start(t), {
    '/_app/immutable/entry/start.js': IMMUTABLE,
    '/_app/version.json': ASKS_AGAIN,
  });

  const nuxt = new Folder(t, { dependencies: { nuxt: '4' } }, 'server.js');
  nuxt
    .write('.output/public/_nuxt/entry.js', 'entry')
    .write('.output/public/_nuxt/builds/latest.json', '{}')
    .write('.output/server/index.mjs', "import 'node:module';\nimport '../../server.js';\n");
  assert.match((await nuxt.init()).stdout, /found Nuxt.*\nfound the app: \.output\/server\/index\.mjs\n/);
  await served(await nuxt.start(t), {
    '/_nuxt/entry.js': IMMUTABLE,
    '/_nuxt/builds/latest.json': ASKS_AGAIN,
    '/page': 'app',
  });
});

void test('without a framework, names with a hash are sent for ever unless the config says otherwise', async (t) => {
  const folder = new Folder(t, { scripts: { start: 'node server.js' } }, 'server.js');
  const names = ['app.3f2a9c1b.js', 'index-BxY12_ab.css', 'app.js', 'photo-20240101.jpg'];
  for (const name of names) folder.write(`public/${name}`, name);
  folder.write('sluice.toml', '[app]\nentry = "server.js"\n[files.paths]\n"/s/" = "public"\n');
  await served(await folder.start(t), {
    '/s/app.3f2a9c1b.js': IMMUTABLE,
    '/s/index-BxY12_ab.css': IMMUTABLE,
    '/s/app.js': ASKS_AGAIN,
    '/s/photo-20240101.jpg': ASKS_AGAIN,
  });
  folder.write(
    'sluice.toml',
    `[app]\nentry = "server.js"\n[files]\npaths = { "/s/" = "public" }\ncache_control = { "/s/index" = "no-cache" }\n`,
  );
  await served(await folder.start(t), {
    '/s/app.3f2a9c1b.js': IMMUTABLE,
    '/s/index-BxY12_ab.css': 'no-cache',
  });
});

void test('a file that exists stays, --print writes none, and --force finds what was built since', async (t) => {
  const folder = new Folder(
    t,
    { devDependencies: { vite: '8' }, scripts: { start: 'node server.js' } },
    'server.js',
  );
  const printed = await folder.init('--print');
  assert.equal(printed.code, 0);
  assert.ok(!fs.existsSync(path.join(folder.dir, 'sluice.toml')));
  const before = await folder.init();
  assert.match(before.stdout, /missing dist\/client\/assets: build the app, then run `sluice init --force`/);
  assert.equal(folder.config, printed.stdout);
  folder.write('dist/client/assets/index-words.js', 'built');
  const refused = await folder.init();
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /sluice\.toml exists\. `sluice init --force` replaces it/);
  assert.equal(folder.config, printed.stdout);
  assert.equal((await folder.init('--force')).code, 0);
  await served(await folder.start(t), { '/assets/index-words.js': IMMUTABLE, '/assets/x.js': 'app' });
});

void test('an app that nobody names is one to init, check and start, whatever main of npm says', async (t) => {
  const folder = new Folder(t, { name: 'shop', main: 'index.js', scripts: { test: 'exit 1' } }, 'server.js');
  const check = () => runSluice(['check'], { cwd: folder.dir });
  const found = await check();
  assert.equal(found.code, 0, found.stderr);
  assert.match(found.stdout, /^# The app, detected: node server\.js in \//m);
  assert.equal((await folder.init('--systemd', '--docker')).code, 0);
  assert.match(folder.config, /^entry = "server\.js"$/m);
  const read = (name: string) => fs.readFileSync(path.join(folder.dir, name), 'utf8');
  assert.match(read('Dockerfile'), /CMD \["sluice", "start"\]/);
  assert.match(read('shop.service'), /^ExecStart=\S+ start --run-dir \/run\/shop$/m);
  await served(await folder.start(t), { '/': 'app' });

  fs.rmSync(path.join(folder.dir, 'server.js'));
  fs.rmSync(path.join(folder.dir, 'sluice.toml'));
  const missing = await check();
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /app\.entry is not set\. SLU-ENTRY-MISSING: no app was named/);
  const started = await runSluice(['start'], { cwd: folder.dir });
  assert.deepEqual([started.code, /SLU-ENTRY-MISSING/.test(started.stderr)], [2, true]);
  const refused = await folder.init('--docker', '--force');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /no app found to start/);
  // One that the command line names is not missed.
  assert.equal((await runSluice(['check', app('echo.js')], { cwd: folder.dir })).code, 0);
  assert.equal((await runSluice(['check', '--', 'npm', 'run', 'serve'], { cwd: folder.dir })).code, 0);
});
