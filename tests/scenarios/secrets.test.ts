// Secrets of the gateway's own stay with it: they are in no worker's environment, and nothing prints them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { app, repositoryDir, runSluice, type StartOptions } from '../support/sluice.ts';
import { ask, ownApp, running } from './scenario.ts';

/** Part of every secret here, and of nothing else. */
const SECRET = 'hunter2hunter2hunter2';

/** What each variable that the catalogue calls a secret is set to. */
const secrets: Record<string, string> = {
  SLUICE_ACME_EAB_HMAC_KEY: SECRET,
  SLUICE_ADMIN_TOKEN: SECRET,
  SLUICE_CACHE_SHARED_URL: `redis://user:${SECRET}@127.0.0.1:1/0`,
};

const env = { ...secrets, SLUICE_ACME_EAB_KEY_ID: 'account', SLUICE_CACHE_ENABLED: 'true' };

/** Variables of the keys that the reference calls secrets. */
function secretVariables(): string[] {
  const reference = fs.readFileSync(path.join(repositoryDir, 'docs/reference/config.md'), 'utf8');
  return reference.split('\n### ').flatMap((key) => {
    const variable = /^- Environment: `(\w+)`/m.exec(key)?.[1];
    return variable !== undefined && /^- Secret: /m.test(key) ? [variable] : [];
  });
}

const entry = ownApp('shows-environment.js');
const starts: Record<string, StartOptions> = {
  'a script': { entry },
  'a command': { command: ['sh', '-c', `exec node ${entry}`] },
  'an app that is developed': { entry, dev: true, cwd: path.dirname(entry) },
};

for (const [name, options] of Object.entries(starts))
  void test(`no secret of the gateway is in the environment of ${name}, or in a line of the log`, async (t) => {
    assert.deepEqual(secretVariables().toSorted(), Object.keys(secrets).toSorted());
    const sluice = await running(t, { ...options, env: { ...env, OF_THE_APP: 'its own word' } });
    const found = async (text: string): Promise<unknown> =>
      JSON.parse((await ask(sluice, `/?text=${encodeURIComponent(text)}`)).body.toString());
    assert.deepEqual(await found(SECRET), []);
    assert.ok(((await found('its own word')) as string[]).includes('OF_THE_APP=its own word'));
    const status = await sluice.cli(['status', '--json']);
    assert.equal(status.code, 0, status.stderr);
    for (const text of [sluice.stdout, sluice.stderr, status.stdout])
      assert.ok(!text.replaceAll(`text=${SECRET}`, '').includes(SECRET), text);
  });

void test('sluice check shows that secrets are set, and none of them', async () => {
  for (const flags of [[], ['--json']]) {
    const { code, stdout, stderr } = await runSluice(['check', app('trivial.js'), ...flags], { env });
    assert.equal(code, 0, stderr);
    for (const variable of Object.keys(secrets)) assert.ok(stdout.includes(variable), variable);
    assert.ok(!(stdout + stderr).includes('hunter2'), stdout);
  }
});
