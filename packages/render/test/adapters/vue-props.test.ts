// Data never becomes an attribute of a Vue component's root by surprise: there it could run script.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAsyncComponent, defineComponent, h } from 'vue';
import { contextOf } from '../../src/adapters/slot.js';
import { vue } from '../../src/adapters/vue.js';
import { declaredProps } from '../../src/adapters/vue-props.js';

const hostile = {
  innerHTML: '<img src=x onerror=alert(1)>',
  textContent: 'replaced',
  onclick: 'alert(1)',
  '.innerHTML': '<img src=x onerror=alert(1)>',
  '^onclick': 'alert(1)',
  srcdoc: '<script>alert(1)</script>',
  href: 'javascript:alert(1)',
  style: 'position:fixed;inset:0',
};
const data = { title: 'Shoes', class: 'wide', id: 'shoes', 'aria-label': 'Shoes', ...hostile };

async function render(view: unknown, props: Readonly<Record<string, unknown>> = data): Promise<string> {
  return vue().render(view, props, contextOf('b0', new AbortController().signal));
}

const Link = defineComponent({ props: ['title'], render: ({ title }: { title: string }) => h('a', title) });
const SAFE = '<a class="wide" id="shoes" aria-label="Shoes">Shoes</a>';

test('props that a Vue component does not declare are no attributes, but for harmless ones', async () => {
  assert.equal(await render(Link), SAFE);
});

test('an asynchronous Vue component has the props that it declares once it is loaded', async () => {
  assert.equal(await render(defineAsyncComponent(async () => Promise.resolve(Link))), SAFE);
});

test('a Vue component has props of its mixins and its base, in either spelling', async () => {
  const view = defineComponent({
    mixins: [{ props: { unitPrice: Number } }],
    extends: { props: ['maxCount'] },
    render: (props: { unitPrice: number; maxCount: number }) =>
      h('b', `${props.unitPrice}/${props.maxCount}`),
  });
  assert.equal(await render(view, { 'unit-price': 3, maxCount: 4 }), '<b>3/4</b>');
});

test('a Vue component that places its attributes itself gets them all', () => {
  const view = defineComponent({ inheritAttrs: false, render: () => h('b') });
  assert.equal(declaredProps(view, data), data);
});

test('an asynchronous Vue component that is not loaded yet gets nothing that runs script', () => {
  const props = declaredProps(
    defineAsyncComponent(async () => Promise.resolve(Link)),
    data,
  );
  assert.deepEqual(Object.keys(props), ['title', 'class', 'id', 'aria-label', 'href', 'style']);
});
