import assert from 'node:assert/strict';
import { get } from 'node:http';
import { test } from 'node:test';
import { FakeGateway, type Line, PUBLIC_PORT, type StartOptions } from './fake-gateway.js';

type Env = NonNullable<StartOptions['env']>;

async function serving(items: readonly unknown[], env: Env = {}): Promise<FakeGateway> {
  return FakeGateway.serve('several.cjs', { args: [JSON.stringify(items)], env });
}

function text(options: { socketPath?: string; port?: number; host?: string }): Promise<string> {
  return new Promise((done, fail) => {
    get(options, (response) => response.on('data', (data) => done(String(data)))).on('error', fail);
  });
}

const listening = (gateway: FakeGateway): Line[] => gateway.lines.filter(({ type }) => type === 'listening');
/** Far longer than a test: whatever is decided is not decided by the clock. */
const patient: Env = { SLUICE_MAIN_WAIT_MS: '600000' };

test('a server that listens before the one on PORT never has the role', async () => {
  const gateway = await serving(
    [
      ['http', 9464],
      ['http', 0],
      ['http', PUBLIC_PORT],
    ],
    patient,
  );
  try {
    assert.equal((await gateway.ask()).body, 'http2');
    const aux = await gateway.line('aux');
    assert.equal(aux['port'], 9464);
    assert.equal(await gateway.furtherText(aux), 'http0');
    const { port } = (await gateway.printed('http1')) as { port: number };
    assert.equal(await text({ port, host: '127.0.0.1' }), 'http1');
    const lines = listening(gateway);
    assert.deepEqual(
      lines.map(({ requested, waited_ms }) => [(requested as { port: number }).port, waited_ms]),
      [[PUBLIC_PORT, null]],
    );
  } finally {
    await gateway.stop();
  }
});

test('without a server on PORT the first on a fixed port is taken after a while, and told with the others', async () => {
  const gateway = await serving([['http', 0], ['brief', 9000], ['http', 8080], ['http', 9464], ['signal']], {
    SLUICE_MAIN_WAIT_MS: '1500',
  });
  try {
    await gateway.printed('signal4');
    assert.equal((await gateway.ask()).body, 'http2');
    const line = await gateway.line('listening');
    assert.deepEqual(line['requested'], { port: 8080, host: null, path: null });
    assert.equal(line['waited_ms'], 1500);
    const ports = (line['others'] as { port: number }[]).map(({ port }) => port);
    // Whatever listens only after the choice is told as a further address.
    assert.ok(ports.includes(0) && !ports.includes(9000), String(ports));
    await gateway.line('aux', ({ port }) => port === 9464);
  } finally {
    await gateway.stop();
  }
});

test('an app that has nothing left to do but wait for connections is not waited for', async () => {
  const gateway = await serving(
    [
      ['http', 9464],
      ['http', 8080],
    ],
    patient,
  );
  try {
    assert.equal((await gateway.ask()).body, 'http0');
    assert.equal((await gateway.line('listening'))['waited_ms'], 0);
    assert.equal((await gateway.line('aux'))['port'], 8080);
    // Alone, its servers keep it alive.
    assert.ok(!gateway.output.includes('beforeExit'), gateway.output);
    assert.equal(gateway.exitCode, undefined);
  } finally {
    await gateway.stop();
  }
});

test('a server that the app lets go of does not keep the process alive', async () => {
  const gateway = await FakeGateway.start('several.cjs', {
    args: [
      JSON.stringify([
        ['http', 8080],
        ['unref', 0],
      ]),
    ],
    env: patient,
  });
  try {
    assert.equal((await gateway.exited()).code, 0);
  } finally {
    await gateway.stop();
  }
});

test('two processes of a worker may open the same address before it is known which of them serves', async () => {
  const gateway = await serving([['http', 9464], ['fork'], ['http', PUBLIC_PORT]], patient);
  try {
    await gateway.printed('opened');
    assert.match((await gateway.ask()).body, /^http/);
    assert.ok(!gateway.output.includes('EADDRINUSE'), gateway.output);
  } finally {
    await gateway.stop();
  }
});

test('a port that the gateway knows from a worker before is taken at once', async () => {
  const gateway = await serving(
    [
      ['http', 9464],
      ['http', 8080],
    ],
    { ...patient, SLUICE_MAIN_PORT: '8080' },
  );
  try {
    assert.equal((await gateway.ask()).body, 'http1');
    assert.equal((await gateway.line('listening'))['waited_ms'], null);
  } finally {
    await gateway.stop();
  }
});

test('a port that the config names has the role, and neither PORT nor time takes it', async () => {
  const env = { SLUICE_MAIN_WAIT_MS: 'never', SLUICE_MAIN_PORT: '8080' };
  const gateway = await serving(
    [
      ['http', PUBLIC_PORT],
      ['http', 9464],
      ['http', 8080],
      ['http', PUBLIC_PORT],
    ],
    env,
  );
  try {
    await gateway.printed('opened');
    assert.equal((await gateway.ask()).body, 'http2');
    assert.equal(listening(gateway).length, 1);
  } finally {
    await gateway.stop();
  }
});

test('an app that says ready has opened all its servers', async () => {
  const gateway = await serving([['http', 0], ['http', 8080], ['ready']], patient);
  try {
    assert.equal((await gateway.ask()).body, 'http1');
  } finally {
    await gateway.stop();
  }
});

test('a main server on port 0 is closed like any other', async () => {
  const gateway = await serving([['http', 0], ['signal'], ['close', 0]]);
  try {
    assert.equal((await gateway.ask()).body, 'http0');
    gateway.child?.kill('SIGUSR2');
    await gateway.line('closing');
  } finally {
    await gateway.stop();
  }
});
