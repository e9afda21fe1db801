// Which chunks become one file: hostile graphs, and what stays when something changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GroupMember, type GroupPlan, type GroupedChunk, planGroups } from '../src/vite/groups.ts';
import { literalSettings } from '../src/vite/settings.ts';
import { parseAst } from 'vite';

const BYTES_MAX = 1000;

type Given = Partial<Omit<GroupedChunk, 'fileName'>> & { readonly bytes?: number; readonly kind?: string };

/** A chunk for each name; those with capitals are components. */
function planOf(given: Readonly<Record<string, Given>>): GroupPlan {
  const bundle: Record<string, GroupedChunk | { type: 'asset' }> = { 'a/style.css': { type: 'asset' } };
  const members: GroupMember[] = [];
  for (const [name, { bytes = 100, kind = '', ...rest }] of Object.entries(given)) {
    const fileName = name.includes('/') ? name : `a/${name}.js`;
    const isComponent = /^[A-Z]/.test(name);
    const at = (names: readonly string[] = []): readonly string[] => names.map((each) => `a/${each}.js`);
    bundle[fileName] = {
      type: 'chunk',
      code: 'x'.repeat(bytes),
      isEntry: isComponent,
      moduleIds: [],
      exports: ['default'],
      ...rest,
      fileName,
      imports: at(rest.imports),
      dynamicImports: at(rest.dynamicImports),
    };
    if (isComponent) members.push({ key: name, fileName, kind });
  }
  return planGroups(bundle, members, BYTES_MAX);
}

const membersOf = ({ groups }: GroupPlan): readonly string[] => {
  const lists: string[] = groups.map(({ members }) => {
    const keys = members.map(({ key }) => key);
    return keys.toSorted().join(' ');
  });
  return lists.toSorted();
};
const moved = ({ shared, groups }: GroupPlan): readonly string[] =>
  [...shared.flat(), ...groups.flatMap(({ chunks }) => chunks)].toSorted();
const numbered = (count: number, of: (index: number) => Given): Record<string, Given> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`C${index}`, of(index)]));

void test('small components are one group, and a helper that only they need is in it', () => {
  const plan = planOf({ A: { imports: ['help'] }, B: { imports: ['help'] }, help: {} });
  assert.deepEqual(membersOf(plan), ['A B']);
  assert.deepEqual(plan.groups[0]?.chunks, ['a/help.js', 'a/A.js', 'a/B.js']);
  assert.deepEqual(plan.shared, []);
});

void test('no group is larger than the bound, but for one component that is', () => {
  const plan = planOf({ ...numbered(100, () => ({ bytes: 90 })), Large: { bytes: 5000 } });
  for (const { members } of plan.groups) {
    const bytes = members.length * 90;
    assert.ok(bytes <= BYTES_MAX || members[0]?.key === 'Large', membersOf(plan).join());
  }
  assert.ok(membersOf(plan).includes('Large'));
  assert.ok(plan.groups.length <= 25, `${plan.groups.length} groups`);
  assert.equal(plan.groups.flatMap(({ members }) => members).length, 101);
});

void test('a component more, or a larger one, changes no group but its own', () => {
  const all = numbered(60, () => ({ bytes: 90 }));
  const before = new Set(membersOf(planOf(all)));
  for (const changed of [
    { ...all, New: { bytes: 90 } },
    { ...all, C7: { bytes: 300 } },
  ]) {
    const others = membersOf(planOf(changed)).filter((group) => !before.has(group));
    // Its group, or the two halves of it.
    assert.ok(others.length <= 2, others.join('; '));
  }
});

void test('components of a folder are together', () => {
  const given: Record<string, Given> = {};
  for (const folder of ['Shop', 'User', 'Blog', 'Help'])
    for (const name of ['One', 'Two', 'Three', 'Four']) given[`${folder}${name}`] = { bytes: 200 };
  const bundle: Record<string, GroupedChunk> = {};
  const members = Object.keys(given).map((name): GroupMember => {
    const key = name.replace(/(?=One|Two|Three|Four)/, '/');
    const fileName = `a/${name}.js`;
    bundle[fileName] = {
      type: 'chunk',
      fileName,
      code: 'x'.repeat(200),
      isEntry: true,
      imports: [],
      dynamicImports: [],
      moduleIds: [],
      exports: [],
    };
    return { key, fileName, kind: '' };
  });
  const { groups } = planGroups(bundle, members, BYTES_MAX);
  for (const folder of ['Shop', 'User', 'Blog', 'Help']) {
    const having = groups.filter((group) => group.members.some(({ key }) => key.startsWith(folder)));
    assert.equal(having.length, 1, folder);
  }
});

void test('other frameworks, other kinds and other large imports are other groups', () => {
  const react = ['/app/node_modules/react/index.js'];
  const plan = planOf({
    React1: { imports: ['react'] },
    React2: { imports: ['react'] },
    Vue: { moduleIds: ['/app/node_modules/@vue/runtime-core/dist/index.js'] },
    Plain: {},
    Seldom: { kind: 'seldom' },
    Chart: { imports: ['chart'] },
    Graph: { imports: ['chart'] },
    react: { moduleIds: react, bytes: 500 },
    chart: { bytes: 90_000 },
  });
  assert.deepEqual(membersOf(plan), ['Chart Graph', 'Plain', 'React1 React2', 'Seldom', 'Vue']);
  assert.ok(!moved(plan).includes('a/chart.js'));
});

void test('what something other than a component imports keeps its file, and so do its imports', () => {
  const plan = planOf({
    A: { imports: ['used', 'free'], dynamicImports: ['later'] },
    B: { imports: ['used', 'free'] },
    entry: { isEntry: true, imports: ['used'] },
    used: { imports: ['deep'] },
    deep: {},
    later: { imports: ['below'] },
    below: {},
    free: {},
  });
  assert.deepEqual(moved(plan), ['a/A.js', 'a/B.js', 'a/free.js']);
});

void test('a component that is imported later keeps its file', () => {
  assert.deepEqual(membersOf(planOf({ A: { dynamicImports: ['B'] }, B: {}, C: {} })), ['A C']);
});

void test('chunks in a circle, in another folder, or with names that are none keep their files', () => {
  const plan = planOf({
    A: { imports: ['round'] },
    B: { imports: ['trip'] },
    round: { imports: ['trip'] },
    trip: { imports: ['round'] },
    C: { exports: ['default', 'a-b'] },
    'b/Elsewhere.js': { isEntry: false },
  });
  assert.deepEqual(moved(plan), ['a/A.js', 'a/B.js']);
});

void test('files of shared chunks import earlier ones alone, and have the bound of groups', () => {
  const all: Record<string, Given> = {};
  // Each helper imports the one before, and each is needed by components of two kinds.
  for (let index = 0; index < 12; index += 1) {
    all[`h${index}`] = { bytes: 300, imports: index > 0 ? [`h${index - 1}`] : [] };
    all[`A${index}`] = { kind: 'one', imports: [`h${index}`] };
    all[`B${index}`] = { kind: 'two', imports: [`h${index}`] };
  }
  const { shared } = planOf(all);
  assert.deepEqual(
    shared.map((part) => part.length),
    [3, 3, 3, 3],
  );
  const place = new Map(shared.flatMap((part, index) => part.map((file) => [file, index] as const)));
  for (let index = 1; index < 12; index += 1)
    assert.ok((place.get(`a/h${index}.js`) ?? 0) >= (place.get(`a/h${index - 1}.js`) ?? 99));
});

void test('a helper of one framework is in no file with those that others need', () => {
  const react = ['/app/node_modules/react/jsx-runtime.js'];
  const vue = ['/app/node_modules/vue/index.js'];
  const plan = planOf({
    A: { kind: 'one', imports: ['jsx', 'all'] },
    B: { kind: 'two', imports: ['jsx', 'all'] },
    V: { moduleIds: vue, imports: ['all'] },
    jsx: { moduleIds: react, imports: ['deep'] },
    all: {},
    deep: {},
  });
  assert.deepEqual(plan.shared, [['a/all.js'], ['a/deep.js', 'a/jsx.js']]);
});

void test('a component that those of another group import is in a shared file', () => {
  const plan = planOf({ A: { kind: 'one' }, B: { kind: 'two', imports: ['A'] } });
  assert.deepEqual(plan.shared, [['a/A.js']]);
  assert.deepEqual(membersOf(plan), ['A', 'B']);
  const chunks = plan.groups.map((group) => group.chunks.join());
  assert.deepEqual(chunks.toSorted(), ['', 'a/B.js']);
});

void test('a build without components has no groups', () => {
  assert.deepEqual(planOf({ entry: { isEntry: true } }), { shared: [], groups: [] });
});

void test('settings are read where they are literal, and otherwise not', () => {
  const read = (code: string): unknown => Object.fromEntries(literalSettings(parseAst(code)));
  const both = "adapter:'plain',hydration:`visible`";
  assert.deepEqual(read(`var t={${both}};export{t as settings,e as default};var e`), {
    adapter: 'plain',
    hydration: 'visible',
  });
  assert.deepEqual(read(`export{t as "settings"};let t={'adapter':"plain"}`), { adapter: 'plain' });
  for (const code of [
    'export const a = 1',
    'const settings = { adapter: "plain" }',
    'import {s} from "./x.js";export{s as settings}',
    'let s=f({adapter:"plain"});export{s as settings};function f(){}',
    'let a=`x`;let s={adapter:a,[a]:`y`,hydration:`${a}`,...a,rendering(){}};export{s as settings}',
    'export{s as settings};let {s}={s:{adapter:"plain"}}',
    'export{s as settings}from"./x.js";let s={adapter:"plain"}',
  ])
    assert.deepEqual(read(code), {}, code);
});
