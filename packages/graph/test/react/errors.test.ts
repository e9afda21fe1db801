// Errors of the compiler for paths, values and arguments that a schema does not have: what a developer reads in the editor.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const MODULES = join(import.meta.dirname, '../../../../node_modules');
const SOURCES = join(import.meta.dirname, '../../src');
const OPTIONS =
  '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --skipLibCheck --module nodenext --target es2022 --lib es2023,dom --types node --pretty false';

const HEAD = `
import { z } from 'zod';
import { graphHooks } from '${SOURCES}/react/index.js';
import { callable, refTo, typedGraph } from '${SOURCES}/router/index.js';
const graph = typedGraph()({
  list: { '{integers}': refTo('titles[{integers}]') },
  titles: { '{integers}': { name: z.string(), price: z.number(), tags: z.array(z.string()) } },
  me: { votes: z.number(), add: callable(z.tuple([z.string(), z.number()])) },
  // Keys that parts of a schema have themselves.
  odd: { args: z.string(), target: z.string(), count: z.number() },
});
const { useGraph, useModel, useValue } = graphHooks<typeof graph.schema>();
const model = useModel();
`;

/** Lines that compile. */
const RIGHT = [
  `useValue('odd.args')?.trim();`,
  `useValue('odd.count')?.toFixed();`,
  `useValue('list[3].tags')?.map((tag) => tag.trim());`,
  `useGraph('list[0..9]["name","price"]', 'me.votes')?.me?.votes?.toFixed();`,
  'const at = Number(location.hash);',
  'useValue(`list[${at}].name`)?.trim();',
  `void model.setValue('me.votes', 4);`,
  `void model.setValue('titles[1].tags', ['a']);`,
  `void model.call('me.add', ['sku', 2]);`,
  `graph.route('me.add', { call: (_match, [sku, count]) => ({ path: 'me.votes', value: sku.length + count }) });`,
];

/** Lines with the place of their error, and what its text says. */
const WRONG: readonly (readonly [line: string, at: string, says: readonly string[]])[] = [
  [`useValue('you.votes');`, `'you`, ['you.votes', 'the graph has no you there']],
  [`useValue('me.vote');`, `'me`, ['me.vote', 'the graph has no vote there']],
  [`useValue('list[0].similar[1].name');`, `'list`, ['list[0].similar[1].name', 'has no similar there']],
  [`useGraph('me.votes', 'list[0..9]["name","cost"]');`, `'list`, ['list[0..9]', 'has no cost there']],
  [`useGraph('list[0]["cost","size"]');`, `'list`, ['has no cost there', 'has no size there']],
  [`useValue('titles.first.name');`, `'titles`, ['titles.first.name', 'has no first there']],
  [`useGraph('me');`, `'me`, ['me is not a value of the graph']],
  [`useValue('me.add');`, `'me`, ['me.add is a function of the graph']],
  [`void model.get('titles[1].nam');`, `'titles`, ['titles[1].nam', 'has no nam there']],
  [`void model.getValue('odd.arg');`, `'odd`, ['odd.arg', 'has no arg there']],
  [`void model.setValue('me.vots', 4);`, `'me`, ['me.vots', 'has no vots there']],
  [`void model.setValue('me.add', 4);`, `'me`, ['me.add is a function of the graph']],
  [`void model.call('me.ad', ['sku', 2]);`, `'me`, ['me.ad', 'has no ad there']],
  [`void model.call('me.votes', [2]);`, `'me`, ['me.votes is not a function of the graph']],
  [`graph.route('titles[{integers:ids}].nope', { get: () => undefined });`, `'titles`, ['has no nope there']],
  [`graph.route('titles[{keys:ids}].name', { get: () => undefined });`, `'titles`, ['has no {keys} there']],
  // The line names the path, and the error stands at the value.
  [`void model.setValue('me.votes', 'four');`, `'four'`, [`'string'`, `'number'`]],
  [`void model.setValue('titles[1].tags', [5]);`, '5]', [`'number'`, `'string'`]],
  [`void model.setValue('me.votes');`, 'setValue', ['Expected 2 arguments, but got 1']],
  [`void model.call('me.add', ['sku', 'two']);`, `'two'`, [`'string'`, `'number'`]],
  [`void model.call('me.add', ['sku']);`, `['sku']`, ['Source has 1 element(s) but target requires 2']],
  [`const text: string | undefined = useValue('me.votes');`, 'text', [`'number`, `'string`]],
];
/** Bounds an error's text, characters. */
const TEXT_MAX = 320;

interface Told {
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

async function compile(code: string): Promise<Told[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-errors-'));
  try {
    await symlink(MODULES, join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'app.ts'), code);
    const printed = await new Promise<string>((resolve) => {
      const args = [...OPTIONS.split(' '), 'app.ts'];
      execFile(join(MODULES, '.bin/tsc'), args, { cwd: folder }, (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      );
    });
    const told = printed.split(/^(?=\S)/mu).filter((one) => one.trim() !== '');
    return told.map((one) => {
      const found = /^app\.ts\((\d+),(\d+)\): error TS\d+: (.*)$/su.exec(one.trim());
      assert.ok(found, printed);
      return { line: Number(found[1]), column: Number(found[2]), text: found[3] ?? '' };
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

void test('paths, values and arguments of a schema compile', async () => {
  assert.deepEqual(await compile(HEAD + RIGHT.join('\n')), []);
});

void test('errors for others name the path and the key that is wrong, at their place, and are short', async () => {
  const start = HEAD.split('\n').length;
  const told = await compile(HEAD + WRONG.map(([line]) => line).join('\n'));
  assert.deepEqual(
    told.map(({ line }) => line - start),
    WRONG.map((_, at) => at),
    JSON.stringify(told, undefined, 1),
  );
  for (const [at, [line, place, says]] of WRONG.entries()) {
    const { column, text } = told[at] as Told;
    assert.equal(column - 1, line.lastIndexOf(place), `${line}\n${text}`);
    for (const part of says) assert.ok(text.replaceAll('\\"', '"').includes(part), `${line}\n${text}`);
    assert.ok(text.length <= TEXT_MAX, `${text.length} characters: ${text}`);
  }
});
