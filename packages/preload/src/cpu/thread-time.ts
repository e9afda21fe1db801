/**
 * Time on the CPU of the main thread, and the time for which it could have run and got none. Linux tells both in one small file of
 * the thread; elsewhere only the first is known, and on older Nodes only that of the whole process. A look allocates next to nothing. In a
 * heap that is nearly full it would else lead to a collection, which is a long run, and so to the next look. It must not know
 * of runs.
 */
import { openSync, readSync } from 'node:fs';

export interface ThreadTime {
  readonly cpu_us: number;
  /** Undefined where the system does not tell. */
  readonly queued_us: number | undefined;
}

// Taken before the app can replace them.
const readProcess = process.cpuUsage.bind(process);
const { threadCpuUsage } = process as { readonly threadCpuUsage?: () => NodeJS.CpuUsage };
const readThread = threadCpuUsage?.bind(process) ?? readProcess;
const open = openSync;
const read = readSync;
let hasFile = process.platform === 'linux';
/** The file, which stays open. */
let file: number | undefined;
/** Room for three numbers of 64 bits. */
const line = Buffer.alloc(64);

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
    file ??= open('/proc/thread-self/schedstat', 'r');
    const length = read(file, line, 0, line.length, 0);
    const [cpu_ns = 0, queued_ns = 0] = line.toString('latin1', 0, length).split(' ').map(Number);
    return cpu_ns > 0 ? { cpu_us: cpu_ns / 1000, queued_us: queued_ns / 1000 } : undefined;
  } catch {
    return undefined;
  }
}
