// The hooks on the server with React 18.3, which many apps have.
import type * as hooks from './hooks.js';
import { imported18 } from './react18.js';

const { hooksOnServer } = (await imported18('hooks.ts')) as typeof hooks;
hooksOnServer('18.3');
