/**
 * Whether this React is one that the renderer was compared with. The renderer must not touch what it does not know inside of React. A
 * function that its own dispatchers lack would fail in the midst of a component, or of react-dom itself.
 */
import { lineOf } from '../facts/lines.js';
import { profile } from '../facts/profile.js';
import { ReactDOMServer, hasSlots, namesInSlots, resourceSlot, version } from '../facts/react.js';
import { hookNames } from '../walk/hooks.js';

export function isKnown(): boolean {
  const functions = resourceSlot === undefined ? null : Object.keys(resourceSlot.d).toSorted().join(' ');
  const isLine = lineOf(version) === profile.line && version === ReactDOMServer.version;
  if (!isLine || !hasSlots || functions !== profile.resourceFunctions) return false;
  return namesInSlots().every((name) => hookNames.has(name));
}
