// Code that components of one file import, share or throw, and what a change of it changes.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createBuilder } from 'vite';
import { app, boxes, built, failures, fileOf, serve } from './support/app.ts';
import { noBrowser, settled, view } from './support/browser.ts';
import { type Built, config } from './support/build.ts';
import { shopFiles } from './support/shop.ts';

const options = { skip: noBrowser };

void test('a changed component changes the file that it is in', async () => {
  const files = (of: Built): readonly string[] => fs.readdirSync(path.join(of.folder, 'client/assets'));
  const all = shopFiles();
  const root = app(all);
  const before = files(await built(root));
  assert.deepEqual(files(await built(root)), before);
  const code = all['components/Part07.jsx'] ?? '';
  const other = app({
    ...all,
    'components/Part07.jsx': code.replace('useState(start)', 'useState(start + 1)'),
  });
  const changed = files(await built(other)).filter((file) => !before.includes(file));
  assert.deepEqual(
    changed.map((file) => file.replace(/-[\w-]{8}\.js$/, '')),
    ['components', 'registry', 'sluice'],
  );
});

void test('what a component imports later comes with its styles', options, async (t) => {
  const part = (name: string): string => `import { useState } from 'react';
export default function ${name}() {
  const [more, set] = useState('');
  const open = () => import('./_More.js').then(({ text }) => set(text));
  return <button type="button" onClick={open}>${name} {more}</button>;
}
`;
  const own = await built(
    app({
      'components/First.jsx': part('First'),
      'components/Second.jsx': part('Second'),
      'components/_More.js': "import './_more.css';\nexport const text = 'is more';\n",
      'components/_more.css': 'button { color: rgb(9, 9, 9); }\n',
    }),
  );
  assert.equal(fileOf(own, 'First'), fileOf(own, 'Second'));
  const { page, said } = await view(t);
  await page.goto(await serve(t, own, boxes(['First', 'Second'])));
  await settled(page);
  for (const name of ['First', 'Second']) {
    await page.getByText(name).click();
    await page.getByText(`${name} is more`).waitFor();
  }
  const colour = await page.getByText('First').evaluate((element) => getComputedStyle(element).color);
  assert.equal(colour, 'rgb(9, 9, 9)');
  assert.deepEqual(said, []);
});

void test('a component that others import, also later, works in each place', options, async (t) => {
  const own = await built(
    app({
      'components/Inner.jsx': `import { useState } from 'react';
export const label = 'inner';
export default function Inner({ start }) {
  const [count, set] = useState(start);
  return <button type="button" onClick={() => set(count + 1)}>inner {count}</button>;
}
`,
      'components/Outer.jsx': `import Inner, { label } from './Inner.jsx';
export default ({ start }) => <div title={label}><Inner start={start + 10} /></div>;
`,
      'components/Later.jsx': `import { useState } from 'react';
export default function Later() {
  const [label, set] = useState('later');
  return <button type="button" onClick={() => import('./Outer.jsx').then((module) => set(typeof module.default))}>{label}</button>;
}
`,
      'components/Alone.jsx': `export default () => <button type="button" onClick={(event) => (event.target.textContent = 'done')}>alone</button>;\n`,
    }),
  );
  const { page, said } = await view(t);
  await page.goto(await serve(t, own, boxes(['Inner', 'Outer', 'Later', 'Alone'])));
  await settled(page);
  for (const [text, then] of [
    ['inner 1', 'inner 2'],
    ['inner 11', 'inner 12'],
    ['later', 'function'],
    ['alone', 'done'],
  ] as const) {
    await page.getByText(text, { exact: true }).click();
    await page.getByText(then, { exact: true }).waitFor();
  }
  assert.deepEqual(said, []);
});

void test('a module that throws fails the components of its file, and no others', options, async (t) => {
  const own = await built(
    app({
      'components/Broken.jsx':
        "if (typeof window !== 'undefined') throw new Error('not here');\nexport default () => <b>broken</b>;\n",
      'components/Beside.jsx': 'export default () => <b>beside</b>;\n',
      'components/Item.js': shopFiles()['components/vue/Item0.js'] ?? '',
    }),
  );
  assert.equal(fileOf(own, 'Broken'), fileOf(own, 'Beside'));
  const { page } = await view(t);
  const failed = await failures(page);
  await page.goto(await serve(t, own, boxes(['Broken', 'Beside', 'Item'])));
  await settled(page);
  assert.deepEqual((await failed()).toSorted(), ['Beside: code', 'Broken: code']);
  for (const text of ['broken', 'beside']) await page.getByText(text).waitFor();
  await page.getByText('item0 1').click();
  await page.getByText('item0 2').waitFor();
});

void test(
  "an adapter of the app's own gets the component's module, and is called as a method",
  options,
  async (t) => {
    const folder = app({
      'components/One.js': shopFiles()['components/plain/Text0.js'] ?? '',
      'components/Two.js': `export const label = 'two';\n${shopFiles()['components/plain/Text1.js'] ?? ''}`,
      'adapter.js': `class Own {
  mount({ module, view, props, box }) {
    return this.show(module, view(props), box);
  }
  show({ label = 'none' }, html, box) {
    box.innerHTML = html + label;
    return { update() {} };
  }
}
export default new Own();
`,
    });
    const own = await built(folder, { adapters: { plain: 'adapter.js' } });
    assert.equal(fileOf(own, 'One'), fileOf(own, 'Two'));
    const { page, said } = await view(t);
    await page.goto(await serve(t, own, boxes(['One', 'Two'])));
    await settled(page);
    const texts = await page.locator('sluice-box').allTextContents();
    assert.deepEqual(texts, ['text0 1none', 'text1 1two']);
    assert.deepEqual(said, []);
  },
);

void test('source maps of groups name the sources of components', async () => {
  const folder = app({
    'components/First.jsx': 'export default () => <b>first</b>;\n',
    'components/Second.jsx': 'export default () => <b>second</b>;\n',
  });
  const builder = await createBuilder({
    ...config({ manifest: 'assets.json' }),
    root: folder,
    environments: {
      client: { build: { outDir: path.join(folder, 'client'), sourcemap: true } },
      ssr: { build: { outDir: path.join(folder, 'server') } },
    },
  });
  await builder.buildApp();
  const assets = path.join(folder, 'client/assets');
  const [file = ''] = fs.readdirSync(assets).filter((name) => /^components-.*\.js$/.test(name));
  const code = fs.readFileSync(path.join(assets, file), 'utf8');
  assert.deepEqual(code.match(/sourceMappingURL=.*/g), [`sourceMappingURL=${file}.map`]);
  const map = JSON.parse(fs.readFileSync(path.join(assets, `${file}.map`), 'utf8')) as { sources: string[] };
  const own = map.sources
    .map((source) => path.resolve(assets, source))
    .filter((source) => source.startsWith(folder));
  assert.deepEqual(
    own.toSorted(),
    ['First', 'Second'].map((name) => path.join(folder, `components/${name}.jsx`)),
  );
});
