// The next version, from a file in `.changeset/` to every manifest and lock file, in a copy of the repository.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { files, root } from '../docs/repository.ts';
import { toolsDir } from './registry.ts';

const NEEDED =
  /^(gateway\/(?!fuzz\/)|\.changeset\/|packaging\/([\w-]+\.(ts|json)|helm\/sluice\/Chart\.yaml)$|(packages|examples)\/[\w-]+\/package\.json$|package(-lock)?\.json$|\.npmrc$)/;

const skip = !fs.existsSync(toolsDir) && 'packaging/node_modules is not installed';

void test(
  'a minor change gives packages, gateway, chart and lock files the next minor version',
  { skip },
  (t) => {
    const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-version-'));
    t.after(() => fs.rmSync(copy, { recursive: true, force: true }));
    for (const file of files().filter((file) => NEEDED.test(file))) {
      fs.mkdirSync(path.dirname(path.join(copy, file)), { recursive: true });
      fs.copyFileSync(path.join(root, file), path.join(copy, file));
    }
    for (const modules of ['node_modules', 'packaging/node_modules'])
      fs.symlinkSync(path.join(root, modules), path.join(copy, modules));
    const versionIn = (file: string): string =>
      (JSON.parse(fs.readFileSync(path.join(copy, file), 'utf8')) as { readonly version: string }).version;
    const [major, minor] = versionIn('packages/sluice/package.json').split('.');
    const next = `${major}.${Number(minor) + 1}.0`;
    fs.writeFileSync(path.join(copy, '.changeset/a-change.md'), '---\nsluice: minor\n---\n\nA change.\n');

    const args = ['--import', 'tsx', path.join(copy, 'packaging/version.ts')];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);

    const manifests = fs
      .readdirSync(path.join(copy, 'packages'))
      .map((name) => `packages/${name}/package.json`);
    for (const manifest of manifests) assert.equal(versionIn(manifest), next, manifest);
    const cargo = fs.readFileSync(path.join(copy, 'gateway/Cargo.toml'), 'utf8');
    assert.match(cargo, new RegExp(`\\[workspace\\.package\\]\\nversion = "${next.replaceAll('.', '\\.')}"`));
    const chart = fs.readFileSync(path.join(copy, 'packaging/helm/sluice/Chart.yaml'), 'utf8');
    assert.ok(chart.includes(`\nversion: ${next}\n`), chart);
    const lock = fs.readFileSync(path.join(copy, 'gateway/Cargo.lock'), 'utf8');
    assert.match(lock, new RegExp(`name = "sluice"\\nversion = "${next.replaceAll('.', '\\.')}"`));
    assert.ok(!fs.existsSync(path.join(copy, '.changeset/a-change.md')), 'the change is taken');
  },
);
