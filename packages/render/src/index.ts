/** `@sluice/render`: components by name, each rendered as a task of its own, to fragments and pages. */
export { createRegistry } from './registry/registry.js';
export type { ComponentModule, Registry, RegistryOptions, VersionOptions } from './registry/registry.js';
export { registryFromFiles, type FilesOptions } from './registry/files.js';
export { createTaskQueue } from './tasks/queue.js';
export type { PageOptions, PageTasks, QueueOptions, TaskQueue } from './tasks/queue.js';
export type { Failed, Failure, Job, JobContext, Rendered, TaskResult } from './tasks/result.js';
export { InvalidPropsError, LateError } from './tasks/errors.js';
export { plain, type PlainView } from './adapters/plain.js';
export type { Adapter, RenderContext, Slots } from './adapters/adapter.js';
export type {
  Component,
  Hydration,
  Props,
  PropsSchema,
  Rendering,
  SchemaResult,
  Settings,
} from './component.js';
export { createServer, middleware, type Handler, type HandlerOptions } from './http/handler.js';
export { HttpError } from './http/errors.js';
export { serialise } from './state/serialise.js';
export { revive } from './state/revive.js';
