/** Errors are reported where they stand in the source. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { SourceMap } from 'node:module';
import { test } from 'node:test';
import { transformSync } from 'esbuild';
import { compile } from '../src/compile.js';
import { APP, write } from './support/output.js';

const SOURCE = `import { renderToString } from 'react-dom/server';

const boom = (): string => {
  throw new Error('boom');
};

function Page({ title }: { title: string }) {
  return (
    <main className="page">
      <h1>{title}</h1>
      <p>
        Text
        {boom()}
      </p>
    </main>
  );
}

renderToString(<Page title="t" />);
`;

const PATH = `${APP}boom.tsx`;

async function compiled(): Promise<{ code: string; map: object }> {
  const result = await compile(SOURCE, PATH);
  assert.ok(result?.map);
  return { code: result.code, map: result.map };
}

const lineOf = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split('\n').length;

void test('an error thrown in a hole has the line and column of the source', async () => {
  const { code, map } = await compiled();
  const inline = `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;
  const built = transformSync(inline, {
    loader: 'tsx',
    jsx: 'automatic',
    format: 'esm',
    sourcemap: 'inline',
    sourcefile: PATH,
  });
  const { stderr } = spawnSync(process.execPath, ['--enable-source-maps', write('boom.mjs', built.code)], {
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const line = lineOf(SOURCE, '{boom()}');
  const column = (SOURCE.split('\n')[line - 1] ?? '').indexOf('boom') + 1;
  assert.match(stderr, new RegExp(`at Page \\(.*boom\\.tsx:${line}:${column}\\)`));
});

void test('the ordinary element of a template maps to the JSX it was made from', async () => {
  const { code, map } = await compiled();
  const generated = lineOf(code, '=> <main') - 1;
  const column = (code.split('\n')[generated] ?? '').indexOf('=> <main') + 3;
  const entry = new SourceMap(map as ConstructorParameters<typeof SourceMap>[0]).findEntry(generated, column);
  assert.ok('originalLine' in entry);
  assert.equal(entry.originalLine, lineOf(SOURCE, '<main') - 1);
});
