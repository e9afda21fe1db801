/** Hooks of screens that read the graph. */
import { graphHooks, type GraphHooks } from '@sluice/graph/react';
import type { LivingSchema } from './schema.js';

type Hooks = GraphHooks<LivingSchema>;
const hooks: Hooks = graphHooks<LivingSchema>();

export const useGraph: Hooks['useGraph'] = hooks.useGraph;
export const useValue: Hooks['useValue'] = hooks.useValue;
export const useModel: Hooks['useModel'] = hooks.useModel;
export { useRetry } from '@sluice/graph/react';
