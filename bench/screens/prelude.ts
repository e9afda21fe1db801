/** Globals that measurements need on engines that are no browser. */
import { type Engine, engines } from './engines.js';

/** Globals of browsers that engines lack, for the front of a bundle. A script prints by `report`. */
export const PRELUDE = `
var now_ms = typeof performance !== 'undefined' ? function () { return performance.now(); } : function () { return preciseTime() * 1000; };
var report = typeof console !== 'undefined' && console.log ? function (text) { console.log(text); } : function (text) { print(text); };
if (typeof globalThis.console === 'undefined') globalThis.console = { log: report, error: report, warn: report };
if (!console.error) console.error = report;
if (typeof performance === 'undefined') globalThis.performance = { now: now_ms };
if (typeof setTimeout === 'undefined') { globalThis.setTimeout = function () { return 0; }; globalThis.clearTimeout = function () {}; }
if (typeof queueMicrotask === 'undefined') globalThis.queueMicrotask = function (run) { Promise.resolve().then(run); };
`;

/** The engines of this machine; `QUICKJS` names a `qjs` where the player is not built. */
export function all(): Engine[] {
  const found = engines();
  const command = process.env['QUICKJS'];
  const isMissing = !found.some(({ name }) => name === 'QuickJS');
  return command !== undefined && isMissing
    ? [...found, { name: 'QuickJS', command, args: [], env: {} }]
    : found;
}
