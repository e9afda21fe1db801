/** Checked by `types.test.ts`, never run: what an ES module of an app in TypeScript sees of this package. */
import { createElement } from 'react';
import { Cached, type CachedProps } from '@sluice/react';
import { renderToString, type Statistics } from '@sluice/react/server';
import { CHILD } from '@sluice/react/template';

const props: CachedProps = { cacheKey: 'a', ttl_ms: 1 };
export const html: string = renderToString(createElement(Cached, props));
export const renders: Statistics['renders'] = CHILD;

// @ts-expect-error -- The types are those of the functions, not `any`.
export const wrong: number = renderToString(createElement(Cached, props));
