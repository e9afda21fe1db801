// The state of a page while its document is on its way, cut off, or replaced by that of another page.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type Model } from '../../src/index.js';
import { startGraph } from '../../src/page/browser.js';
import { stateOnItsWay } from '../../src/page/current.js';
import type { DataSource } from '../../src/types.js';

/** Script of the document, as the parser has it so far. */
class Script {
  parentNode = null;
  nextSibling: object | null = null;
  textContent: string;
  #attribute: string | null;

  constructor(text: string, attribute = '') {
    this.textContent = text;
    this.#attribute = attribute;
  }

  get isTaken(): boolean {
    return this.#attribute === null;
  }

  getAttribute(): string | null {
    return this.#attribute;
  }

  removeAttribute(): void {
    this.#attribute = null;
  }
}

class Document extends EventTarget {
  readyState = 'loading';
  readonly scripts: Script[] = [];

  querySelectorAll(): Script[] {
    return this.scripts.filter(({ isTaken }) => !isTaken);
  }

  load(): void {
    this.readyState = 'interactive';
    this.dispatchEvent(new Event('DOMContentLoaded'));
  }
}

function documentOf(t: TestContext, ...scripts: Script[]): Document {
  const document = new Document();
  document.scripts.push(...scripts);
  Object.assign(globalThis, { document });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  return document;
}

const nameOf = (model: Model): unknown => model.read<{ name: unknown }>('name').json?.name;

void test('a state of which a part has arrived is waited for', async (t) => {
  const script = new Script('{"name":"an');
  const document = documentOf(t, script);
  const model = startGraph({});
  assert.equal(nameOf(model), undefined);
  const coming = stateOnItsWay(model);
  assert.ok(coming !== undefined);
  script.textContent += 'n"}';
  document.load();
  await coming;
  assert.equal(nameOf(model), 'ann');
  assert.equal(stateOnItsWay(model), undefined);
});

void test('a state that something follows is taken at once, and one behind it at the end', async (t) => {
  const first = new Script('{"name":"ann"}');
  const second = new Script('{"age":');
  first.nextSibling = second;
  const document = documentOf(t, first, second);
  const model = startGraph({});
  assert.equal(nameOf(model), 'ann');
  const coming = stateOnItsWay(model);
  assert.ok(coming !== undefined);
  second.textContent += '7}';
  document.load();
  await coming;
  assert.deepEqual(model.read('age').missing, []);
});

void test('components do not wait for ever for a state that was cut off', async (t) => {
  const said = t.mock.method(console, 'error', () => undefined);
  const document = documentOf(t, new Script('{"name":"an'));
  const source: DataSource = { get: async () => ({ jsonGraph: { name: 'asked for' } }) };
  const model = startGraph({ source });
  const coming = stateOnItsWay(model);
  document.load();
  await coming;
  assert.equal(said.mock.callCount(), 1);
  assert.equal(await model.getValue('name'), 'asked for');
});

void test('a document that is there, with a state that cannot be read, has a model', async (t) => {
  t.mock.method(console, 'error', () => undefined);
  const document = documentOf(t, new Script('{"name":'), new Script('{"name":"ann"}'));
  document.readyState = 'complete';
  const model = startGraph({});
  assert.equal(nameOf(model), 'ann');
  assert.equal(stateOnItsWay(model), undefined);
});

void test('a page without a new document is not held to have what the pages before it had', async (t) => {
  const document = documentOf(t, new Script('{"a":1,"b":{"c":1}}', 'counted'));
  document.readyState = 'complete';
  const held: (readonly number[] | undefined)[] = [];
  const source: DataSource = {
    get: async (_, options) => {
      held.push(options?.held);
      return { jsonGraph: { a: 2, b: { c: 2 } } };
    },
  };
  const model = startGraph({ source });
  const again = async (): Promise<void> => {
    model.invalidate('a', 'b.c');
    await model.get('a', 'b.c');
  };
  await again();
  // A page without a graph: that of the document is still shown.
  document.dispatchEvent(new Event('sluice:swap'));
  await again();
  document.scripts.push(new Script('{"b":{"c":3}}', 'counted'));
  document.dispatchEvent(new Event('sluice:navigate'));
  document.dispatchEvent(new Event('sluice:swap'));
  await again();
  assert.deepEqual(held, [[0, 1], [0, 1], [1]]);
});

void test('a page that was asked for before a call brings back nothing that the call has invalidated', async (t) => {
  const document = documentOf(t);
  document.readyState = 'complete';
  const asked: unknown[] = [];
  const source: DataSource = {
    get: async (paths) => {
      asked.push(...paths);
      return { jsonGraph: { cart: { count: 2 } } };
    },
    call: async () => ({ jsonGraph: {}, invalidated: [['cart', 'count']] }),
  };
  const model = startGraph({ source });
  const shown = (text: string): void => {
    document.scripts.push(new Script(text));
    document.dispatchEvent(new Event('sluice:swap'));
  };
  document.dispatchEvent(new Event('sluice:navigate'));
  await model.call('cart.add');
  shown('{"cart":{"count":1},"name":"old"}');
  assert.equal(await model.getValue('cart.count'), 2);
  assert.equal(nameOf(model), undefined);
  // The page after it was asked for later.
  document.dispatchEvent(new Event('sluice:navigate'));
  shown('{"cart":{"count":3},"name":"new"}');
  assert.equal(await model.getValue('cart.count'), 3);
  assert.equal(nameOf(model), 'new');
  // An invalidation by the app counts as well.
  document.dispatchEvent(new Event('sluice:navigate'));
  model.invalidate('name');
  shown('{"name":"new"}');
  assert.equal(nameOf(model), undefined);
  assert.deepEqual(asked, [['cart', 'count']]);
});
