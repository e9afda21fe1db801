/**
 * Diagnostic report of Node.js for the case that this worker dies of a full heap, of an exception that nothing catches, or of
 * `process.abort()`. The file lies beside the worker's socket, where no other user can read it. The gateway moves it to the
 * state directory, without the environment, and deletes what nobody needs (`gateway/supervisor/src/evidence.rs`).
 */
import { basename, dirname } from 'node:path';

/** Properties that types of older versions of Node.js lack. */
type Report = NodeJS.ProcessReport & { excludeNetwork?: boolean; excludeEnv?: boolean };

/** Path of the report of a process that listens on `socketPath`. A child that the app forks has another one. */
export function crashReportPath(socketPath: string, pid: number): string {
  return `${socketPath}.${pid}.report`;
}

/**
 * Turns the reports on, unless the app or its options have done so. Versions of Node.js without `excludeNetwork` write none: their
 * reports ask the DNS for the name of each peer, which takes seconds where no server answers.
 */
export function reportCrashes(report: Report | undefined, file: string): void {
  if (report?.excludeNetwork === undefined || isSetUp(report)) return;
  const own = settingsOf(report);
  report.directory = dirname(file);
  report.filename = basename(file);
  report.compact = true;
  report.excludeNetwork = true;
  if ('excludeEnv' in report) report.excludeEnv = true;
  report.reportOnFatalError = true;
  report.reportOnUncaughtException = true;
  const ours = settingsOf(report);
  const { writeReport, getReport } = report;
  const { abort } = process;
  /** Calls a method for the app, which finds its own settings in force. */
  const callForApp = (method: typeof writeReport | typeof getReport, parts: unknown[]): unknown => {
    if (report.directory !== ours.directory || report.filename !== ours.filename) {
      return Reflect.apply(method, report, parts);
    }
    Object.assign(report, own);
    try {
      return Reflect.apply(method, report, parts);
    } finally {
      Object.assign(report, ours);
    }
  };
  Object.assign(report, {
    writeReport: (...parts: unknown[]) => callForApp(writeReport, parts),
    getReport: (...parts: unknown[]) => callForApp(getReport, parts),
  });
  Object.assign(process, {
    abort(): never {
      try {
        Reflect.apply(writeReport, report, [new Error('process.abort()')]);
      } catch {
        // The process ends either way.
      }
      return Reflect.apply(abort, process, []);
    },
  });
}

/** Settings that decide where a report is written, and what it holds. */
function settingsOf(report: Report): Partial<Report> {
  const { directory, filename, compact, excludeNetwork, excludeEnv } = report;
  return {
    directory,
    filename,
    compact,
    ...(excludeNetwork !== undefined && { excludeNetwork }),
    ...(excludeEnv !== undefined && { excludeEnv }),
  };
}

function isSetUp(report: Report): boolean {
  const { directory, filename, reportOnFatalError, reportOnSignal, reportOnUncaughtException } = report;
  return [directory, filename, reportOnFatalError, reportOnSignal, reportOnUncaughtException].some(Boolean);
}
