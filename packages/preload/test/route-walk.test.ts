import assert from 'node:assert/strict';
import { test } from 'node:test';
import { honoRegExp } from '../src/routes/route-list.js';
import { endsRequests, type Handler, judge, meet, samplesOf, type Step } from '../src/routes/route-walk.js';

const ends: Handler = (_request: unknown, _response: unknown) => {};
const passes: Handler = (_request: unknown, _response: unknown, next: () => void) => next();

/** A route whose path is an expression between slashes, or as Hono has it. */
function route(path: string, more: Partial<Step> = {}): Step {
  const regexp = honoRegExp(path);
  return {
    kind: 'route',
    methods: ['GET'],
    path,
    templates: [path],
    handlers: [ends],
    next: 2,
    match: (given) => (regexp?.test(given) === true ? '' : undefined),
    ...more,
  };
}

test('a route behind a parameter or a wildcard is never reached, one before it is', () => {
  const wide = route('/users/:id');
  const me = route('/users/me');
  const all = route('/*');
  const last = route('/users/:id/posts');
  const steps = [wide, me, all, last];
  assert.deepEqual(judge(steps, wide)?.caughtBy, undefined);
  assert.deepEqual([judge(steps, me)?.caughtBy, judge(steps, me)?.isCertain], [wide, true]);
  assert.deepEqual(judge(steps, last)?.caughtBy, all);
  assert.equal(judge([me, wide], wide)?.caughtBy, undefined, 'only some of its paths');
  assert.equal(judge(steps, me)?.tests, 2);
});

test('another method, a bound that some paths do not fit, and an error handler catch nothing', () => {
  const me = route('/users/me');
  const id = route('/users/:id');
  assert.equal(judge([route('/users/:id', { methods: ['POST'] }), me], me)?.caughtBy, undefined);
  assert.equal(judge([route('/users/:id{[0-9]+}'), id], id)?.caughtBy, undefined);
  assert.equal(judge([route('/*', { kind: 'error' }), me], me)?.caughtBy, undefined);
  const head = route('/a', { methods: ['HEAD'] });
  const get = route('/a');
  assert.equal(judge([get, head], head)?.caughtBy, get, 'GET answers HEAD');
});

test('what may pass a request on may be told, and middleware that may is not', () => {
  const me = route('/users/me');
  const wide = route('/users/:id', { handlers: [passes] });
  const found = judge([wide, me], me);
  assert.deepEqual([found?.caughtBy, found?.isCertain], [wide, false]);
  for (const passing of [
    route('/*', { kind: 'middleware', methods: [], handlers: [passes] }),
    route('/users/:id', { methods: [], handlers: [passes] }),
    route('/users/*', { handlers: [passes] }),
  ]) {
    assert.equal(judge([passing, me], me)?.caughtBy, undefined, passing.path);
  }
  const wall = route('/*', { kind: 'middleware', methods: [] });
  assert.equal(judge([wall, me], me)?.caughtBy, wall, 'middleware that cannot pass requests on');
});

test('only a handler that surely has no way to pass a request on ends it', () => {
  const of = (...handlers: Handler[]) => endsRequests({ ...route('/'), handlers });
  assert.equal(of(ends), true);
  assert.equal(of(passes, ends), true);
  assert.equal(of(ends, passes), false);
  assert.equal(of(), false);
  assert.equal(
    of((...all: unknown[]) => all),
    false,
  );
  assert.equal(of(ends.bind(undefined)), false);
  const old: Handler = function () {
    // oxlint-disable-next-line prefer-rest-params
    return arguments[2] as unknown;
  };
  assert.equal(of(old), false);
});

test('a mounted router is looked through where its path fits, and on the way to what comes after', () => {
  const item = route('/items/:id');
  const fresh = route('/items/new', { templates: ['/shop/items/new'] });
  const mount: Step = {
    ...route('/shop'),
    kind: 'mount',
    methods: [],
    match: (path) => (path.startsWith('/shop/') ? path.slice(5) : undefined),
    below: [item, fresh],
  };
  const after = route('/shop/cart');
  const elsewhere = route('/other');
  const steps = [mount, after, elsewhere];
  assert.deepEqual([judge(steps, fresh)?.caughtBy, judge(steps, fresh)?.tests], [item, 3]);
  assert.equal(judge(steps, after)?.tests, 4);
  assert.equal(judge(steps, elsewhere)?.tests, 3);
  assert.equal(meet(steps, '/none', 'GET', undefined).tests, 3);
});

test('a route of which no path can be made is not judged', () => {
  const odd = route('/x', { templates: [] });
  assert.equal(judge([route('/*'), odd], odd), undefined);
  const unfit = route('/x', { templates: ['/y'] });
  assert.equal(judge([route('/*'), unfit], unfit), undefined);
});

test('paths are made of the templates of every router', () => {
  for (const [template, path] of [
    ['/users/:id', '/users/7'],
    ['/:lang(en|de)/about', '/en/about'],
    ['/a/:b?', '/a'],
    ['/a/:b?', '/a/7'],
    ['/files/*path', '/files/x/y'],
    ['/files/(.*)', '/files/x/y'],
    ['/a{/:b}', '/a'],
    ['/a{/:b}', '/a/7'],
    ['/posts/:id{[0-9]+}', '/posts/7'],
    ['*', '/x/y'],
    ['/', '/'],
  ] as const) {
    assert.ok(samplesOf(template).includes(path), `${template}: ${samplesOf(template).join(' ')}`);
  }
});

test("Hono's paths are read as its routers do", () => {
  const fits = (path: string, given: string) => honoRegExp(path)?.test(given);
  assert.deepEqual(
    [
      fits('*', '/a/b'),
      fits('/a/*', '/a'),
      fits('/a/*', '/a/b/c'),
      fits('/a/*/c', '/a/b/c'),
      fits('/a/*', '/ab'),
    ],
    [true, true, true, true, false],
  );
  assert.deepEqual(
    [fits('/:id{[0-9]{2}}', '/42'), fits('/:id{[0-9]{2}}', '/4'), fits('/a/:b?', '/a'), fits('/a.b', '/axb')],
    [true, false, true, false],
  );
  assert.equal(honoRegExp('/:id{(}'), undefined);
});
