/** Hooks of components that read the shop's graph, on the server and in browsers. */

import { graphHooks } from '@sluice/graph/react';
import type { GraphHooks } from '@sluice/graph/react';
import type { ShopSchema } from './schema.js';

type Hooks = GraphHooks<ShopSchema>;
const hooks: Hooks = graphHooks<ShopSchema>();

export const useGraph: Hooks['useGraph'] = hooks.useGraph;
export const useValue: Hooks['useValue'] = hooks.useValue;
export { useModel, useRetry } from '@sluice/graph/react';
