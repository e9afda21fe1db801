// Pages name what exists: imports of code blocks, names in code spans, keys of the configuration with their defaults, commands and
// flags.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fenced, files, prose, read, root } from './repository.ts';

/** What users read. The changelog and decisions speak of the past, and reference pages are generated. */
const pages = files().filter(
  (file) =>
    /^docs\/(?:guide\/|moving\/|recipes\/)?[\w-]+\.md$/u.test(file) ||
    /^(?:README\.md|packages\/[\w-]+\/README\.md)$/u.test(file),
);

const spans = (page: string): string[] =>
  [...prose(read(page)).matchAll(/`([^`\n]+)`/gu)].map(([, span]) => span ?? '');

void test('every name that a code block imports from a package of Sluice is exported', () => {
  const found = pages.flatMap((page) =>
    fenced(read(page), 'js', 'jsx', 'ts', 'tsx', 'vue')
      .flatMap((block) => [...block.matchAll(/^import\s+(?:[\w{}\s,*]+?\sfrom\s+)?'@sluice\/[^']+';?/gmu)])
      .map(([statement]) => ({ page, statement: statement.replaceAll('\n', ' ') })),
  );
  assert.ok(found.length > 20, String(found.length));
  // A file for each, because two may import the same name; beside this one, where the packages are found.
  const folder = fs.mkdtempSync(path.join(root, 'tests/docs/.imports-'));
  try {
    for (const [at, { statement }] of found.entries())
      fs.writeFileSync(path.join(folder, `${at}.ts`), `${statement}\nexport {};\n`);
    const flags = ['--noEmit', '--module', 'nodenext', '--target', 'es2023', '--jsx', 'preserve'];
    const { stdout } = spawnSync(
      path.join(root, 'node_modules/.bin/tsc'),
      [...flags, '--skipLibCheck', ...found.map((_, at) => path.join(folder, `${at}.ts`))],
      { encoding: 'utf8', cwd: root },
    );
    const wrong = [...stdout.matchAll(/(\d+)\.ts\(\d+,\d+\): error (.*)/gu)].map(
      ([, at, error]) => `${found[Number(at)]?.page}: ${error}`,
    );
    assert.deepEqual(wrong, []);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

/** Names that others declare elsewhere, by whose they are. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  Kubernetes: ['emptyDir', 'preStop', 'terminationGracePeriodSeconds'],
  Istio: ['consecutiveGatewayErrors', 'retryOn', 'terminationDrainDuration'],
  'Next.js': ['basePath', 'expireTime', 'revalidatePath'],
  Nitro: ['staleMaxAge'],
  'express-session': ['saveUninitialized'],
  'Node.js, without a declaration': ['httpAllowHalfOpen'],
};

/** Every word of the declarations that packages publish, and of those of the platform and the frameworks; values of the Helm chart; the player's report and globals. */
function words(): Set<string> {
  const own = ['breathe', 'browser', 'compiler', 'graph', 'preload', 'react', 'render', 'screens'].map(
    (name) => `packages/${name}/dist`,
  );
  const others = [
    '@types/node',
    '@types/react',
    '@types/react-dom',
    'typescript/lib',
    'preact',
    'vue',
    '@vue',
  ];
  const texts = [...own, ...others.map((name) => `node_modules/${name}`)].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.d\.[cm]?ts$/u.test(file))
      .map((file) => fs.readFileSync(path.join(root, folder, file), 'utf8')),
  );
  texts.push(read('packaging/helm/sluice/values.yaml'));
  texts.push(
    ...['report.rs', 'player.rs', 'script/mod.rs'].map((file) => read(`screens/player/src/${file}`)),
  );
  return new Set(texts.flatMap((text) => text.match(/\b[a-z]\w*[A-Z]\w*\b/gu) ?? []));
}

void test('every camel-case name in the text of the guide is declared somewhere', () => {
  const known = new Set([...words(), ...Object.values(ELSEWHERE).flat()]);
  const guide = pages.filter((page) => /^docs\/(?:guide\/|[\w-]+\.md$)/u.test(page));
  const unknown = guide.flatMap((page) =>
    spans(page)
      .flatMap((span) => span.match(/(?<![\w$/.-])[a-z]+[A-Z]\w*(?![\w/-])/gu) ?? [])
      .filter((name) => !known.has(name))
      .map((name) => `${page}: ${name}`),
  );
  assert.deepEqual([...new Set(unknown)], []);
});

/** Sections that a word at the top of the file stands for. */
const SHORT = new Set(['react', 'sticky']);

const configKeys = (): Set<string> =>
  new Set([...read('docs/reference/config.md').matchAll(/^### `([\w.]+)`/gmu)].map(([, key]) => key ?? ''));

void test('every key of the configuration and every error code that a page names exists', () => {
  const keys = configKeys();
  const sections = new Set([...keys].map((key) => key.split('.')[0]));
  // Files, and names of other programs.
  const others = /^(?:(?:app|server)\.js|server\.hostname|server\.timeout|render\.out)$/u;
  const codes = new Set(
    [...read('docs/reference/errors.md').matchAll(/^### (SLU-[A-Z-]+)/gmu)].map(([, code]) => code),
  );
  const unknown = pages.flatMap((page) => {
    const named = spans(page)
      .flatMap((span) => /^([a-z]\w*\.[a-z]\w*)(?: = .*)?$/u.exec(span)?.[1] ?? [])
      .filter((key) => sections.has(key.split('.')[0]) && !keys.has(key) && !others.test(key));
    const errors = (read(page).match(/\bSLU-[A-Z-]+[A-Z]\b/gu) ?? []).filter((code) => !codes.has(code));
    return [...named, ...errors].map((name) => `${page}: ${name}`);
  });
  assert.deepEqual([...new Set(unknown)], []);
});

void test('every key in a TOML block of a page exists', () => {
  const keys = configKeys();
  let compared = 0;
  const unknown = pages.flatMap((page) =>
    fenced(read(page), 'toml').flatMap((block) => {
      let section = '';
      // Lists over several lines hold no keys.
      const lines = block.replaceAll(/\[\n[^\]]*\]/gu, '[]').split('\n');
      return lines.flatMap((line) => {
        section = /^\[{1,2}([\w.]+)\]/u.exec(line)?.[1] ?? section;
        const name = /^([a-z]\w*) *=/u.exec(line)?.[1];
        // The names in a table that is a key itself, such as `rate.limits`, are the user's.
        if (name === undefined || keys.has(section)) return [];
        compared += 1;
        const key = section === '' ? name : `${section}.${name}`;
        const isShort = section === '' && SHORT.has(name);
        return keys.has(key) || isShort ? [] : [`${page}: ${key}`];
      });
    }),
  );
  assert.ok(compared > 80, String(compared));
  assert.deepEqual(unknown, []);
});

void test('package and command say alike what Sluice is', () => {
  const [, sentence] = /^```text\n(.+)$/mu.exec(read('docs/reference/cli.md')) ?? [];
  const { description } = JSON.parse(read('packages/sluice/package.json')) as { description: string };
  assert.equal(description, `${sentence}.`);
});

/** Milliseconds or bytes of one, by the units that pages write. */
const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  B: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
};

/** The number that a text begins with, in milliseconds or bytes where it has such a unit. Undefined for another text. */
function figure(text: string): number | undefined {
  const found = /^"?(\d[\d,]*(?:\.\d+)?) ?(?:(ms|s|min|h|B|KiB|MiB|GiB)\b)?/u.exec(text);
  if (found === null) return undefined;
  return Number((found[1] ?? '').replaceAll(',', '')) * (UNITS[found[2] ?? ''] ?? 1);
}

/** Numbers of the catalogue by key. Times in seconds are milliseconds here. */
function defaults(): Map<string, number> {
  const parts = read('docs/reference/config.md')
    .split(/^### `/mu)
    .slice(1);
  const numbers = parts.flatMap((part): [string, number][] => {
    const key = part.slice(0, part.indexOf('`'));
    const value = /^- Default: `(\d+)`/mu.exec(part)?.[1];
    const isSeconds = /^- Type: time: whole number of seconds/mu.test(part);
    return value === undefined ? [] : [[key, Number(value) * (isSeconds ? 1_000 : 1)]];
  });
  return new Map(numbers);
}

void test('every default that a page names is that of the catalogue', () => {
  const known = defaults();
  let compared = 0;
  const wrong = pages.flatMap((page) => {
    const text = prose(read(page));
    const inBrackets = text.matchAll(/`([a-z]\w*\.\w+)` \((?!=)([^)]+)\)/gu);
    // Tables whose second column has defaults, and whose first begins with a key.
    const tables = text.match(/^\|[^|\n]*\| *default *\|.*\n(?:\|.*\n)+/gmu) ?? [];
    const inTables = tables.flatMap((table) => [
      ...table.matchAll(/^\| *`([a-z]\w*\.\w+)`[^|]*\|([^|]+)\|/gmu),
    ]);
    return [...inBrackets, ...inTables].flatMap(([, key = '', value = '']) => {
      const [said, real] = [figure(value.trim()), known.get(key)];
      if (said === undefined || real === undefined) return [];
      compared += 1;
      return said === real ? [] : [`${page}: ${key} is ${real}, not ${value.trim()}`];
    });
  });
  assert.ok(compared > 12, String(compared));
  assert.deepEqual(wrong, []);
});

void test('every command and flag of sluice that a page names exists', () => {
  const reference = read('docs/reference/cli.md');
  const commands = new Map(
    reference
      .split(/^## `sluice /mu)
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf('`')), part]),
  );
  const lines = (page: string): string[] => [
    ...spans(page),
    ...fenced(read(page), 'sh', 'console').flatMap((block) => block.replaceAll('\\\n', ' ').split('\n')),
  ];
  const wrong = pages.flatMap((page) =>
    lines(page).flatMap((line) => {
      const called = /^(?:\$ )?(?:npx )?sluice ([a-z]+)( [^#|]*)?/u.exec(line);
      if (called === null) return [];
      const [, command = '', rest = ''] = called;
      const text = commands.get(command);
      if (text === undefined) return command === 'help' ? [] : [`${page}: sluice ${command}`];
      // What follows `--` is the app's.
      const flags = (rest.split(' -- ')[0] ?? '').match(/(?<=\s)--[a-z][\w-]*/gu) ?? [];
      return flags
        .filter((flag) => !new RegExp(`${flag}\\b(?!-)`, 'u').test(text))
        .map((flag) => `${page}: sluice ${command} ${flag}`);
    }),
  );
  assert.deepEqual([...new Set(wrong)], []);
});
