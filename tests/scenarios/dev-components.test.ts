// Components behind `sluice dev`: a change is in the browser without a reload of the page, and the worker goes on.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import { noBrowser, settled, view } from '../../packages/browser/test/support/browser.ts';
import { FIXTURE } from '../../packages/browser/test/support/build.ts';
import { repositoryDir } from '../support/sluice.ts';
import { running } from './scenario.ts';

const browserDir = path.join(repositoryDir, 'packages/browser');
const packages = createRequire(path.join(browserDir, 'package.json'));
const source = (file: string): string => JSON.stringify(pathToFileURL(path.join(browserDir, file)).href);

const DEV = `import reactPlugin from ${JSON.stringify(pathToFileURL(packages.resolve('@vitejs/plugin-react')).href)};
import { createDevServer } from ${source('src/dev/index.ts')};
import { config } from ${source('test/support/build.ts')};
const shared = config();
const root = import.meta.dirname;
await createDevServer({
  entry: '/server.js',
  port: Number(process.env.PORT),
  vite: {
    ...shared,
    root,
    cacheDir: root + '/.vite',
    server: { fs: { allow: [root, ${JSON.stringify(repositoryDir)}] } },
    plugins: [...shared.plugins, reactPlugin()],
  },
});
`;

void test(
  'a changed component is in the browser without a reload, and its state and the worker stay',
  { skip: noBrowser },
  async (t) => {
    const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'slu-hmr-')));
    t.after(() => fs.rmSync(root, { recursive: true, force: true }));
    fs.cpSync(FIXTURE, root, { recursive: true });
    fs.cpSync(path.join(browserDir, 'test/fixtures/dev'), root, { recursive: true });
    fs.symlinkSync(path.join(repositoryDir, 'node_modules'), path.join(root, 'node_modules'));
    fs.writeFileSync(path.join(root, 'dev.mjs'), DEV);
    const tsx = import.meta.resolve('tsx');
    const sluice = await running(t, {
      dev: true,
      cwd: root,
      command: [process.execPath, '--import', tsx, 'dev.mjs'],
      startTimeoutMs: 120_000,
    });
    const { page, said } = await view(t);
    await page.goto(sluice.url);
    await settled(page);
    await page.evaluate('globalThis.isSame = true');
    await page.getByText('add: 1').click();
    await page.getByText('add: 2').waitFor();
    const before = (await sluice.status()).workers.map(({ pid }) => pid);
    const file = path.join(root, 'components/Counter.jsx');
    const text = fs.readFileSync(file, 'utf8');
    assert.ok(text.includes("label = 'add'"));
    fs.writeFileSync(file, text.replace("label = 'add'", "label = 'plus'"));
    await page.getByText('plus: 2').waitFor();
    assert.equal(await page.evaluate('globalThis.isSame'), true);
    assert.match(await (await fetch(sluice.url)).text(), /plus/);
    assert.deepEqual(
      (await sluice.status()).workers.map(({ pid }) => pid),
      before,
    );
    assert.deepEqual(said, []);
  },
);
