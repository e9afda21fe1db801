import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeGateway, type Line } from './fake-gateway.js';

const IDS = [
  'react-dom/server',
  'react-dom/server.node',
  'react-dom/server.edge',
  'react-dom/server.browser',
  'react-dom/static',
  'react-dom/static.node',
  'react-dom/static.edge',
];

async function seen(loads: readonly string[], renderer?: string): Promise<[unknown, Line | undefined]> {
  const env = renderer === undefined ? {} : { SLUICE_REACT: renderer };
  const gateway = await FakeGateway.start('react.cjs', { args: loads, env });
  try {
    const printed = await gateway.printed('seen');
    await gateway.line('beat');
    const told = renderer === undefined ? undefined : await gateway.line('react');
    return [printed, told];
  } finally {
    await gateway.stop();
  }
}

for (const [name, loads] of Object.entries({
  'by require': IDS.map((id) => `require:${id}`),
  'by import': IDS.map((id) => `import:${id}`),
  'static first': ['require:react-dom/static', 'import:react-dom/static', 'require:react-dom/server'],
  'one by import, then by require': ['import:react-dom/server', 'require:react-dom/server'],
})) {
  test(`server modules of react-dom look the same when another renderer is behind them, loaded ${name}`, async () => {
    const [plain] = await seen(loads);
    const [fast, told] = await seen(loads, 'fast');
    assert.deepEqual(fast, plain);
    const strings = loads.filter((load) => load.includes('/server')).length;
    assert.deepEqual(told, { type: 'react', renders: strings, reasons: {} });
  });
}

test('modules that are linked before they run have the renderer', async () => {
  const gateway = await FakeGateway.start('react.mjs', { env: { SLUICE_REACT: 'fast' } });
  try {
    assert.equal(await gateway.printed('html'), '<p>function</p>');
    assert.deepEqual(await gateway.line('react'), { type: 'react', renders: 1, reasons: {} });
  } finally {
    await gateway.stop();
  }
});

test('renders that are left to react-dom are told by why', async () => {
  const gateway = await FakeGateway.start('react.cjs', {
    args: ['require:react-dom/server'],
    env: { SLUICE_REACT: 'fast', NODE_ENV: 'development' },
  });
  try {
    assert.deepEqual(await gateway.line('react'), {
      type: 'react',
      renders: 1,
      reasons: { 'development build': 1 },
    });
  } finally {
    await gateway.stop();
  }
});
