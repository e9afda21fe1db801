// A small CA that speaks ACME (RFC 8555): it checks signatures, nonces and challenges, and can be told to fail. Names lead to
// 127.0.0.1, at the ports that it is told.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, createPublicKey, type JsonWebKey, randomBytes, verify } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/ports.ts';
import { makeCertificate } from './with-tls.ts';

type Status = 'pending' | 'ready' | 'valid' | 'invalid';

interface Order {
  name: string;
  status: Status;
  token: string;
  /** Which challenge was tried. */
  tried?: string;
  error?: object | undefined;
  chain?: string;
}

interface Account {
  jwk: JsonWebKey;
  contact: string[];
}

export interface Problem {
  type: string;
  detail: string;
  status: number;
  headers?: Record<string, string>;
}

const base64 = (data: Buffer | string) => Buffer.from(data).toString('base64url');

/** RFC 7638. */
function thumbprint({ crv, kty, x, y }: JsonWebKey): string {
  return base64(createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest());
}

export class FakeCa {
  /** Where the CA looks for names, as it were ports 80 and 443. */
  httpPort = 0;
  tlsPort = 0;
  /** How long certificates are valid. */
  lifetimeS = 90 * 86_400;
  /** Every second nonce is refused. */
  refusesNonces = false;
  /** What a new order is refused with. */
  refusal: Problem | undefined;
  readonly accounts: Account[] = [];
  readonly orders: Order[] = [];
  readonly port: number;
  /** What trusts the CA's own HTTPS, and the certificates that it gives. */
  readonly caFile: string;
  readonly root: Buffer;
  readonly #dir: string;
  readonly #tls: { cert: string; key: string };
  readonly #nonces = new Set<string>();
  #noncesGiven = 0;
  #server: https.Server | undefined;

  constructor(t: TestContext, port: number) {
    this.port = port;
    this.#dir = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-ca-'));
    const root = makeCertificate(t, 'root.test');
    this.caFile = root.cert;
    this.root = fs.readFileSync(root.cert);
    const config = [
      '[ca]\ndefault_ca = one\n[one]',
      `dir = ${this.#dir}\ndatabase = $dir/index\nnew_certs_dir = $dir\nrand_serial = yes\nunique_subject = no`,
      `certificate = ${root.cert}\nprivate_key = ${root.key}\ndefault_md = sha256\npolicy = any\ncopy_extensions = copy`,
      '[any]\ncommonName = optional\n',
    ].join('\n');
    fs.writeFileSync(path.join(this.#dir, 'config'), config);
    fs.writeFileSync(path.join(this.#dir, 'index'), '');
    this.#tls = this.issue('localhost');
    t.after(async () => {
      await this.stop();
      fs.rmSync(this.#dir, { recursive: true, force: true });
    });
  }

  static async start(t: TestContext): Promise<FakeCa> {
    const ca = new FakeCa(t, await freePort());
    await ca.start();
    return ca;
  }

  /** As after the loss of a database. */
  forgetAccounts(): void {
    this.accounts.length = 0;
  }

  /** A certificate that was signed so long ago, with its key. */
  issue(name: string, ageS = 0): { cert: string; key: string } {
    const key = path.join(this.#dir, 'key');
    const form = `-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -outform DER -subj /CN=${name}`;
    const names = ['-addext', `subjectAltName=DNS:${name}`];
    const request = spawnSync('openssl', ['req', ...form.split(' '), '-keyout', key, ...names]);
    assert.equal(request.status, 0, request.stderr.toString());
    return { cert: this.#sign(name, request.stdout, ageS), key: fs.readFileSync(key, 'utf8') };
  }

  /** Certificate and key of the CA's own HTTPS, written there for another. */
  ownFiles(dir: string): [string, string] {
    const [cert, key] = [path.join(dir, 'cert.pem'), path.join(dir, 'key.pem')];
    fs.writeFileSync(cert, this.#tls.cert);
    fs.writeFileSync(key, this.#tls.key);
    return [cert, key];
  }

  get directory(): string {
    return `https://localhost:${this.port}/dir`;
  }

  async start(): Promise<void> {
    this.#server = https.createServer(this.#tls, (request, response) => {
      void this.#serve(request, response);
    });
    this.#server.listen(this.port);
    await once(this.#server, 'listening');
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise<void>((resolve) =>
      server === undefined
        ? resolve()
        : server.close(() => {
            resolve();
          }),
    );
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const answer = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      const nonce = randomBytes(12).toString('base64url');
      this.#nonces.add(nonce);
      const type = status >= 400 ? 'application/problem+json' : 'application/json';
      response.writeHead(status, { 'content-type': type, 'replay-nonce': nonce, ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    const refuse = (status: number, type: string, detail: string, headers = {}) => {
      answer(status, { type: `urn:ietf:params:acme:error:${type}`, detail, status }, headers);
    };
    const at = (target: string) => `https://localhost:${this.port}${target}`;
    const target = request.url ?? '';
    if (target === '/dir') {
      answer(200, { newNonce: at('/nonce'), newAccount: at('/account'), newOrder: at('/order') });
      return;
    }
    if (target === '/nonce') {
      answer(200, '');
      return;
    }
    const jws = JSON.parse(Buffer.concat(pieces).toString()) as Record<
      'protected' | 'payload' | 'signature',
      string
    >;
    const head = JSON.parse(Buffer.from(jws.protected, 'base64url').toString()) as {
      nonce: string;
      url: string;
      kid?: string;
      jwk?: JsonWebKey;
    };
    if (!this.#nonces.delete(head.nonce) || (this.refusesNonces && this.#noncesGiven++ % 2 === 0)) {
      refuse(400, 'badNonce', 'the nonce is not known');
      return;
    }
    const account = this.accounts[Number(head.kid?.split('/').at(-1))];
    const jwk = head.jwk ?? account?.jwk;
    if (jwk === undefined) {
      refuse(400, 'accountDoesNotExist', 'no such account');
      return;
    }
    const signed = Buffer.from(`${jws.protected}.${jws.payload}`);
    const key = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' as const };
    if (!verify('sha256', signed, key, Buffer.from(jws.signature, 'base64url')) || head.url !== at(target)) {
      refuse(400, 'malformed', 'the signature is wrong');
      return;
    }
    const payload = JSON.parse(Buffer.from(jws.payload, 'base64url').toString() || '{}') as {
      contact?: string[];
      termsOfServiceAgreed?: boolean;
      identifiers?: { value: string }[];
      csr?: string;
    };
    if (target === '/account') {
      assert.equal(payload.termsOfServiceAgreed, true);
      this.accounts.push({ jwk, contact: payload.contact ?? [] });
      answer(201, {}, { location: at(`/account/${this.accounts.length - 1}`) });
      return;
    }
    if (target === '/order') {
      const name = payload.identifiers?.[0]?.value ?? '';
      this.orders.push({ name, status: 'pending', token: randomBytes(32).toString('base64url') });
      if (this.refusal !== undefined) {
        refuse(this.refusal.status, this.refusal.type, this.refusal.detail, this.refusal.headers);
        return;
      }
    }
    const number = target === '/order' ? this.orders.length - 1 : Number(target.split('/').at(-1));
    const order = this.orders[number];
    assert.ok(order, target);
    const identifier = { type: 'dns', value: order.name };
    const shown = () => ({
      status: order.status,
      identifiers: [identifier],
      authorizations: [at(`/authorization/${number}`)],
      finalize: at(`/finalize/${number}`),
      ...(order.chain !== undefined && { certificate: at(`/certificate/${number}`) }),
    });
    const challenge = (type: string) => ({
      type,
      url: at(`/${type}/${number}`),
      token: order.token,
      status: order.tried !== type ? 'pending' : order.status === 'ready' ? 'valid' : order.status,
      ...(order.tried === type && order.error !== undefined && { error: order.error }),
    });
    const kind = target.split('/')[1] ?? '';
    if (kind === 'order') {
      answer(target === '/order' ? 201 : 200, shown(), { location: at(`/order/${number}`) });
    } else if (kind === 'authorization') {
      const status = order.status === 'ready' ? 'valid' : order.status;
      answer(200, { identifier, status, challenges: ['http-01', 'tls-alpn-01', 'dns-01'].map(challenge) });
    } else if (kind === 'http-01' || kind === 'tls-alpn-01') {
      order.tried = kind;
      const before = challenge(kind);
      answer(200, before);
      const expected = `${order.token}.${thumbprint(jwk)}`;
      order.error = await (kind === 'http-01'
        ? this.#askHttp(order, expected)
        : this.#askTls(order, expected));
      order.status = order.error === undefined ? 'ready' : 'invalid';
    } else if (kind === 'finalize') {
      order.chain = this.#sign(order.name, Buffer.from(payload.csr ?? '', 'base64url'));
      order.status = 'valid';
      answer(200, shown());
    } else {
      answer(200, order.chain ?? '');
    }
  }

  async #askHttp(order: Order, expected: string): Promise<object | undefined> {
    const failed = (type: string, detail: string) => ({
      type: `urn:ietf:params:acme:error:${type}`,
      detail,
      status: 403,
    });
    try {
      const request = http.get({
        port: this.httpPort,
        path: `/.well-known/acme-challenge/${order.token}`,
        headers: { host: order.name },
        agent: false,
      });
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      let text = '';
      for await (const piece of response) text += String(piece);
      if (response.statusCode === 200 && text === expected) return undefined;
      return failed('unauthorized', `${order.name}: status ${response.statusCode}`);
    } catch (error) {
      return failed('connection', `${order.name}: ${String(error)}`);
    }
  }

  async #askTls(order: Order, expected: string): Promise<object | undefined> {
    await eventually(() => this.tlsPort > 0, { what: 'the port of the gateway' });
    const failed = (type: string, detail: string) => ({
      type: `urn:ietf:params:acme:error:${type}`,
      detail,
      status: 403,
    });
    const at = { port: this.tlsPort, host: '127.0.0.1', servername: order.name };
    const socket = tls.connect({ ...at, ALPNProtocols: ['acme-tls/1'], rejectUnauthorized: false });
    try {
      await once(socket, 'secureConnect');
      const digest = createHash('sha256').update(expected).digest();
      const { raw, subjectaltname } = socket.getPeerCertificate();
      const isRight = raw.includes(digest) && subjectaltname === `DNS:${order.name}`;
      if (isRight && socket.alpnProtocol === 'acme-tls/1') return undefined;
      return failed('unauthorized', `${order.name}: another certificate`);
    } catch (error) {
      return failed('tls', `${order.name}: ${String(error)}`);
    } finally {
      socket.destroy();
    }
  }

  #sign(name: string, request: Buffer, ageS = 0): string {
    const [csr, out] = [path.join(this.#dir, 'request'), path.join(this.#dir, 'signed')];
    fs.writeFileSync(
      csr,
      `-----BEGIN CERTIFICATE REQUEST-----\n${request.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE REQUEST-----\n`,
    );
    const time = (at: number) => new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '');
    const from = Date.now() - ageS * 1000;
    const dates = ['-startdate', time(from), '-enddate', time(from + this.lifetimeS * 1000)];
    const files = ['-config', path.join(this.#dir, 'config'), '-in', csr, '-out', out];
    const made = spawnSync('openssl', [
      'ca',
      '-batch',
      '-notext',
      '-subj',
      `/CN=${name}`,
      ...dates,
      ...files,
    ]);
    assert.equal(made.status, 0, made.stderr.toString());
    return fs.readFileSync(out, 'utf8');
  }
}
