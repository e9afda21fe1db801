/** Services of Sluice for a worker that renders components. Their types are in the package's API. */
export {
  type ComponentReport,
  type Outcome,
  type OverrunCount,
  type RenderHost,
  renderHost,
} from '#host/render-host.js';
