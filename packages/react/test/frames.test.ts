/** Names on the stack for a profile: which component it is, around all that is done for it, and no other HTML. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { React, sluice } from './support/renderers.js';

const { createElement: h } = React;
const { renderToStaticMarkup, renderToString } = sluice;

interface Copy {
  statistics(): { renders: number };
  nameFrames(
    make: ((name: string) => (run: (...rest: unknown[]) => void, ...rest: unknown[]) => void) | null,
  ): void;
}

const copies = (globalThis as unknown as { [key: symbol]: Copy[] })[Symbol.for('sluice.react.copies.1')];

void test('this copy is in the list, once', () => {
  assert.equal(copies?.length, 1);
  const before = copies[0]?.statistics().renders;
  renderToString('text');
  assert.equal(copies[0]?.statistics().renders, Number(before) + 1);
});

void test('every kind of component is rendered within the frame of its name', () => {
  class Old extends React.Component<{ children?: React.ReactNode }> {
    override render(): React.ReactNode {
      return h('u', null, this.props.children);
    }
  }
  const Memo = React.memo(function Inner() {
    return h('b', { title: 'x' }, h(Old, null, 'old'));
  });
  const Named = React.forwardRef(() => h('i', null, 'ref'));
  Named.displayName = 'Named.Ref';
  const Bare = [(): React.ReactNode => h('s')][0] as () => React.ReactNode;
  const Page = (): React.ReactNode => h('p', null, h(Memo), h(Named), h(Bare));
  const page = h(Page);
  const html = renderToStaticMarkup(page);

  const events: string[] = [];
  copies?.[0]?.nameFrames((name) => (run, ...rest) => {
    events.push(`<${name}>`);
    run(...rest);
    events.push(`</${name}>`);
  });
  try {
    assert.equal(renderToStaticMarkup(page), html);
  } finally {
    copies?.[0]?.nameFrames(null);
  }
  assert.equal(
    events.join(''),
    '<Page><Inner><Old></Old></Inner><Named.Ref></Named.Ref><(anonymous component)></(anonymous component)></Page>',
  );
  events.length = 0;
  assert.equal(renderToStaticMarkup(page), html);
  assert.deepEqual(events, []);
});
