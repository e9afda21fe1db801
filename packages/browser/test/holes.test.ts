// Boxes that the server left, boxes that come late, and code that does not come: the page never has an empty box.
import assert from 'node:assert/strict';
import type http from 'node:http';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { serialize } from '../../render/src/state/serialize.ts';
import { holdUp, nameOf, noBrowser, put, settled, view } from './support/browser.ts';
import { build } from './support/build.ts';
import { type Box, type Site, openSite } from './support/site.ts';

const options = { skip: noBrowser };
let site: Site;
before(async () => {
  // Addresses tell which component is meant.
  site = await openSite(await build({ groupKb: 0 }));
});
after(() => site.close());

const hole = (more: Partial<Box> = {}): Box => ({
  n: 'Counter',
  hole: 'late',
  html: '<i>soon</i>',
  props: { start: 1 },
  ...more,
});

/** What `sluice:failed` said, as `Name: reason`. */
async function failures(page: Page): Promise<() => Promise<unknown>> {
  await page.addInitScript(() => {
    const failed: string[] = [];
    Object.assign(globalThis, { failed });
    document.addEventListener('sluice:failed', (event) => {
      const { component, reason } = event.detail;
      failed.push(`${component}: ${reason}`);
    });
  });
  return () => page.evaluate('failed');
}

/** A page that is sent in pieces: `next` sends one more, `end` the last. */
function inPieces(): { listener: http.RequestListener; send: (html: string) => void; end: () => void } {
  let to: http.ServerResponse | undefined;
  const waiting: (string | undefined)[] = [];
  const flush = (): void => {
    if (to === undefined) return;
    for (const piece of waiting.splice(0)) {
      if (piece === undefined) to.end();
      else to.write(piece);
    }
  };
  return {
    listener(_request, response) {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      to = response;
      flush();
    },
    send(html) {
      waiting.push(html);
      flush();
    },
    end() {
      waiting.push(undefined);
      flush();
    },
  };
}

void test(
  'holes are rendered from their props in each framework, and show their placeholders until then',
  options,
  async (t) => {
    const { page, said } = await view(t);
    const release = await holdUp(page, /\/assets\/(Counter|Stepper|Tally|Note)-.*js/);
    const boxes: Box[] = [
      hole(),
      hole({ n: 'preact/Stepper', a: 'preact' }),
      hole({ n: 'vue/Tally', a: 'vue', hole: 'client' }),
      hole({ n: 'plain/Note', a: 'plain', props: { text: 'note' } }),
    ];
    await page.goto(put(site, { boxes }));
    assert.equal(await page.getByText('soon').count(), 4);
    release();
    for (const text of ['add: 1', 'step 1', 'tally 1', 'note']) await page.getByText(text).click();
    for (const text of ['add: 2', 'step 2', 'tally 2', 'NOTE']) await page.getByText(text).waitFor();
    assert.equal(await page.getByText('soon').count(), 0);
    assert.deepEqual(said, []);
  },
);

void test(
  'data that a Vue component does not declare runs no script in a hole or by hydration',
  options,
  async (t) => {
    const { page } = await view(t);
    const script = '<img src="data:," onerror="document.title=`ran`">';
    const hostile = {
      innerHTML: script,
      '.innerHTML': script,
      onVnodeMounted: 'x',
      onclick: 'document.title=`ran`',
    };
    const props = { start: 1, ...hostile };
    const tally = { n: 'vue/Tally', a: 'vue', props } as const;
    await page.goto(put(site, { boxes: [hole({ ...tally, hole: 'client' }), { ...tally, on: 'load' }] }));
    await settled(page);
    assert.equal(await page.locator('main img, main [onclick]').count(), 0);
    assert.equal(await page.getByText('tally 1').count(), 2);
    assert.notEqual(await page.title(), 'ran');
  },
);

void test('content of slots comes into a hole once its component is there', options, async (t) => {
  const { page } = await view(t);
  const within: Box = { n: 'Counter', on: 'load', props: { start: 1 } };
  await page.goto(
    put(site, {
      boxes: [
        hole({
          n: 'Frame',
          html: '<i>soon</i><sluice-slot n="default"></sluice-slot>',
          slots: { default: [within] },
        }),
      ],
    }),
  );
  await settled(page);
  await page.locator('main').getByText('add: 1').click();
  await page.locator('main').getByText('add: 2').waitFor();
});

void test('a hole without props asks for them', options, async (t) => {
  const { page } = await view(t);
  site.pages.set('/more', (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://site');
    const props = serialize({
      start: searchParams.get('box') === 'b1' && searchParams.get('of') === 'x' ? 7 : 0,
    });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ props }));
  });
  await page.goto(put(site, { boxes: [hole({ isBare: true })], data: { more: '/more?of=x' } }));
  await page.getByText('add: 7').waitFor();
});

void test('a hole whose HTML the server has by then is hydrated', options, async (t) => {
  const { page, said } = await view(t);
  site.pages.set('/more', (_request, response) => {
    const html = '<p>same</p>'.replace('same', 'browser');
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ html, props: '{}' }));
  });
  await page.goto(put(site, { boxes: [hole({ n: 'Differs', isBare: true })], data: { more: '/more' } }));
  await page.getByText('browser').waitFor();
  await settled(page);
  assert.deepEqual(said, []);
});

void test(
  'boxes are hydrated while the rest of the document is on its way, and not before they are whole',
  options,
  async (t) => {
    const { page, said } = await view(t);
    const pieces = inPieces();
    const boxes = await site.html([
      { n: 'Counter', on: 'load', props: { start: 1 } },
      { n: 'Counter', on: 'load', props: { start: 5 } },
    ]);
    const { head } = await site.document({ boxes: [] });
    const [first = '', second = ''] = boxes.split('\n');
    const half = second.indexOf('</sluice-box>');
    pieces.send(`${head}${first}\n${second.slice(0, half)}`);
    await page.goto(put(site, pieces.listener), { waitUntil: 'commit' });
    await page.locator('sluice-box[i=b1][ready]').waitFor({ state: 'attached' });
    await page.getByText('add: 1').click();
    await page.getByText('add: 2').waitFor();
    assert.equal(await page.locator('sluice-box[i=b2][ready]').count(), 0);
    await page.getByText('add: 5').click();
    const script = second.indexOf('</script>') - 3;
    pieces.send(second.slice(half, script));
    await page.locator('script[data-sluice=b2]').waitFor({ state: 'attached' });
    pieces.send(second.slice(script));
    pieces.end();
    // The click on its half was kept.
    await page.getByText('add: 6').waitFor();
    assert.deepEqual(said, []);
  },
);

void test('HTML that comes later than its place is moved there and hydrated', options, async (t) => {
  const { page, said } = await view(t);
  const pieces = inPieces();
  const rendered = await site.html([{ n: 'Counter', on: 'load', props: { start: 1 } }]);
  const { head } = await site.document({ boxes: [] });
  const box = '<sluice-box n="Counter" i="b1" hole="pending"><i>soon</i></sluice-box>';
  pieces.send(`${head}${box}<p>between</p>`);
  await page.goto(put(site, pieces.listener), { waitUntil: 'commit' });
  await page.getByText('between').waitFor();
  const filled = `<template data-sluice-fill="b1">${rendered}</template>`;
  const half = filled.indexOf('</script>');
  pieces.send(filled.slice(0, half));
  await page.locator('template').waitFor({ state: 'attached' });
  assert.ok(await page.getByText('soon').isVisible());
  pieces.send(filled.slice(half));
  pieces.end();
  await page.getByText('add: 1').click();
  await page.getByText('add: 2').waitFor();
  assert.equal(await page.locator('template,i').count(), 0);
  assert.deepEqual(said, []);
});

void test('a box whose code is gone keeps its HTML, is told of, and asked for twice', options, async (t) => {
  const { page, said } = await view(t);
  const failed = await failures(page);
  const asked: string[] = [];
  await page.route(/\/assets\/Counter-.*js/, async (route) => {
    asked.push(route.request().url());
    await route.fulfill({ status: 404 });
  });
  const boxes: Box[] = [
    { n: 'Counter', on: 'load', props: { start: 1 } },
    { n: 'preact/Stepper', a: 'preact', on: 'load', props: { start: 1 } },
  ];
  await page.goto(put(site, { boxes }));
  await settled(page);
  await page.getByText('add: 1').waitFor();
  assert.deepEqual(await failed(), ['Counter: code']);
  assert.deepEqual(asked.map(nameOf), ['/assets/Counter.js', '/assets/Counter.js']);
  assert.ok(
    said.some((text) => text.startsWith('[sluice] Counter: code')),
    said.join('\n'),
  );
  // The others do not mind.
  await page.getByText('step 1').click();
  await page.getByText('step 2').waitFor();
});

void test(
  'a page whose runtime is gone is told of once, and is what it is without scripts',
  options,
  async (t) => {
    const { page } = await view(t);
    const failed = await failures(page);
    const asked: string[] = [];
    await page.route(/\/assets\/.*js/, async (route) => {
      asked.push(nameOf(route.request().url()));
      await route.fulfill({ status: 404 });
    });
    await page.goto(
      put(site, {
        boxes: [
          {
            n: 'Counter',
            on: 'load',
            html: '<details><summary>more</summary><a href="#there">link</a></details>',
          },
        ],
      }),
      { waitUntil: 'networkidle' },
    );
    assert.deepEqual(await failed(), [': code']);
    assert.deepEqual(asked, ['/assets/sluice.js', '/assets/sluice.js']);
    await page.getByText('more').click();
    await page.getByText('link').click();
    await page.waitForURL('**#there');
  },
);

void test(
  'a runtime that comes at the second time takes over with the clicks until then',
  options,
  async (t) => {
    const { page, said } = await view(t);
    let asked = 0;
    const release = await holdUp(page, /\/assets\/Counter-.*js/);
    await page.route(/\/assets\/sluice-.*js/, async (route) => {
      asked += 1;
      if (asked === 1) await route.fulfill({ status: 404 });
      else await route.continue();
    });
    await page.goto(put(site, { boxes: [{ n: 'Counter', on: 'load', props: { start: 1 } }] }), {
      waitUntil: 'commit',
    });
    await page.getByText('add: 1').click();
    release();
    await page.getByText('add: 2').waitFor();
    assert.equal(said.filter((text) => text.startsWith('[sluice]')).length, 0, said.join());
  },
);

void test(
  'a hole that was meant waits for a hand where its component does, and no other',
  options,
  async (t) => {
    const { page } = await view(t);
    const boxes = [
      hole({ on: 'interaction', hole: 'client' }),
      hole({ on: 'interaction', props: { start: 5 } }),
    ];
    await page.goto(put(site, { boxes }));
    await page.getByText('add: 5').waitFor();
    await page.getByText('soon').hover();
    await page.getByText('add: 1').waitFor();
  },
);

void test('code that comes at the second time is used', options, async (t) => {
  const { page } = await view(t);
  const failed = await failures(page);
  let asked = 0;
  await page.route(/\/assets\/(Counter|react)-.*js/, async (route) => {
    asked += 1;
    if (route.request().url().includes('?retry') || asked > 2) await route.continue();
    else await route.abort();
  });
  await page.goto(put(site, { boxes: [{ n: 'Counter', on: 'load', props: { start: 1 } }] }));
  await page.getByText('add: 1').click();
  await page.getByText('add: 2').waitFor();
  assert.deepEqual(await failed(), []);
});

for (const [what, box, reason] of [
  ['that the build does not have', hole({ n: 'Gone' }), 'Gone: unknown'],
  ['that throws in a hole', hole({ n: 'Throws' }), 'Throws: render'],
  ['that throws in the browser alone', { n: 'Throws', on: 'load', html: '<i>soon</i>' }, 'Throws: render'],
  ['of a framework that the build does not have', hole({ a: 'solid' as 'plain' }), 'Counter: unknown'],
  ['whose name is that of what every object has', hole({ n: 'constructor' }), 'constructor: unknown'],
  ['whose framework is', hole({ a: 'constructor' as 'plain' }), 'Counter: unknown'],
  ['whose props the page does not have', hole({ isBare: true }), 'Counter: props'],
] as const satisfies readonly (readonly [string, Box, string])[]) {
  void test(`a component ${what} leaves what the server sent`, options, async (t) => {
    const { page } = await view(t);
    const failed = await failures(page);
    await page.goto(put(site, { boxes: [box] }));
    await settled(page);
    await page.getByText('soon').waitFor();
    assert.deepEqual(await failed(), [reason]);
  });
}

void test(
  'a hole of a remote component keeps its placeholder, which is nothing to tell',
  options,
  async (t) => {
    const { page, said } = await view(t);
    const boxes: Box[] = [
      hole({ n: 'Remote', a: 'remote' as 'plain', on: 'load', hole: 'remote', isBare: true }),
    ];
    await page.goto(put(site, { boxes }), { waitUntil: 'networkidle' });
    await page.getByText('soon').click();
    assert.equal(await page.locator('[ready]').count(), 0);
    assert.deepEqual(said, []);
  },
);

void test('props that are no state leave what the server sent', options, async (t) => {
  const { page } = await view(t);
  const failed = await failures(page);
  const html = '<sluice-box n="Counter" i="b1" a="react" on="load">soon</sluice-box>';
  const script = '<script type="application/json" data-sluice="b1">{"start":</script>';
  await page.goto(put(site, { boxes: [], before: html + script }));
  await settled(page);
  await page.getByText('soon').waitFor();
  assert.deepEqual(await failed(), ['Counter: props']);
});
