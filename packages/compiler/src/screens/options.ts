/** Options of the compiler of screens. */
import type { FileReport, Pass } from './report.js';

export interface ScreensOptions {
  /** Passes to switch off with `false`; all are on by default. */
  readonly passes?: Readonly<Partial<Record<Pass, boolean>>>;
  /** Major version of React at run time; by default that of the `react` that the file would import. */
  readonly react?: 18 | 19;
  /**
   * Whether no component looks into elements that it is given, nor copies or changes them (`cloneElement`, `Children.map`): false by default.
   * With true, elements within components and in attributes are compiled like those that go straight to the renderer.
   */
  readonly opaqueElements?: boolean;
  /** Gets the report of each file. */
  readonly report?: (report: FileReport) => void;
}
