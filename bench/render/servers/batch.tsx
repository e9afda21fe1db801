// A fragment server: batches of jobs, each a component of the listing with its props. `LIBRARY` is `sluice`, or the folder that holds Hypernova.
import { createRequire } from 'node:module';
import path from 'node:path';
import type { ComponentType } from 'react';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import Card from '../shop/card';
import Filters from '../shop/filters';
import Header from '../shop/header';
import { Crumbs, Footer, Hero, Nav, Pages, Promo } from '../shop/plain';
import Sort from '../shop/sort';

type Fragment = (data: object) => string | Promise<string>;
type Serve = (options: {
  devMode: boolean;
  host: string;
  port: number;
  getComponent: (name: string) => Fragment | undefined;
}) => unknown;

const components = { Card, Crumbs, Filters, Footer, Header, Hero, Nav, Pages, Promo, Sort };
const { LIBRARY = '', PORT } = process.env;

const { serve, fragmentOf } = LIBRARY === 'sluice' ? await ofSluice() : ofHypernova();
const fragments = new Map(
  Object.entries(components).map(([name, component]) => [
    name,
    fragmentOf(name, component as ComponentType<object>),
  ]),
);
serve({
  // One process: Hypernova's other mode forks, and its coordinator costs more.
  devMode: true,
  host: '127.0.0.1',
  port: Number(PORT),
  getComponent: (name) => fragments.get(name),
});

async function ofSluice() {
  const [hypernova, { renderReact }] = await Promise.all([
    import('@sluice/render/hypernova'),
    import('@sluice/render/hypernova-react'),
  ]);
  return { serve: hypernova.default as Serve, fragmentOf: renderReact };
}

/** Fragments as hypernova-react makes them, whose peers end at React 16. */
function ofHypernova() {
  const installed = createRequire(path.join(LIBRARY, 'package.json'));
  const { serialize } = installed('hypernova') as {
    serialize: (name: string, html: string, data: object) => string;
  };
  const fragmentOf =
    (name: string, component: ComponentType<object>): Fragment =>
    (data) =>
      serialize(name, renderToString(createElement(component, data)), data);
  return { serve: installed('hypernova/server') as Serve, fragmentOf };
}
