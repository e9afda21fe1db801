/** Components and jobs for tests. */
import type { Adapter } from '../../src/adapters/adapter.js';
import { plain, type PlainView } from '../../src/adapters/plain.js';
import { slotsOf } from '../../src/adapters/slot.js';
import type { Component, Props, Settings } from '../../src/component.js';
import type { Failed, Job, Rendered, TaskResult } from '../../src/tasks/result.js';

export function component(
  name: string,
  view: unknown,
  settings: Settings = {},
  adapter: Adapter = plain,
): Component {
  return { name, version: undefined, view, adapter, settings };
}

export function job(of: Component, props: Props = {}, more: Partial<Job> = {}): Job {
  return { component: of, props, context: { id: 'b1', slots: slotsOf([]) }, ...more };
}

export function viewJob(view: PlainView, settings: Settings = {}, more: Partial<Job> = {}): Job {
  return job(component('View', view, settings), {}, more);
}

export function rendered(result: TaskResult): Rendered {
  if (result.ok) return result;
  throw new Error(`no HTML: ${result.reason}`, { cause: result.error });
}

export function failed(result: TaskResult): Failed {
  if (!result.ok) return result;
  throw new Error(`HTML in place of a failure: ${result.html}`);
}
