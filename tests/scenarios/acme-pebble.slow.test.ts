// Certificates from pebble, Let's Encrypt's CA for tests: both challenges, nonces that are refused, an external account, renewal.
// `go install github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.1` installs it.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { type Sluice, app, startSluice } from '../support/sluice.ts';
import { FakeCa } from './fake-ca.ts';
import { end } from './scenario.ts';
import { missing } from './with-tls.ts';

const gopath = spawnSync('go', ['env', 'GOPATH'], { encoding: 'utf8' }).stdout?.trim() ?? '';
const programs = ['pebble', path.join(gopath, 'bin/pebble')];
const pebble = programs.find((program) => spawnSync(program, ['-version']).error === undefined);
const skip = missing !== false ? missing : pebble === undefined && 'pebble is not installed; see install.sh';

const EAB = { id: 'shop', key: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W' };

/** Everything that is asked of it over HTTPS with the certificate of `ca`. */
async function get(port: number, target: string, ca: FakeCa): Promise<Buffer> {
  const request = https.get({ port, path: target, servername: 'localhost', ca: ca.root, agent: false });
  const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream];
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

async function certificate(sluice: Sluice, ca: Buffer): Promise<string | undefined> {
  const socket = tls.connect({ port: sluice.port, host: '127.0.0.1', servername: 'localhost', ca });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate().serialNumber;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

async function run(t: TestContext, challenge: 'http-01' | 'tls-alpn-01'): Promise<void> {
  assert.ok(pebble);
  const [port, management, redirect] = [await freePort(), await freePort(), await freePort()];
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-pebble-'));
  // For the certificate of pebble's own HTTPS.
  const own = new FakeCa(t, port);
  const [cert, key] = own.ownFiles(dir);
  const acme = [
    `[acme]\nnames = ["localhost"]\nterms_agreed = true\ncontact = "ops@shop.test"\nca_file = "${own.caFile}"`,
    `directory = "https://localhost:${port}/dir"\ndir = "${path.join(dir, 'state')}"`,
    `eab_key_id = "${EAB.id}"\neab_hmac_key = "${EAB.key}"`,
  ].join('\n');
  const sluice = await startSluice({
    entry: app('echo.js'),
    config: acme,
    workers: 1,
    waitUntilReady: false,
    env: challenge === 'http-01' ? { SLUICE_SERVER_REDIRECT_PORT: String(redirect) } : {},
  });
  t.after(() => end(sluice));
  const config = {
    pebble: {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: cert,
      privateKey: key,
      httpPort: redirect,
      tlsPort: sluice.port,
      ocspResponderURL: '',
      externalAccountBindingRequired: true,
      externalAccountMACKeys: { [EAB.id]: EAB.key },
      retryAfter: { authz: 1, order: 1 },
      profiles: { default: { description: 'short', validityPeriod: 30 } },
    },
  };
  fs.writeFileSync(path.join(dir, 'config.json'), JSON.stringify(config));
  // No waits before validations; a third of the nonces refused.
  const env = { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '33' };
  const output = fs.openSync(path.join(dir, 'log'), 'a');
  const ca = spawn(pebble, ['-config', path.join(dir, 'config.json')], {
    env,
    stdio: ['ignore', output, output],
  });
  t.after(() => {
    ca.kill();
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const root = await eventually(async () => get(management, '/roots/0', own).catch(() => undefined), {
    what: 'pebble',
  });
  const told = (cause: unknown): never => {
    const log = fs.readFileSync(path.join(dir, 'log'), 'utf8');
    throw new Error(`pebble said:\n${log}\nSluice said:\n${sluice.stdout}`, { cause });
  };
  const first = await eventually(async () => certificate(sluice, root), {
    what: 'a certificate',
    deadlineMs: 60_000,
  }).catch(told);
  await eventually(
    async () => {
      const now = await certificate(sluice, root);
      return now !== undefined && now !== first;
    },
    { what: 'a renewal', deadlineMs: 60_000 },
  ).catch(told);
}

for (const challenge of ['http-01', 'tls-alpn-01'] as const) {
  void test(`pebble gives a certificate and its successor by ${challenge}`, { skip }, async (t) => {
    await run(t, challenge);
  });
}
