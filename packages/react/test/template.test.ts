/** The template element with stock react-dom alone, in a production build of React. */
import { react, server } from './support/production.js';
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import type { ReactElement, ReactNode } from 'react';
import { type Hole, type TemplateElement, template } from '../src/template.js';

const { Children, Fragment, cloneElement, createElement, isValidElement, memo, useId, version } = react;
const { renderToPipeableStream, renderToStaticMarkup, renderToString } = server;

let builds = 0;

/** `<p className="price" title={title}>Price: {price}</p>`, as compiled. */
const holes: Hole[] = [
  [1, 'title', 'p'],
  [0, 1, 0, [['p', null, 2, 1]]],
];
const buildPrice = ([title, price]: readonly unknown[], key?: unknown): ReactElement => {
  builds += 1;
  return createElement(
    'p',
    { className: 'price', title: title as string, key: key as string },
    'Price: ',
    price as ReactNode,
  );
};
const price = template(version, ['<p class="price"', '>Price: ', '</p>'], holes, buildPrice);
const plain = (title: unknown, value: unknown, key?: string): ReactElement => buildPrice([title, value], key);

const rule = template(version, ['<hr/>'], [], () => createElement('hr'));

function streamed(node: ReactNode): Promise<string> {
  return new Promise((resolve, reject) => {
    let html = '';
    const sink = new Writable({
      write(chunk, _encoding, done) {
        html += String(chunk);
        done();
      },
    });
    sink.on('finish', () => resolve(html));
    const { pipe } = renderToPipeableStream(node, { onAllReady: () => pipe(sink), onError: reject });
  });
}

async function assertSameHtml(actual: ReactNode, expected: ReactNode): Promise<void> {
  assert.equal(renderToString(actual), renderToString(expected));
  assert.equal(renderToStaticMarkup(actual), renderToStaticMarkup(expected));
  assert.equal(await streamed(actual), await streamed(expected));
}

void test('stock react-dom writes it as the ordinary element', async () => {
  await assertSameHtml(price(['a "b"', 3]), plain('a "b"', 3));
  await assertSameHtml(rule(), createElement('hr'));
  const Id = (): ReactNode => useId();
  const id = createElement(Id);
  await assertSameHtml(price(['t', [id, price([null, id], 'k')]]), plain('t', [id, plain(null, id, 'k')]));
});

void test('it is a valid element, and no more than one ordinary element is built for it', () => {
  builds = 0;
  const element = price(['t', 1]);
  assert.equal(builds, 0);
  assert.equal(isValidElement(element), true);
  assert.equal(element.type, 'p');
  assert.deepEqual(element.props, plain('t', 1).props);
  assert.equal(element.props, element.props);
  assert.equal(builds, 2);
});

void test('it carries its template and values for the renderer', () => {
  const element = price(['t', 1]) as unknown as TemplateElement;
  assert.deepEqual(element.$$values, ['t', 1]);
  assert.deepEqual(element.$$template.holes, holes);
  assert.equal(element.$$template.layout, 1);
});

void test('its key is a string as in jsx()', () => {
  assert.equal(price([]).key, null);
  assert.equal(price([], undefined).key, null);
  assert.equal(price([], null).key, 'null');
  assert.equal(price([], 7).key, '7');
  assert.throws(() => price([], Symbol('key')), TypeError);
});

void test('cloneElement changes props, key and children', async () => {
  const changed = { className: 'other', key: 'k' };
  const clone = cloneElement(price(['t', 1], 'a'), changed, 'child');
  assert.equal(clone.key, 'k');
  assert.deepEqual(clone.props, cloneElement(plain('t', 1, 'a'), changed, 'child').props);
  await assertSameHtml(clone, cloneElement(plain('t', 1, 'a'), changed, 'child'));
  assert.equal(cloneElement(price(['t', 1], 'a')).key, 'a');
});

void test('Children.map gives it the key of its place', () => {
  const mapped = Children.map([price(['t', 1], 'a'), rule()], (child) => child);
  const expected = Children.map([plain('t', 1, 'a'), createElement('hr')], (child) => child);
  assert.deepEqual(
    mapped.map(({ key, type, props }) => ({ key, type, props: props as object })),
    expected.map(({ key, type, props }) => ({ key, type, props: props as object })),
  );
  assert.equal(Children.count([price([]), rule()]), 2);
  assert.equal(Children.only(rule()).type, 'hr');
});

void test('lists, fragments and components take it as child and as prop', async () => {
  const Box = ({ icon, children }: { icon: ReactNode; children?: ReactNode }): ReactNode =>
    createElement('div', null, icon, children);
  const page = (one: (title: string, value: number, key?: string) => ReactNode): ReactNode =>
    createElement(
      Fragment,
      null,
      [1, 2].map((n) => one('t', n, String(n))),
      createElement(Box, { icon: one('i', 0) }, one('c', 1)),
    );
  await assertSameHtml(
    page((title, value, key) => price([title, value], key)),
    page(plain),
  );
});

void test('memo takes the same element for the same, and another for another', () => {
  const seen: ReactNode[] = [];
  const areEqual = (before: { icon: ReactNode }, after: { icon: ReactNode }): boolean =>
    Object.is(before.icon, after.icon);
  const Show = memo(({ icon }: { icon: ReactNode }) => (seen.push(icon), icon), areEqual);
  const element = price(['t', 1]);
  renderToString(createElement(Show, { icon: element }));
  assert.equal(seen[0], element);
  assert.equal(areEqual({ icon: element }, { icon: element }), true);
  assert.equal(areEqual({ icon: element }, { icon: price(['t', 1]) }), false);
});

void test('HTML of another version of React is not used', () => {
  const other = template('18.0.0', ['<p class="price"', '>Price: ', '</p>'], holes, buildPrice);
  const element = other(['t', 1], 'k');
  assert.equal('$$template' in element, false);
  assert.equal(element.key, 'k');
  assert.equal(renderToString(element), renderToString(plain('t', 1)));
});

void test('JSON cannot be taken for it', () => {
  const forged = JSON.parse(
    '{"$$template":{"layout":1,"pieces":["<script>"],"holes":[]},"$$values":[],"key":null}',
  ) as ReactNode;
  assert.equal(isValidElement(forged), false);
  assert.throws(() => renderToString(forged), /Objects are not valid/);
});
