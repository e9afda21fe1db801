// Which CPUs the servers may use, and which the load generator. A child inherits the affinity of its parent, so this process
// takes that of the servers while it starts them, and that of the generator afterwards.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { find } from './run.ts';

/** CPUs that this process was given. */
const given = affinityOf(process.pid);

export interface Pins {
  servers: number[];
  generator: number[];
}

/** The last `count` CPUs of those that this process may use for the servers, all others for the generator. */
export function pinsFor(count: number): Pins {
  if (given.length <= count)
    throw new Error(`this needs ${count} CPU${count === 1 ? '' : 's'} and one more for the load generator`);
  return { servers: given.slice(-count), generator: given.slice(0, -count) };
}

/** Pins that confine nothing. */
export const unpinned: Pins = { servers: given, generator: given };

/** Starts with the servers' CPUs, and continues with those of the generator. */
export async function onCpus<T>({ servers, generator }: Pins, start: () => Promise<T>): Promise<T> {
  pin(servers);
  try {
    return await start();
  } finally {
    pin(generator);
  }
}

/** Throws when one of the processes may run elsewhere; one that has gone may not. */
export function checkPinned(pids: number[], { servers }: Pins, name: string): void {
  for (const pid of pids) {
    const own = affinityOf(pid);
    if (own.some((cpu) => !servers.includes(cpu)))
      throw new Error(`${name}: process ${pid} may run on the CPUs ${own.join(', ')}`);
  }
}

/** CPUs that a process may use; none when it has gone. */
export function affinityOf(pid: number): number[] {
  let status = '';
  try {
    status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return [];
  }
  return cpusOf(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '');
}

/** `0-2,5` as the kernel writes it. */
export function cpusOf(list: string): number[] {
  return list
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [from = 0, to = from] = part.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, at) => from + at);
    });
}

function pin(cpus: number[]): void {
  const args = ['--all-tasks', '--cpu-list', '--pid', cpus.join(','), String(process.pid)];
  const { status, stderr } = spawnSync(find('taskset', 'util-linux'), args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`taskset: ${stderr.trim()}`);
}
