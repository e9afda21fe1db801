// Gateways that get their certificates from a small CA, and clients that trust it.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { type Sluice, app, startSluice } from '../support/sluice.ts';
import type { FakeCa } from './fake-ca.ts';
import { end } from './scenario.ts';
import { quick } from './upgrades.ts';

interface Wanted {
  names?: string[];
  /** Whether there is no port for `http-01`. */
  tlsAlone?: boolean;
  config?: string;
  /** Whether the CA finds the gateway. */
  reachable?: boolean;
}

/** The table `[acme]` for this CA. */
export function acme(ca: FakeCa, dir: string, { names = ['shop.test'], config = '' }: Wanted = {}) {
  return [
    `[acme]\nnames = ${JSON.stringify(names)}\nterms_agreed = true\nca_file = "${ca.caFile}"`,
    `directory = "${ca.directory}"\ndir = "${dir}"\n${config}`,
  ].join('\n');
}

export function folder(t: TestContext): string {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-acme-'));
  t.after(() => {
    // One test mounts something there.
    spawnSync('umount', ['-l', path.join(dir, 'state')]);
    fs.rmSync(dir, { recursive: true, force: true });
  });
  return path.join(dir, 'state');
}

const redirects = new WeakMap<Sluice, number>();
export const redirectOf = (sluice: Sluice) => redirects.get(sluice) ?? 0;

/** A gateway with `http-01` at its redirect port, if it has one, and `tls-alpn-01` at its own. */
export async function start(t: TestContext, ca: FakeCa, dir: string, wanted: Wanted = {}): Promise<Sluice> {
  const redirect = await freePort();
  const env = {
    ...(wanted.tlsAlone === true ? {} : { SLUICE_SERVER_REDIRECT_PORT: String(redirect) }),
    ...quick,
  };
  const config = acme(ca, dir, wanted);
  ca.httpPort = wanted.reachable === false ? await freePort() : redirect;
  const sluice = await startSluice({ entry: app('echo.js'), config, env, workers: 1, waitUntilReady: false });
  ca.tlsPort = sluice.port;
  redirects.set(sluice, redirect);
  t.after(() => end(sluice));
  await eventually(async () => (await fetch(`${sluice.admin}/ready`)).status === 200, { what: 'readiness' });
  return sluice;
}

export async function connect(sluice: Sluice, ca: FakeCa, servername = 'shop.test'): Promise<tls.TLSSocket> {
  const socket = tls.connect({ port: sluice.port, host: '127.0.0.1', servername, ca: ca.root });
  await once(socket, 'secureConnect');
  return socket;
}

/** Serial number of the certificate that a client gets who trusts the CA; `undefined` where the handshake fails. */
export async function serial(sluice: Sluice, ca: FakeCa, servername?: string): Promise<string | undefined> {
  const socket = await connect(sluice, ca, servername).catch(() => undefined);
  const found = socket?.getPeerCertificate().serialNumber;
  socket?.destroy();
  return found;
}

export const served = (sluice: Sluice, ca: FakeCa, name?: string) =>
  eventually(async () => serial(sluice, ca, name), { what: 'a certificate of the CA', deadlineMs: 20_000 });

export const told = (sluice: Sluice, part: string) =>
  sluice.logs.filter(({ text }) => String(text).includes(part)).map(({ text }) => String(text));
