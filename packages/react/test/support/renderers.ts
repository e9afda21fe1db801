/** React, react-dom and the renderer in their production builds: imported first, since the builds are chosen when they load. */
process.env['NODE_ENV'] = 'production';

export const React = (await import('react')).default;
export const ReactDOM = (await import('react-dom')).default;
export const stock = await import('react-dom/server');
export const sluice = await import('../../src/server.js');
