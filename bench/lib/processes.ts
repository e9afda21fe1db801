// What the kernel says of processes: CPU time, memory, children. Linux only, as the benchmarks are.
import fs from 'node:fs';

const TICKS_PER_S = 100;

/** User and system time so far. Threads that have ended count only in whole ticks. */
export interface CpuTime {
  /** Sum over the live threads, exact. */
  exactS: number;
  /** The whole process, in ticks of 10 ms. */
  ticksS: number;
}

/** CPU time of a process; zero once it is gone. */
export function cpuTime(pid: number): CpuTime {
  try {
    const fields = statFields(pid);
    const ticksS = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
    const exactS = fs
      .readdirSync(`/proc/${pid}/task`)
      .map((task) => Number(read(`/proc/${pid}/task/${task}/schedstat`).split(' ')[0]) / 1e9)
      .reduce((sum, seconds) => sum + seconds, 0);
    return { exactS, ticksS };
  } catch {
    return { exactS: 0, ticksS: 0 };
  }
}

/** CPU seconds between two readings: exact, unless a thread that ended took more with it than the ticks can hide. */
export function cpuBetween(before: CpuTime, after: CpuTime): number {
  const [exact, ticks] = [after.exactS - before.exactS, after.ticksS - before.ticksS];
  return ticks - exact > 2.5 / TICKS_PER_S ? ticks : exact;
}

/** Reads the clock of every process now; the function it returns gives seconds used since, in the same order. */
export function cpuMeter(pids: number[]): () => number[] {
  const before = pids.map(cpuTime);
  return () => pids.map((pid, at) => cpuBetween(before[at] ?? { exactS: 0, ticksS: 0 }, cpuTime(pid)));
}

/**
 * Starts to count the CPU time of a server's processes, which may come and go; the function it returns gives seconds used since. What
 * went has to have been waited for by one of them, as a worker is by its gateway.
 */
export async function cpuMeterOf(pids: () => Promise<number[]>): Promise<() => Promise<number>> {
  const used = async () =>
    (await pids()).reduce((sum, pid) => sum + cpuTime(pid).exactS + waitedForS(pid), 0);
  const before = await used();
  return async () => (await used()) - before;
}

/** CPU seconds of the children that a process has waited for, and of theirs, in ticks of 10 ms. */
function waitedForS(pid: number): number {
  try {
    const fields = statFields(pid);
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_S;
  } catch {
    return 0;
  }
}

/** Resident memory (VmRSS), and the part that no file backs. */
export function memory(pid: number): { rssBytes: number; anonBytes: number } {
  const text = read(`/proc/${pid}/status`);
  const bytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
  return { rssBytes: bytes('VmRSS'), anonBytes: bytes('RssAnon') };
}

/** The process and all below it. */
export function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const parent = Number(statFields(Number(name))[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // It ended while the directory was being read.
    }
  }
  const family: number[] = [];
  const open = [pid];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    family.push(next);
    open.push(...(children.get(next) ?? []));
  }
  return family;
}

/** The program a process runs. */
export function programOf(pid: number): string | undefined {
  try {
    return fs.readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}

/** Fields of `/proc/PID/stat` after the name, which may hold spaces itself: state first, parent second. */
function statFields(pid: number): string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function read(file: string): string {
  return fs.readFileSync(file, 'utf8');
}
