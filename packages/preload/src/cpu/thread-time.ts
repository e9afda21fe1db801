/**
 * Time on the CPU of the main thread, and the time for which it could have run and got none. Linux tells both in one small file of
 * the thread; elsewhere only the first is known, and on older Nodes only that of the whole process. A look takes about 15 µs. It must
 * not know of runs.
 */
import { readFileSync } from 'node:fs';

export interface ThreadTime {
  readonly cpu_us: number;
  /** Undefined where the system does not tell. */
  readonly queued_us: number | undefined;
}

// Taken before the app can replace them.
const readProcess = process.cpuUsage.bind(process);
const { threadCpuUsage } = process as { readonly threadCpuUsage?: () => NodeJS.CpuUsage };
const readThread = threadCpuUsage?.bind(process) ?? readProcess;
let hasFile = process.platform === 'linux';

export function threadTime(): ThreadTime {
  const told = hasFile ? readFile() : undefined;
  if (told !== undefined) return told;
  hasFile = false;
  const { user, system } = readThread();
  return { cpu_us: user + system, queued_us: undefined };
}

/** Nanoseconds on a CPU and in its queue; see proc(5). Some containers have no such file, or one with zeros. */
function readFile(): ThreadTime | undefined {
  try {
    const [cpu_ns = 0, queued_ns = 0] = readFileSync('/proc/thread-self/schedstat', 'latin1')
      .split(' ')
      .map(Number);
    return cpu_ns > 0 ? { cpu_us: cpu_ns / 1000, queued_us: queued_ns / 1000 } : undefined;
  } catch {
    return undefined;
  }
}
