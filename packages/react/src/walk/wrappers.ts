/** Element types that are symbols of React: they have no HTML of their own but comments. */
import { transitionFormat } from '../facts/format.js';
import {
  ACTIVITY,
  DEBUG_TRACE_MODE,
  FRAGMENT,
  LEGACY_HIDDEN,
  PROFILER,
  SCOPE,
  STRICT_MODE,
  SUSPENSE,
  SUSPENSE_LIST,
  VIEW_TRANSITION,
  type Props,
} from '../facts/react.js';
import { ALONE } from '../facts/tree-id.js';
import { renderNode } from './recursion.js';
import { renderSuspense } from './suspense.js';
import { Unsupported, leaveStreams } from '../facts/unsupported.js';
import { hasActivity, hasDebugTraces, hasViewTransition, listsReveal } from '../facts/versions.js';
import type { Render } from '../state/render.js';

/** Types that this version of React does not have are as wrong as any other symbol. */
const UNKNOWN_TYPES = new Set([
  ...(hasViewTransition ? [] : [VIEW_TRANSITION]),
  ...(hasActivity ? [] : [ACTIVITY]),
  ...(hasDebugTraces ? [] : [DEBUG_TRACE_MODE]),
]);

export function renderWrapper(render: Render, type: unknown, props: Props): void {
  switch (UNKNOWN_TYPES.has(type as symbol) ? undefined : type) {
    case FRAGMENT:
    case STRICT_MODE:
    case PROFILER:
    case LEGACY_HIDDEN:
    case DEBUG_TRACE_MODE:
      return renderNode(render, props['children'], ALONE);
    case SUSPENSE:
      return renderSuspense(render, props);
    case ACTIVITY:
      return renderActivity(render, props);
    case VIEW_TRANSITION:
      return renderViewTransition(render, props);
    case SUSPENSE_LIST:
      if (listsReveal) {
        if (!render.mayFallBack) leaveStreams('SuspenseList');
        throw new Unsupported('SuspenseList');
      }
      return renderNode(render, props['children'], ALONE);
    case SCOPE:
      throw new Error('ReactDOMServer does not yet support scope components.');
    default: {
      const found = type === null || type === undefined ? String(type) : typeof type;
      throw new Error(
        `Element type is invalid: expected a string (for built-in components) or a class/function (for composite components) but got: ${found}.`,
      );
    }
  }
}

function renderActivity(render: Render, props: Props): void {
  if (props['mode'] === 'hidden') return;
  render.chained = false;
  if (!render.markup) render.out += '<!--&-->';
  render.lastText = false;
  renderNode(render, props['children'], ALONE);
  if (!render.markup) render.out += '<!--/&-->';
  render.lastText = false;
}

function renderViewTransition(render: Render, props: Props): void {
  render.notCacheable();
  const { format } = render;
  const { name } = props;
  const isNamed = name !== null && name !== undefined && name !== 'auto';
  const autoName = isNamed ? (name as string) : render.makeId(0);
  // A string is no stream that a browser could animate: its elements get no attributes for that.
  if (render.mode === 'stream') render.format = transitionFormat(render.resources, format, props, autoName);
  if (isNamed) renderNode(render, props['children'], ALONE);
  else {
    render.chained = false;
    render.pushFork(1, 0);
    renderNode(render, props['children'], ALONE);
    render.forks -= 1;
  }
  render.format = format;
}
