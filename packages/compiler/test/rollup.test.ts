/** A bundle built by Rollup, which has no notion of server and client. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ComponentType } from 'react';
import { type Plugin, rollup } from 'rollup';
import sluice from '../src/vite.js';
import { APP, load } from './support/output.js';
import { own } from './support/versions.js';

type Page = ComponentType<{ items: string[] }>;

async function bundled(plugins: Plugin[]): Promise<string> {
  const bundle = await rollup({ input: `${APP}page.jsx`, jsx: 'react-jsx', external: /^[^./]/, plugins });
  const { output } = await bundle.generate({ format: 'es', sourcemap: true });
  return output[0].code;
}

void test('the bundle is compiled, and gives the same HTML', async () => {
  const [plain, compiled] = [await bundled([]), await bundled([sluice()])];
  assert.match(compiled, /import \{ template \} from '@sluice\/react\/template'/);
  const html = async (name: string, code: string): Promise<string> => {
    const { default: Page } = await load<{ default: Page }>(name, code);
    return own.server.renderToString(own.react.createElement(Page, { items: ['a', '<b>'] }));
  };
  const expected = await html('plain.mjs', plain);
  assert.match(expected, /^<section class="page"><b>a<\/b> and<!-- --> /);
  assert.equal(await html('compiled.mjs', compiled), expected);
});

void test('files that are not included stay as they are', async () => {
  assert.doesNotMatch(await bundled([sluice({ include: /\.tsx$/ })]), /sluice/);
});
