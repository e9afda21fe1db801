/** `@sluice/render`: components by name, each rendered as a task of its own, to fragments and pages. */
export type { Abortable } from './abort.js';
export { createRegistry } from './registry/registry.js';
export type {
  ComponentModule,
  LazyOptions,
  Registry,
  RegistryOptions,
  VersionOptions,
} from './registry/registry.js';
export { LoadError } from './registry/load-error.js';
export { registryFromFiles, type FilesOptions } from './registry/files.js';
export { createTaskQueue } from './tasks/queue.js';
export type { PageOptions, PageTasks, QueueOptions, TaskQueue } from './tasks/queue.js';
export type { Failed, Failure, Job, JobPlace, Rendered, TaskResult } from './tasks/result.js';
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
export {
  createServer,
  fastifyHook,
  honoMiddleware,
  middleware,
  type HandlerOptions,
  type Served,
} from './http/handler.js';
export { leaveSignal, type Handler } from './http/node.js';
export { toFetch, type FetchHandler, type FetchOptions, type WithFetch } from './http/fetch.js';
export { createFragments, type FragmentOptions, type Fragments } from './fragments/fragments.js';
export type { BatchContext, JobContext, Plugin } from './fragments/plugins.js';
export type { BatchAnswer, FragmentError, FragmentJob, FragmentResult } from './fragments/protocol.js';
export { HttpError, type ErrorCode, type HttpErrorOptions } from './http/errors.js';
export { escapeHtml } from './state/escape.js';
export {
  serialize,
  /** @deprecated Renamed to `serialize`. */
  serialize as serialise,
} from './state/serialize.js';
export { revive } from './state/revive.js';
export {
  box,
  page,
  path,
  type Bindable,
  type BindableProps,
  type Binding,
  type BoxOptions,
} from './pages/builder.js';
export { named, type Named, type PropsOf } from './registry/named.js';
export { createPages, Pages } from './pages/pages.js';
export type {
  BoxAnswer,
  InputContext,
  Page,
  PageInput,
  PagesOptions,
  RenderOptions,
} from './pages/options.js';
export {
  boxResponse,
  pageHandler,
  pageResponse,
  respond,
  respondBox,
  styleHandler,
  type PageHandlerOptions,
  type ResponseOptions,
} from './pages/http.js';
export type {
  DocumentTree,
  FunctionSource,
  LinkTree,
  MetaTree,
  PageTree,
  Source,
  TreeNode,
  UpstreamSource,
} from './pages/tree.js';
export type { Bound, Condition } from './pages/bind.js';
export type { DocumentOptions } from './pages/document.js';
export type { HeaderOptions } from './pages/headers.js';
export type { Fill } from './pages/writer.js';
export type { OverrunsOptions } from './pages/overruns.js';
export { checkTree, InvalidTree } from './pages/check.js';
export { batched, type BatchFunction, type Batched, type BatchOptions } from './pages/batched.js';
export {
  SourceError,
  type SourceContext,
  type SourceFunction,
  type SourcesOptions,
} from './pages/sources.js';
export { readAssets, type Assets, type ComponentAssets } from './boxes/assets.js';
export type { BoxReport, PageReport } from './pages/report.js';
export type { StylesOptions } from './css/styles.js';
export {
  createRemote,
  type Remote,
  type RemoteComponentOptions,
  type RemoteOptions,
} from './remote/remote.js';
export { RemoteError, type RemoteReason } from './remote/errors.js';
export type { Allocation, Experiment, ListedVariant } from './variants/experiments.js';
export type { Shares } from './dial/dial.js';
export type { Device, Visitor, VisitorOptions } from './dial/visitor.js';
export type { ComponentReport, Outcome, OverrunCount, RenderHost } from './host.js';
