// Packages as they are published: what they hold, whether every kind of import finds code and types, and what they say of themselves.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { PLATFORMS, packageOf } from '../../packaging/platforms.ts';
import { ChangedFileError, tarballsInOrder } from '../../packaging/release.ts';
import { publishedPackages, releaseVersion, repositoryUrl } from '../../packaging/workspace.ts';
import { repositoryDir } from '../support/sluice.ts';
import { toolsDir } from './registry.ts';
import { releaseForTest } from './tarballs.ts';

const skip = !fs.existsSync(toolsDir) && 'packaging/node_modules is not installed';
// As in a workflow, which says where it runs.
process.env['GITHUB_REPOSITORY'] ??= 'owner/name';
const packed = await releaseForTest({ after });

function tool(name: string, ...args: string[]): string | undefined {
  const { status, stdout, stderr } = spawnSync(path.join(toolsDir, '.bin', name), args, { encoding: 'utf8' });
  return status === 0 ? undefined : `${args.join(' ')}\n${stdout}${stderr}`;
}

/** Faults that attw finds. Packages may be for `import` alone, or have entries for `require` as well. */
function wrongTypes(file: string, exports: Exports): readonly (string | undefined)[] {
  const entries = Object.keys(exports);
  const required = entries.filter((entry) => isRequired(exports[entry]));
  const checks = [
    ['node16', required],
    ['esm-only', entries.filter((entry) => !required.includes(entry))],
  ] as const;
  return checks.flatMap(([profile, chosen]) =>
    chosen.length === 0
      ? []
      : [
          tool(
            'attw',
            file,
            '--profile',
            profile,
            '--format',
            'ascii',
            '--no-emoji',
            '--entrypoints',
            ...chosen,
          ),
        ],
  );
}

type Exports = Readonly<Record<string, unknown>>;

function isRequired(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && 'require' in entry;
}

void test('publint finds nothing, and each kind of import finds its types', { skip }, () => {
  const { folders, tarballs } = packed;
  assert.equal(folders.length, PLATFORMS.length + publishedPackages().length);
  const found = folders.map((folder) => tool('publint', 'run', folder, '--strict'));
  const exportsOf = new Map(
    publishedPackages().map(({ manifest }) => [
      manifest.name,
      (manifest as unknown as { exports: Exports }).exports,
    ]),
  );
  for (const { name, file } of tarballs) found.push(...wrongTypes(file, exportsOf.get(name) ?? {}));
  assert.equal(found.filter((problem) => problem !== undefined).join('\n'), '');
});

void test('each package says what it is, whose it is and where it comes from', () => {
  const { folders } = packed;
  for (const folder of folders) {
    const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    const name = String(manifest['name']);
    for (const field of [
      'version',
      'description',
      'license',
      'repository',
      'homepage',
      'bugs',
      'engines',
      'files',
    ])
      assert.ok(manifest[field] !== undefined, `${name} has no ${field}`);
    for (const field of ['scripts', 'devDependencies'])
      assert.equal(manifest[field], undefined, `${name} publishes its ${field}`);
    assert.equal(manifest['version'], releaseVersion(), name);
    for (const file of ['README.md', 'LICENSE'])
      assert.ok(fs.existsSync(path.join(folder, file)), `${name}: ${file}`);
  }
  for (const { manifest } of publishedPackages()) {
    assert.ok((manifest.keywords ?? []).length > 0, `${manifest.name} has no keywords`);
    assert.ok(
      'sideEffects' in manifest,
      `${manifest.name} does not say whether its modules have side effects`,
    );
  }
});

void test('all packages and the gateway have one version, and depend on exactly that of each other', () => {
  const cargo = fs.readFileSync(path.join(repositoryDir, 'gateway/Cargo.toml'), 'utf8');
  assert.equal(/\[workspace\.package\]\nversion = "(.+)"/.exec(cargo)?.[1], releaseVersion());
  for (const { manifest } of publishedPackages()) {
    assert.equal(manifest.version, releaseVersion(), manifest.name);
    for (const [name, range] of Object.entries(manifest.dependencies ?? {}))
      if (name.startsWith('@sluice/')) assert.equal(range, releaseVersion(), `${manifest.name} on ${name}`);
  }
});

void test('the command looks for exactly the packages of binaries that there are', () => {
  const { folders } = packed;
  const staged = folders.find((folder) => path.basename(folder) === 'sluice') ?? '';
  const { optionalDependencies } = JSON.parse(fs.readFileSync(path.join(staged, 'package.json'), 'utf8')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  assert.deepEqual(Object.keys(optionalDependencies), PLATFORMS.map(packageOf));
  const source = fs.readFileSync(path.join(repositoryDir, 'packages/sluice/bin/find.js'), 'utf8');
  const [, names = ''] = /const PLATFORMS = \[(.*)\]/.exec(source) ?? [];
  assert.deepEqual(
    names.split(', ').map((name) => name.slice(1, -1)),
    PLATFORMS.map(({ name }) => name),
  );
});

void test('the bill of materials names the crates of the binary with their checksums and licences', () => {
  const file = path.join(packed.dir, `sluice-${releaseVersion()}.cdx.json`);
  const { components } = JSON.parse(fs.readFileSync(file, 'utf8')) as {
    readonly components: readonly {
      readonly name: string;
      readonly purl: string;
      readonly licenses: readonly { readonly expression: string }[];
      readonly hashes?: readonly { readonly content: string }[];
    }[];
  };
  for (const name of ['tokio', 'rustls', 'zstd-sys', 'security-framework', 'preact'])
    assert.ok(
      components.some((component) => component.name === name),
      name,
    );
  // Crates of tests and of macros are in no binary.
  for (const name of ['proptest', 'syn'])
    assert.ok(!components.some((component) => component.name === name), name);
  for (const { purl, licenses, hashes } of components) {
    assert.match(licenses[0]?.expression ?? '', /^[\w.\- ()]+$/, purl);
    if (purl.startsWith('pkg:cargo/')) assert.match(hashes?.[0]?.content ?? '', /^[0-9a-f]{64}$/, purl);
  }
});

void test('a tarball that has changed since its checksum was taken is not published', () => {
  const [first = ''] = tarballsInOrder(packed.dir);
  const content = fs.readFileSync(first);
  fs.appendFileSync(first, 'x');
  assert.throws(() => tarballsInOrder(packed.dir), ChangedFileError);
  fs.writeFileSync(first, content);
  assert.equal(tarballsInOrder(packed.dir).length, packed.tarballs.length);
});

void test('the image is made of files that a release has, and names every platform of Linux', () => {
  const dockerfile = fs.readFileSync(path.join(repositoryDir, 'packaging/Dockerfile'), 'utf8');
  const sources = [...dockerfile.matchAll(/^COPY (\S+) \/opt\/sluice\//gm)].map(([, source = '']) => source);
  const stageDir = path.dirname(packed.folders[0] ?? '');
  for (const source of sources) {
    const file = source.startsWith('dist/stage/')
      ? path.join(stageDir, source.slice('dist/stage/'.length))
      : path.join(repositoryDir, source);
    assert.ok(fs.existsSync(file), source);
  }
  for (const { name, os } of PLATFORMS)
    assert.equal(sources.includes(`dist/stage/${name}/bin/sluice`), os === 'linux', name);
  assert.match(dockerfile, /^ENTRYPOINT \["\/opt\/sluice\/sluice"\]$/m);
});

void test('the repository that packages name is the one whose workflow builds them', () => {
  assert.equal(repositoryUrl({}), undefined);
  assert.equal(repositoryUrl({ GITHUB_REPOSITORY: 'owner/name' }), 'https://github.com/owner/name');
  const [folder = ''] = packed.folders;
  const { repository } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
    repository: { url: string };
  };
  assert.equal(repository.url, `git+${repositoryUrl()}.git`);
});
