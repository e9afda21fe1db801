/** React's packages in their production build, which they choose when they load: to be imported first. */
import { createRequire } from 'node:module';
import type * as React from 'react';
import type * as Server from 'react-dom/server';

process.env['NODE_ENV'] = 'production';

const require = createRequire(import.meta.url);
export const react = require('react') as typeof React;
export const server = require('react-dom/server') as typeof Server;
