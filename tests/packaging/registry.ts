// A registry of packages on this machine that has what is published there and nothing else: it asks no other registry.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { repositoryDir } from '../support/sluice.ts';

export const toolsDir = path.join(repositoryDir, 'packaging/node_modules');
const PUBLISH = path.join(repositoryDir, 'packaging/publish.ts');
const run = promisify(execFile);

export interface Registry {
  readonly url: string;
  /** Environment for package managers: this registry, and no settings or caches of whoever runs the test. */
  readonly env: NodeJS.ProcessEnv;
  /** Publishes the release in this folder, and returns what was printed. */
  publish(release: string): Promise<string>;
}

export async function startRegistry(context: TestContext): Promise<Registry> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-registry-'));
  const port = await freePort();
  const config = path.join(dir, 'config.json');
  fs.writeFileSync(
    config,
    JSON.stringify({
      storage: path.join(dir, 'storage'),
      max_body_size: '200mb',
      uplinks: {},
      packages: { '**': { access: '$all', publish: '$all' } },
      log: { type: 'stdout', format: 'json', level: 'warn' },
      web: { enable: false },
    }),
  );
  const output = fs.openSync(path.join(dir, 'output'), 'a');
  const listen = `127.0.0.1:${port}`;
  const child: ChildProcess = spawn(
    process.execPath,
    [path.join(toolsDir, 'verdaccio/bin/verdaccio'), '--config', config, '--listen', listen],
    { stdio: ['ignore', output, output] },
  );
  context.after(() => {
    child.kill('SIGKILL');
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  const url = `http://${listen}/`;
  await eventually(async () => (await fetch(`${url}-/ping`)).status === 200, {
    deadlineMs: 60_000,
    what: `a registry: ${fs.readFileSync(path.join(dir, 'output'), 'utf8')}`,
  });
  const env = environment(dir, url, `//${listen}/:_authToken=anyone`);
  return {
    url,
    env,
    publish: async (release) => {
      // Only a workflow has an identity that provenance could be signed with.
      const args = [PUBLISH, '--from', release, '--no-provenance'];
      return (await run(process.execPath, ['--import', 'tsx', ...args], { env, cwd: repositoryDir })).stdout;
    },
  };
}

function environment(dir: string, url: string, token: string): NodeJS.ProcessEnv {
  const userConfig = path.join(dir, 'npmrc');
  fs.writeFileSync(userConfig, `${token}\n`);
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|pnpm_|yarn_|SLUICE_|NODE_OPTIONS|NODE_TEST_CONTEXT|COREPACK_)/i.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    // Nothing is published outside of a workflow.
    GITHUB_REPOSITORY: 'owner/name',
    npm_config_userconfig: userConfig,
    npm_config_registry: url,
    npm_config_cache: path.join(dir, 'cache'),
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
    YARN_NPM_REGISTRY_SERVER: url,
    YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
    YARN_GLOBAL_FOLDER: path.join(dir, 'yarn'),
    YARN_ENABLE_TELEMETRY: '0',
    // Packages are seconds old here.
    YARN_NPM_MINIMAL_AGE_GATE: '0',
    // Elsewhere than the machine's, so that each test fetches what it installs.
    XDG_CACHE_HOME: path.join(dir, 'xdg-cache'),
    XDG_DATA_HOME: path.join(dir, 'xdg-data'),
    XDG_STATE_HOME: path.join(dir, 'xdg-state'),
  };
}
