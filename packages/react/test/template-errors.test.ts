/** Errors within compiled JSX are reported with the component stack that react-dom gives for the same JSX. */
import { React, sluice, stock } from './support/renderers.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReactElement } from 'react';

const { createElement: h, version } = React;
const { template } = await import('../src/template.js');

const throws = {
  toString(): string {
    throw new Error('no text');
  },
};

/** `<ul><li><br/>{first}</li><img alt="" title={title}/></ul>`, as compiled. */
const build = ([first, title]: readonly unknown[]): ReactElement =>
  h('ul', null, h('li', null, h('br'), first as string), h('img', { alt: '', title: title as string }));
const list = template(
  version,
  ['<ul><li><br/>', '</li><img alt=""', '/></ul>'],
  [
    [
      0,
      0,
      0,
      [
        ['ul', null, 2, 0],
        ['li', null, 2, 1],
      ],
    ],
    [1, 'title', 'img'],
  ],
  build,
);
/** `<p title={title}>{child}</p>`, as compiled. */
const buildLine = ([title, child]: readonly unknown[]): ReactElement =>
  h('p', { title: title as string }, child as string);
const line = template(
  version,
  ['<p', '>', '</p>'],
  [
    [1, 'title', 'p'],
    [0, 0, 0, [['p', null, 1, 0]]],
  ],
  buildLine,
);
const Fails = (): never => {
  throw new Error('no component');
};

/** `<ul>a<li><Type {...props}/></li></ul>`, as compiled. */
const buildItem = ([Type, props]: readonly unknown[]): ReactElement =>
  h('ul', null, 'a', h('li', null, h(Type as () => null, props as object)));
const item = template(
  version,
  ['<ul>a<li>', '', '</li></ul>'],
  [
    [
      3,
      0,
      0,
      [
        ['ul', null, 2, 1],
        ['li', null, 1, 0],
      ],
    ],
    [4],
  ],
  buildItem,
);

function stackOf(
  renderer: Pick<typeof sluice, 'renderToPipeableStream'>,
  page: ReactElement,
): Promise<string> {
  return new Promise((resolve) => {
    renderer.renderToPipeableStream(page, {
      // Places in files are those of this test.
      onError: (_error, { componentStack = '' }) => resolve(componentStack.replaceAll(/ \(.*\)/g, '')),
    });
  });
}

async function assertSameStack(compiled: ReactElement, plain: ReactElement): Promise<void> {
  const expected = await stackOf(stock, plain);
  assert.notEqual(expected, '');
  assert.equal(await stackOf(sluice, compiled), expected);
}

void test('of an attribute, within the template', async () => {
  await assertSameStack(list(['a', throws]), build(['a', throws]));
});

void test('of an attribute of the root, behind a sibling that has a child', async () => {
  await assertSameStack(
    h('main', null, line(['t', h('b')]), line([throws, 'x'])),
    h('main', null, buildLine(['t', h('b')]), buildLine([throws, 'x'])),
  );
});

void test('of a component in a hole', async () => {
  await assertSameStack(list([h(Fails), 't']), build([h(Fails), 't']));
});

void test('of a component whose element was not made, of any type', async () => {
  const Around = ({ of }: { of: () => never }): ReactElement => item([of, {}]);
  const Plain = ({ of }: { of: () => never }): ReactElement => buildItem([of, {}]);
  Object.defineProperty(Plain, 'name', { value: 'Around' });
  for (const type of [
    Fails,
    React.memo(Fails),
    React.forwardRef(Fails),
    undefined,
    'x y',
    { not: 'a type' },
  ]) {
    await assertSameStack(item([type, {}]), buildItem([type, {}]));
    await assertSameStack(h(Around, { of: type as never }), h(Plain, { of: type as never }));
  }
});

void test('of another type in the same hole', async () => {
  const Other = (): never => Fails();
  for (const type of [Fails, Other, Fails]) await assertSameStack(item([type, {}]), buildItem([type, {}]));
});
