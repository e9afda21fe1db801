/** The first task of a render. */
import { purges } from '../cache/cacheable.js';
import { rootFormat } from '../facts/format.js';
import { finishAbortedTask } from './abort.js';
import { addTask } from '../state/segments.js';
import { ALONE } from '../facts/tree-id.js';
import { Segment, Task, type Render } from '../state/render.js';

export function startRoot(render: Render, children: unknown, namespaceURI?: unknown): void {
  const format = rootFormat(namespaceURI);
  const segment = new Segment(null, format, false, false);
  segment.parentFlushed = true;
  render.finishAborted = finishAbortedTask;
  render.purges = purges();
  render.segment = segment;
  render.pingedTasks.push(addTask(render, new Task(render, children, ALONE, segment, null, null)));
}
