/** The compiler's one piece of knowledge about react-dom: which tags it writes by its general rule. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generalTags, isGeneralAttribute, isPreformatted, isVoidTag } from '../src/tags.js';
import { versions } from './support/versions.js';

// Among them those that React 19 moves to the end on a form or a button.
const PROPS: Readonly<Record<string, unknown>> = {
  title: 'a',
  action: '/b',
  name: 'c',
  method: 'post',
  formAction: '/d',
  className: 'e',
  type: 'f',
  value: 'g',
  data: '',
  loading: 'lazy',
  src: '/h',
  hidden: true,
};

for (const { name: version, react, server } of versions) {
  const { createElement } = react;
  const onDiv = (name: string): string =>
    server
      .renderToString(createElement('div', { [name]: PROPS[name] }))
      .slice('<div'.length, -'></div>'.length);

  void test(`react-dom ${version} writes each tag of templates by the general rule`, () => {
    for (const tag of generalTags()) {
      const names = Object.keys(PROPS).filter((name) => isGeneralAttribute(tag, name));
      const props = Object.fromEntries(names.map((name) => [name, PROPS[name]]));
      const start = `<${tag}${names.map(onDiv).join('')}`;
      const children = isVoidTag(tag) ? [] : ['\ntext', createElement('x', { key: 0 }), '&'];
      const html = isVoidTag(tag) ? `${start}/>` : `${start}>\ntext<x></x>&amp;</${tag}>`;
      for (const parent of ['div', 'svg', 'table']) {
        const element = createElement(
          parent,
          null,
          'before',
          createElement(tag, props, ...children),
          'after',
        );
        assert.equal(server.renderToString(element), `<${parent}>before${html}after</${parent}>`);
      }
    }
  });

  void test(`react-dom ${version} writes a text that is an only child by the general rule`, () => {
    for (const tag of generalTags()) {
      if (isVoidTag(tag)) continue;
      const feed = isPreformatted(tag) ? '\n' : '';
      assert.equal(server.renderToString(createElement(tag, null, '\n<')), `<${tag}>${feed}\n&lt;</${tag}>`);
    }
  });
}
