// Programs of the guides, as a newcomer writes them: their files, their builds, and the running server.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type TestContext, after } from 'node:test';
import { eventually } from '../../../../tests/support/eventually.ts';

export const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));

/** Files of a section of a guide, by the names in their first lines. */
export function filesIn(guide: string, heading: string): Map<string, string> {
  const whole = fs.readFileSync(path.join(REPOSITORY, 'docs/guide', guide), 'utf8');
  const section = new RegExp(`## ${heading}\n([^]*?)(?:\n## |$)`).exec(whole)?.[1] ?? '';
  const blocks = section.matchAll(/```(?:jsx?|ts)\n\/\/ (\S+)\n([^]*?)```/g);
  return new Map([...blocks].map(([, name = '', code = '']) => [name, code]));
}

const roots: string[] = [];
after(() => {
  for (const root of roots) fs.rmSync(root, { recursive: true, force: true });
});

/** Folder of a project with these files, which is removed after all tests. */
export function projectOf(files: Iterable<readonly [name: string, text: string]>): string {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'sluice-program-')));
  roots.push(root);
  for (const [name, code] of files) {
    const file = path.join(root, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, code);
  }
  fs.writeFileSync(path.join(root, 'package.json'), '{"type":"module"}');
  fs.symlinkSync(path.join(REPOSITORY, 'node_modules'), path.join(root, 'node_modules'));
  return root;
}

export function buildProject(root: string): void {
  const vite = path.join(REPOSITORY, 'node_modules/vite/bin/vite.js');
  execFileSync(process.execPath, [vite, 'build', '--logLevel', 'error'], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production' },
  });
}

export interface Program {
  readonly url: string;
  /** Text that the program has written so far. */
  readonly said: () => string;
}

/** Runs `server.js` of a project until the test ends. */
export async function running(t: TestContext, root: string, mode: string): Promise<Program> {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  const env = { ...process.env, NODE_ENV: mode, PORT: String(port) };
  const child = spawn(process.execPath, ['server.js'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(async () => {
    if (child.exitCode !== null) return;
    child.kill();
    await once(child, 'exit');
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += String(part)));
  const url = `http://localhost:${port}`;
  await eventually(
    async () => {
      assert.equal(child.exitCode, null, said);
      return (await fetch(url)).ok;
    },
    { deadlineMs: 60_000, what: 'an answer' },
  );
  return { url, said: () => said };
}
