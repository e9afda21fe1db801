// The port that redirects to HTTPS, and the header that tells browsers to use nothing else.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import type http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { once } from 'node:events';
import { test } from 'node:test';
import { freePort } from '../support/ports.ts';
import { RawConnection } from '../support/raw.ts';
import { StartFailed, app, startSluice } from '../support/sluice.ts';
import { quick, upgraded } from './upgrades.ts';
import { missing, startTls } from './with-tls.ts';

/** Status line, `Location` and all header lines of the answer to these bytes. */
async function answerTo(
  port: number,
  request: string,
): Promise<{ status: number; location?: string; head: string }> {
  const connection = await RawConnection.connect(port);
  connection.send(request);
  const head = (await connection.untilClosed()).toString('latin1').split('\r\n\r\n')[0] ?? '';
  const location = /^location: (.*)$/im.exec(head)?.[1];
  return { status: Number(head.split(' ')[1]), head, ...(location !== undefined && { location }) };
}

const get = (target: string, host: string) =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

void test(
  'the redirect port leads to the same target by HTTPS, and to no other host',
  { skip: missing },
  async (t) => {
    const redirect = await freePort();
    const env = { SLUICE_SERVER_REDIRECT_PORT: String(redirect), SLUICE_SERVER_HSTS_MAX_AGE_S: '3600' };
    const { sluice, ca } = await startTls(t, { entry: app('echo.js'), env: { ...env, ...quick } });
    const ask = (text: string) => answerTo(redirect, text);
    const found = await ask(get('/a?b=https://c.test/', 'localhost'));
    assert.deepEqual(
      [found.status, found.location],
      [308, `https://localhost:${sluice.port}/a?b=https://c.test/`],
    );
    assert.doesNotMatch(found.head, /strict-transport-security/i);
    // The health paths and a body are redirected like all else.
    assert.equal((await ask(get('/.sluice/ready', 'localhost'))).status, 308);
    const post = 'POST / HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 3\r\n\r\nabc';
    assert.equal((await ask(post)).location, `https://[::1]:${sluice.port}/`);
    assert.equal(
      (await ask(get('//evil.test/x', 'localhost'))).location,
      `https://localhost:${sluice.port}//evil.test/x`,
    );
    const refused = [
      get('http://evil.test/', 'localhost'),
      get('/', 'evil.test/x'),
      get('/', 'a@evil.test'),
      get('evil.test', 'localhost'),
      'GET / HTTP/1.0\r\n\r\n',
      'OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    ];
    for (const text of refused) {
      const { status, location } = await ask(text);
      assert.deepEqual([status, location], [400, undefined], text);
    }
    assert.equal((await sluice.status()).workers[0]?.requests_total, 0, 'no worker was asked');

    // The port goes on in the next gateway.
    await upgraded(sluice);
    assert.equal((await ask(get('/', 'localhost'))).status, 308);
    const request = https.get(`https://localhost:${sluice.port}/`, { ca, agent: false });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    assert.equal(response.headers['strict-transport-security'], 'max-age=3600');
  },
);

void test('redirects name the port that clients reach', { skip: missing }, async (t) => {
  const redirect = await freePort();
  const env = { SLUICE_SERVER_REDIRECT_PORT: String(redirect), SLUICE_SERVER_REDIRECT_TO_PORT: '443' };
  await startTls(t, { entry: app('echo.js'), env });
  assert.equal((await answerTo(redirect, get('/a', 'x.test:80'))).location, 'https://x.test/a');
});

void test('HSTS is in answers over TLS alone, and the app goes before', { skip: missing }, async (t) => {
  const env = { SLUICE_SERVER_HSTS_MAX_AGE_S: '60' };
  const dir = fs.mkdtempSync(path.join(import.meta.dirname, 'apps', '.hsts-'));
  t.after(() => {
    fs.rmSync(dir, { recursive: true, force: true });
  });
  const entry = path.join(dir, 'app.js');
  fs.writeFileSync(
    entry,
    `require('node:http').createServer((request, response) => {
      if (request.url === '/own') response.setHeader('strict-transport-security', 'max-age=1; preload');
      response.end();
    }).listen(process.env.PORT);`,
  );
  const { sluice, ca } = await startTls(t, { entry, env });
  const header = async (target: string) => {
    const request = https.get(`https://localhost:${sluice.port}${target}`, { ca, agent: false });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    return response.headers['strict-transport-security'];
  };
  assert.equal(await header('/'), 'max-age=60');
  assert.equal(await header('/own'), 'max-age=1; preload');
  assert.equal(await header('/.sluice/ping'), 'max-age=60');
});

void test('a redirect port without a certificate is told', async () => {
  const port = await freePort();
  const failed = async (env: Record<string, string>) => {
    try {
      await (await startSluice({ entry: app('echo.js'), env })).stop();
    } catch (error) {
      if (error instanceof StartFailed) return error.finished.stderr;
      throw error;
    }
    return 'it started';
  };
  assert.match(
    await failed({ SLUICE_SERVER_REDIRECT_PORT: String(port) }),
    /server\.redirect_port needs server\.tls_cert/,
  );
});
