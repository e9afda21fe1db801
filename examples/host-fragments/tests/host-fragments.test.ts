// A host in Python gets fragments from Sluice in one batch, and has a page whatever becomes of the batch.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { noBrowser, open } from '../../../tests/browser/chromium.ts';
import { eventually } from '../../../tests/support/eventually.ts';
import { freePort } from '../../../tests/support/ports.ts';
import { type Sluice, startSluice } from '../../../tests/support/sluice.ts';
import { type Host, noPython, serve, startHost } from './host.ts';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const skip = noPython || (fs.existsSync(`${dist}server.js`) ? false : 'the example is not built');
/** Longer than any test: what it limits is not what the test is about. */
const PATIENT = { FRAGMENTS_TIMEOUT_MS: '60000' };
const ALL = ['book', 'reviews', 'related'];

async function startFragments(t: TestContext): Promise<Sluice> {
  const config = `[files]\npaths = { "/assets/" = ${JSON.stringify(`${dist}assets`)} }\n`;
  const sluice = await startSluice({ entry: `${dist}server.js`, config, workers: 1 });
  t.after(async () => {
    await sluice.stop();
  });
  return sluice;
}

async function startBoth(
  t: TestContext,
  env: Record<string, string> = PATIENT,
): Promise<{ sluice: Sluice; host: Host }> {
  const sluice = await startFragments(t);
  const urls = { SLUICE_URL: `${sluice.url}/batch`, CLIENT_URL: `${sluice.url}/assets/client.js` };
  return { sluice, host: await startHost(t, { ...urls, ...env }) };
}

/** A page of the host: its HTML, and the text of each section. */
async function page(host: Host, path: string): Promise<{ html: string; sections: Record<string, string> }> {
  const answer = await fetch(new URL(path, host.url));
  assert.equal(answer.status, 200);
  const html = await answer.text();
  const sections: Record<string, string> = {};
  for (const element of elementsOf(parse(html)))
    if (element.tagName === 'section') sections[attribute(element, 'id') ?? ''] = textOf(element);
  return { html, sections };
}

/** Sections in which the host had to fall back. */
function placeholders(html: string): string[] {
  const sections = elementsOf(parse(html)).filter(({ tagName }) => tagName === 'section');
  return sections
    .filter((section) =>
      elementsOf(section).some((each) => attribute(each, 'data-placeholder') !== undefined),
    )
    .map((section) => attribute(section, 'id') ?? '');
}

void test('a page has the HTML of all its components, from one batch', { skip }, async (t) => {
  const { host } = await startBoth(t);
  const { html, sections } = await page(host, '/books/1');
  assert.match(sections['book'] ?? '', /The Old Lock-Keeper.*Ida Marsh.*€ 18\.90/);
  assert.match(sections['reviews'] ?? '', /2 reviews.*Slow, & good\./);
  assert.match(sections['related'] ?? '', /Read next.*A River's Year/);
  assert.deepEqual(placeholders(html), []);
  assert.equal(host.faults(), '');
});

void test('a component that throws is left to the browser, and the others are there', { skip }, async (t) => {
  const { host } = await startBoth(t);
  const { html, sections } = await page(host, '/books/3');
  assert.deepEqual(placeholders(html), ['reviews']);
  assert.equal(sections['reviews']?.trim(), 'Reviews are on their way.');
  assert.match(sections['book'] ?? '', /Add to cart/);
  assert.match(sections['related'] ?? '', /Read next/);
  await eventually(() => /\/books\/3: reviews left to the browser, failed: /.test(host.faults()), {
    what: 'a line about the reviews',
  });
});

void test(
  'a component that waits too long is left out by Sluice, before the batch is late',
  { skip },
  async (t) => {
    const { host } = await startBoth(t);
    const { html, sections } = await page(host, '/books/1?wait_ms=50000');
    assert.deepEqual(placeholders(html), ['related']);
    assert.match(sections['book'] ?? '', /Add to cart/);
    assert.match(sections['reviews'] ?? '', /2 reviews/);
  },
);

void test('data that looks like markup is text, whoever writes it', { skip }, async (t) => {
  const { host: served } = await startBoth(t);
  const alone = await startHost(t, { SLUICE_URL: await nobody() });
  for (const host of [served, alone]) {
    const { html, sections } = await page(host, '/books/2');
    const elements = elementsOf(parse(html));
    const running = elements.filter(
      (each) => each.tagName === 'script' && attribute(each, 'type') !== 'application/json',
    );
    assert.equal(running.length, 1, 'the only script that runs is the host’s own');
    assert.ok(elements.every(({ tagName }) => tagName !== 'b'));
    assert.match(sections['book'] ?? '', /Weirs <\/script><script>alert\(1\)<\/script> & Sluices/);
  }
});

void test('a batch that is late leaves placeholders', { skip }, async (t) => {
  const host = await startHost(t, {
    SLUICE_URL: await serve(t, () => undefined),
    FRAGMENTS_TIMEOUT_MS: '50',
  });
  const { html } = await page(host, '/books/1');
  assert.deepEqual(placeholders(html), ALL);
  assert.match(host.faults(), /late: no answer after 0\.05 s/);
});

void test(
  'a batch that trickles is late as a whole, however soon its next byte comes',
  { skip },
  async (t) => {
    const trickling = await serve(t, (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 10);
      response.once('close', () => clearInterval(timer));
    });
    const host = await startHost(t, { SLUICE_URL: trickling, FRAGMENTS_TIMEOUT_MS: '200' });
    const { html } = await page(host, '/books/1');
    assert.deepEqual(placeholders(html), ALL);
  },
);

void test('answers that are none leave placeholders', { skip }, async (t) => {
  const answers: [number, string][] = [
    [500, '{"success":false,"error":{},"results":{}}'],
    [200, ''],
    [200, 'null'],
    [200, '[]'],
    [200, '{"success":true}'],
    [200, '{"results":[]}'],
    [200, '{"results":{"book":null,"reviews":{"success":true,"html":7}}}'],
  ];
  let [status, body] = answers[0] ?? [200, ''];
  const url = await serve(t, (request, response) => {
    request.resume().once('end', () => response.writeHead(status).end(body));
  });
  const host = await startHost(t, { SLUICE_URL: url, ...PATIENT });
  for ([status, body] of answers) {
    const { html } = await page(host, '/books/1');
    assert.deepEqual(placeholders(html), ALL, `${status} ${body}`);
  }
});

void test('empty HTML is a success', { skip }, async (t) => {
  const results = Object.fromEntries(ALL.map((token) => [token, { success: true, html: '' }]));
  const url = await serve(t, (request, response) => {
    request.resume().once('end', () => response.end(JSON.stringify({ success: true, results })));
  });
  const { html, sections } = await page(await startHost(t, { SLUICE_URL: url, ...PATIENT }), '/books/1');
  assert.deepEqual(placeholders(html), []);
  assert.equal(sections['book'], '');
});

void test(
  'pages are there when Sluice is killed, and have their HTML when it is back',
  { skip },
  async (t) => {
    const { sluice, host } = await startBoth(t);
    assert.deepEqual(placeholders((await page(host, '/books/1')).html), []);
    await sluice.kill9();
    const { html, sections } = await page(host, '/books/1');
    assert.deepEqual(placeholders(html), ALL);
    assert.equal(sections['book']?.trim(), 'The Old Lock-Keeper');
    // Another one takes its place.
    const server = spawn(process.execPath, [`${dist}server.js`], {
      env: { ...process.env, PORT: String(sluice.port) },
      stdio: 'ignore',
    });
    t.after(() => server.kill('SIGKILL'));
    await eventually(async () => placeholders((await page(host, '/books/1')).html).length === 0, {
      what: 'fragments of the server that is back',
    });
  },
);

void test('the browser hydrates what was rendered', { skip: skip || noBrowser }, async (t) => {
  const { host } = await startBoth(t);
  const { page: tab, faults } = await open(t, new URL('/books/1', host.url).href);
  const button = tab.locator('#book button');
  await eventually(
    async () => {
      await button.click();
      return /in the cart/.test((await button.textContent()) ?? '');
    },
    { what: 'a button that counts' },
  );
  // Its code comes from Sluice, which is another host to this check.
  assert.deepEqual(
    faults.filter((fault) => !fault.startsWith('asks for')),
    [],
  );
});

void test(
  'the browser renders what was not, and keeps placeholders of what throws there too',
  { skip: skip || noBrowser },
  async (t) => {
    const code = await serve(t, (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/javascript' });
      fs.createReadStream(`${dist}assets/client.js`).pipe(response);
    });
    const host = await startHost(t, { SLUICE_URL: await nobody(), CLIENT_URL: code });
    const { page: tab } = await open(t, new URL('/books/3', host.url).href);
    await tab.locator('#book button').waitFor();
    await tab.locator('#book button').click();
    await tab.getByText('1 in the cart').waitFor();
    assert.equal((await tab.locator('#reviews').innerText()).trim(), 'Reviews are on their way.');
  },
);

/** An address where nobody listens. */
async function nobody(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}/batch`;
}

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

function elementsOf(node: Node): Element[] {
  const own = 'tagName' in node ? [node] : [];
  return 'childNodes' in node ? [...own, ...node.childNodes.flatMap(elementsOf)] : own;
}

function attribute({ attrs }: Element, name: string): string | undefined {
  return attrs.find((each) => each.name === name)?.value;
}

/** Text that people see: that of scripts is none. */
function textOf(node: Node): string {
  if ('value' in node) return node.value;
  if (!('childNodes' in node) || ('tagName' in node && node.tagName === 'script')) return '';
  return node.childNodes.map(textOf).join('');
}
