// A gateway that speaks TLS with a certificate made on the spot, and clients that trust it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { type Sluice, type StartOptions, startSluice } from '../support/sluice.ts';
import { end } from './scenario.ts';

export const missing =
  spawnSync('openssl', ['version']).error === undefined ? false : 'openssl is not installed';

export interface WithTls {
  sluice: Sluice;
  ca: Buffer;
}

export interface Files {
  cert: string;
  key: string;
}

/** Files that last as long as the test. */
export function makeCertificate(t: TestContext, name = 'localhost'): Files {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-tls-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const [cert, key] = [path.join(dir, 'cert.pem'), path.join(dir, 'key.pem')];
  const flags = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2';
  const names = `subjectAltName=DNS:${name},IP:127.0.0.1`;
  const files = ['-keyout', key, '-out', cert];
  const made = spawnSync('openssl', [
    'req',
    ...flags.split(' '),
    '-subj',
    `/CN=${name}`,
    '-addext',
    names,
    ...files,
  ]);
  assert.equal(made.status, 0, made.stderr.toString());
  return { cert, key };
}

/** One worker unless said otherwise. */
export async function startTls(t: TestContext, options: StartOptions): Promise<WithTls> {
  const { cert, key } = makeCertificate(t);
  const env = { ...options.env, SLUICE_SERVER_TLS_CERT: cert, SLUICE_SERVER_TLS_KEY: key };
  const sluice = await startSluice({ workers: 1, ...options, env, waitUntilReady: false });
  t.after(() => end(sluice));
  await eventually(async () => (await fetch(`${sluice.admin}/ready`)).status === 200, { what: 'readiness' });
  return { sluice, ca: fs.readFileSync(cert) };
}

export async function tlsConnection(sluice: Sluice, ca: Buffer): Promise<tls.TLSSocket> {
  const socket = tls.connect({
    port: sluice.port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca,
    ALPNProtocols: ['http/1.1'],
  });
  await once(socket, 'secureConnect');
  return socket;
}
