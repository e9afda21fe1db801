/** Element types that are symbols of React: they have no HTML of their own but comments. */
import { transitionFormat } from '../facts/format.js';
import * as react from '../facts/react.js';
import type { Props } from '../facts/react.js';
import { ALONE } from '../facts/tree-id.js';
import { renderNode } from './recursion.js';
import { renderSuspense } from './suspense.js';
import { Unsupported, leaveStreams } from '../facts/unsupported.js';
import { profile } from '../facts/profile.js';
import type { Render } from '../state/render.js';

/** Types that this version of React does not have are as wrong as any other symbol. */
const unknownTypes = new Set<unknown>(profile.unknownTypes);

export function renderWrapper(render: Render, type: unknown, props: Props): void {
  switch (unknownTypes.has(type) ? undefined : type) {
    case react.FRAGMENT:
    case react.STRICT_MODE:
    case react.PROFILER:
    case react.LEGACY_HIDDEN:
    case react.DEBUG_TRACE_MODE:
      return renderNode(render, props['children'], ALONE);
    case react.SUSPENSE:
      return renderSuspense(render, props);
    case react.ACTIVITY:
      return renderActivity(render, props);
    case react.SUSPENSE_LIST:
      if (profile.lists === 'reveal') {
        if (!render.mayFallBack) leaveStreams('SuspenseList');
        throw new Unsupported('SuspenseList');
      }
      return renderNode(render, props['children'], ALONE);
    case react.VIEW_TRANSITION:
      return renderViewTransition(render, props);
    case react.SCOPE:
      throw refusedScope();
    default: {
      const found = type === null || type === undefined ? String(type) : typeof type;
      throw new Error(
        `Element type is invalid: expected a string (for built-in components) or a class/function (for composite components) but got: ${found}.`,
      );
    }
  }
}

const refusedScope = (): Error => new Error('ReactDOMServer does not yet support scope components.');

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
  if (profile.viewTransitions === 'as-scopes') throw refusedScope();
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
