// Headers with `_` in their names: which of them reach the app is the configuration's choice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app } from '../support/sluice.ts';
import { ask, running } from './scenario.ts';

const own = 'api_key: secret\r\n';
const alias = 'X_Forwarded_For: 6.6.6.6\r\n';
const twice = 'api_key: secret\r\napi-key: public\r\n';
const gateways = 'X_Sluice_Request: id=1\r\n';

/** Statuses of requests with these headers, and what the app got of the first. */
const rules: [string, number[]][] = [
  ['distinct', [200, 400, 400, 400]],
  ['refuse', [400, 400, 400, 400]],
  ['pass', [200, 200, 200, 400]],
];

for (const [rule, statuses] of rules) {
  void test(`underscore_headers = "${rule}"`, async (t) => {
    const config = `[server]\nunderscore_headers = "${rule}"\n`;
    const sluice = await running(t, { entry: app('echo.js'), workers: 1, config });
    const answers = [];
    for (const headers of [own, alias, twice, gateways]) answers.push(await ask(sluice, '/', { headers }));
    assert.deepEqual(
      answers.map(({ status }) => status),
      statuses,
    );
    for (const answer of answers) {
      if (answer.status === 400) assert.equal(answer.headers.get('x-sluice-error'), 'SLU-HEADER-ALIAS');
    }
    if (answers[0]?.status === 200) {
      const { headers } = JSON.parse(answers[0].body.toString()) as { headers: Record<string, string> };
      assert.equal(headers['api_key'], 'secret');
    }
  });
}
