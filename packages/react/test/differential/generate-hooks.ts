/** Invents the hooks of a component. */

import * as fc from 'fast-check';
import { action, value } from './attributes.ts';
import type { Hint, Hook } from './description.ts';
import { contextCount, promiseCount } from './world.ts';

const context = fc.nat({ max: contextCount - 1 });
const promise = fc.nat({ max: promiseCount - 1 });

const hints: fc.Arbitrary<Hook> = fc.record({
  h: fc.constant('hint' as const),
  call: fc.constantFrom<Hint>(
    'prefetchDNS',
    'preconnect',
    'preload',
    'preloadModule',
    'preinit',
    'preinitModule',
  ),
  href: fc.constantFrom('/a', '/b', '/c?x=1&y="2"', 'https://cdn.example/x', ''),
  options: fc.array(
    fc.oneof(
      fc.tuple(
        fc.constant('as'),
        fc.constantFrom('style', 'script', 'image', 'font', 'fetch', 'serviceworker'),
      ),
      fc.tuple(fc.constant('crossOrigin'), fc.constantFrom('anonymous', 'use-credentials', '')),
      fc.tuple(fc.constant('precedence'), fc.constantFrom('default', 'high')),
      fc.tuple(
        fc.constantFrom('integrity', 'nonce', 'type', 'media', 'referrerPolicy'),
        fc.constantFrom('x', 'a"b'),
      ),
      fc.tuple(fc.constant('fetchPriority'), fc.constantFrom('high', 'low')),
      fc.tuple(fc.constant('imageSrcSet'), fc.constantFrom('/a 1x, /b 2x', '')),
      fc.tuple(fc.constant('imageSizes'), fc.constant('100vw')),
    ),
    { maxLength: 4 },
  ),
});

const hook: fc.Arbitrary<Hook> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Hook>({ h: 'id' }) },
  {
    weight: 4,
    arbitrary: fc.record({
      h: fc.constant('state' as const),
      v: value,
      lazy: fc.boolean(),
      updates: fc.constantFrom(0, 0, 0, 1, 2, 24, 25),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      h: fc.constant('reducer' as const),
      start: fc.nat(5),
      init: fc.boolean(),
      dispatches: fc.array(fc.nat(9), { maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      h: fc.constant('context' as const),
      context,
      through: fc.constantFrom('useContext' as const, 'use' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ h: fc.constant('use' as const), promise }) },
  { weight: 2, arbitrary: hints },
  {
    weight: 2,
    arbitrary: fc.record({
      h: fc.constant('action-state' as const),
      action,
      permalink: fc.option(fc.constantFrom('/p', '/q?a&b')),
      form: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      h: fc.constant('memo' as const),
      deps: fc.constantFrom('none' as const, 'empty' as const, 'changing' as const),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom<Hook>(
      { h: 'ref' },
      { h: 'callback' },
      { h: 'deferred', initial: true },
      { h: 'deferred', initial: false },
      { h: 'transition', start: false },
      { h: 'optimistic', update: false },
      { h: 'form-status' },
      { h: 'store', server: true },
      { h: 'effects' },
      { h: 'memo-cache' },
      { h: 'cache' },
      { h: 'effect-event', call: false },
      { h: 'use-settled', status: 'fulfilled' },
    ),
  },
);

/** Hooks that throw. */
const faulty: fc.Arbitrary<Hook> = fc.constantFrom<Hook>(
  { h: 'transition', start: true },
  { h: 'optimistic', update: true },
  { h: 'store', server: false },
  { h: 'endless' },
  { h: 'more-hooks' },
  { h: 'effect-event', call: true },
  { h: 'use-settled', status: 'rejected' },
  { h: 'browser' },
);

/** `wild`: whether some throw. */
export function hooksOf(wild: boolean): fc.Arbitrary<readonly Hook[]> {
  return fc.array(wild ? fc.oneof({ weight: 12, arbitrary: hook }, { weight: 1, arbitrary: faulty }) : hook, {
    maxLength: 4,
  });
}
