/** The first task of a render. */
import { purges } from '../cache/cacheable.js';
import { rootFormat } from '../facts/format.js';
import { finishAbortedTask } from './abort.js';
import { addTask } from '../state/segments.js';
import { ALONE, ROOT_ID } from '../facts/tree-id.js';
import { Segment, type Render } from '../state/render.js';

export function startRoot(render: Render, children: unknown, namespaceURI?: unknown): void {
  const format = rootFormat(namespaceURI);
  const segment = new Segment(null, format, false, false);
  segment.parentFlushed = true;
  render.finishAborted = finishAbortedTask;
  render.purges = purges();
  render.segment = segment;
  render.pingedTasks.push(
    addTask(render, {
      node: children,
      index: ALONE,
      boundary: null,
      segment,
      preamble: null,
      hoistables: null,
      abortSet: render.abortableTasks,
      keyPath: null,
      stack: null,
      format,
      contexts: null,
      treeId: ROOT_ID,
      thenables: null,
      suspended: false,
      keeping: null,
    }),
  );
}
