/**
 * Diagnostic report of Node.js for the case that this worker dies of a full heap, of an exception that nothing catches, or of
 * `process.abort()`. The file lies beside the worker's socket, where no other user can read it. The gateway moves it to the
 * state directory, without the environment, and deletes what nobody needs (`gateway/supervisor/src/evidence.rs`).
 */
import { basename, dirname } from 'node:path';

/** Properties that types of older versions of Node.js lack. */
type Report = NodeJS.ProcessReport & { excludeNetwork?: boolean; excludeEnv?: boolean };

/** Path of the report of the process that listens on `socketPath`. */
export function crashReportPath(socketPath: string, pid: number): string {
  return `${socketPath}.${pid}.report`;
}

/** Settings that are Sluice's until the app sets one. The app may set others. */
const SETTINGS = [
  'directory',
  'filename',
  'compact',
  'excludeNetwork',
  'excludeEnv',
  'reportOnFatalError',
  'reportOnUncaughtException',
  'reportOnSignal',
] as const;

type Settings = Partial<Record<(typeof SETTINGS)[number], unknown>>;

/**
 * Turns the reports on, unless the app or its options have done so. As soon as the app sets one of the settings, all of them are its
 * own again. Versions of Node.js without `excludeNetwork` write none: their reports ask the DNS for the name of each peer, which takes
 * seconds where no server answers.
 */
export function reportCrashes(report: Report | undefined, file: string): void {
  if (report?.excludeNetwork === undefined || isSetUp(report)) return;
  const accessors = accessorsOf(report);
  const own = Object.fromEntries(SETTINGS.map((name) => [name, report[name]]));
  const ours: Settings = {
    ...own,
    directory: dirname(file),
    filename: basename(file),
    compact: true,
    excludeNetwork: true,
    excludeEnv: true,
    reportOnFatalError: true,
    reportOnUncaughtException: true,
  };
  const differing = accessors.filter(([name]) => ours[name] !== own[name]);
  const put = (settings: Settings): void => {
    for (const [name, { set }] of differing) set?.call(report, settings[name]);
  };
  let areOurs = true;
  const giveBack = (): void => {
    if (!areOurs) return;
    areOurs = false;
    put(own);
    for (const [name, accessor] of accessors) Object.defineProperty(report, name, accessor);
  };
  for (const [name, { enumerable = true }] of accessors) {
    Object.defineProperty(report, name, {
      configurable: true,
      enumerable,
      get: () => own[name],
      set(value: unknown) {
        giveBack();
        Reflect.set(report, name, value);
      },
    });
  }
  put(ours);
  const { writeReport, getReport } = report;
  const { abort } = process;
  /** Calls a method for the app, which finds its own settings in force. */
  const callForApp = (method: typeof writeReport | typeof getReport, parts: unknown[]): unknown => {
    if (!areOurs) return Reflect.apply(method, report, parts);
    put(own);
    try {
      return Reflect.apply(method, report, parts);
    } finally {
      put(ours);
    }
  };
  Object.assign(report, {
    writeReport: (...parts: unknown[]) => callForApp(writeReport, parts),
    getReport: (...parts: unknown[]) => callForApp(getReport, parts),
  });
  Object.assign(process, {
    abort(): never {
      try {
        if (areOurs) Reflect.apply(writeReport, report, [new Error('process.abort()')]);
      } catch {
        // The process ends either way.
      }
      return Reflect.apply(abort, process, []);
    },
  });
}

/** Node's own accessors of the settings that this version has. */
function accessorsOf(report: Report): [name: keyof Settings, accessor: PropertyDescriptor][] {
  return SETTINGS.flatMap((name) => {
    const accessor = Object.getOwnPropertyDescriptor(report, name);
    return accessor === undefined ? [] : [[name, accessor]];
  });
}

function isSetUp(report: Report): boolean {
  const { directory, filename, reportOnFatalError, reportOnSignal, reportOnUncaughtException } = report;
  return [directory, filename, reportOnFatalError, reportOnSignal, reportOnUncaughtException].some(Boolean);
}
