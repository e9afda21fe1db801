// A memory cgroup of its own for a gateway, of version 1 or 2, where this user may make one.
import fs from 'node:fs';
import path from 'node:path';
import { eventually } from '../../tests/support/eventually.ts';

const TOP = '/sys/fs/cgroup';

/** Use of memory in a cgroup, bytes. */
export interface Usage {
  /** No file backs it. */
  anon: number;
  /** The page cache, which the kernel takes back when it needs to. */
  file: number;
  /** Structures of the kernel: sockets, open files, names. */
  kernel: number;
  /** Buffers of TCP. */
  tcp: number;
}

/** Everything but the page cache: more of it than the limit, and the kernel kills. */
export const needed = ({ anon, kernel, tcp }: Usage): number => anon + kernel + tcp;

export class MemoryCgroup {
  readonly version: 1 | 2;
  readonly #dir: string;
  /** Cgroup of this process, for processes that are not to be counted. */
  readonly #outside: string;

  private constructor(version: 1 | 2, dir: string, outside: string) {
    this.version = version;
    this.#dir = dir;
    this.#outside = outside;
  }

  /** Makes one, or says why it cannot. Without a limit until `limit` gives it one. */
  static make(limitBytes?: number): MemoryCgroup | string {
    const version = fs.existsSync(path.join(TOP, 'memory/memory.limit_in_bytes')) ? 1 : 2;
    const top = version === 1 ? path.join(TOP, 'memory') : TOP;
    const dir = path.join(top, `sluice-bench-${process.pid}`);
    try {
      const group = new MemoryCgroup(version, dir, path.join(top, ownPath(version)));
      fs.mkdirSync(dir);
      process.once('exit', () => {
        group.#removeNow();
      });
      if (limitBytes !== undefined) group.limit(limitBytes);
      return group;
    } catch (error) {
      return String(error);
    }
  }

  limit(bytes: number): void {
    this.#write(this.version === 1 ? 'memory.limit_in_bytes' : 'memory.max', bytes);
    // Version 1 counts TCP apart, and only where it is limited.
    if (this.version === 1) this.#write('memory.kmem.tcp.limit_in_bytes', bytes);
  }

  /** Arguments before a program that have it run in the cgroup. */
  get enter(): string[] {
    return entering(this.#dir);
  }

  /** The same for a process below it that is not to be counted. */
  get leave(): string[] {
    return entering(this.#outside);
  }

  get members(): number[] {
    return this.#read('cgroup.procs').trim().split('\n').filter(Boolean).map(Number);
  }

  usage(): Usage {
    const stat = fieldsOf(this.#read('memory.stat'));
    if (this.version === 2)
      return {
        anon: stat['anon'] ?? 0,
        file: stat['file'] ?? 0,
        kernel: stat['kernel'] ?? 0,
        tcp: stat['sock'] ?? 0,
      };
    return {
      anon: stat['rss'] ?? 0,
      file: stat['cache'] ?? 0,
      kernel: Number(this.#read('memory.kmem.usage_in_bytes')),
      tcp: Number(this.#read('memory.kmem.tcp.usage_in_bytes')),
    };
  }

  /** The most it ever held, page cache included, and how often the kernel killed a process for it. */
  peak(): { bytes: number; kills: number } {
    const [peak, events] =
      this.version === 1
        ? ['memory.max_usage_in_bytes', 'memory.oom_control']
        : ['memory.peak', 'memory.events'];
    return { bytes: Number(this.#read(peak)), kills: fieldsOf(this.#read(events))['oom_kill'] ?? 0 };
  }

  /** Goes once its last process has gone. */
  async remove(): Promise<void> {
    await eventually(() => this.#removeNow(), { deadlineMs: 10_000, what: 'an empty cgroup' });
  }

  #removeNow(): boolean {
    try {
      fs.rmdirSync(this.#dir);
    } catch {
      return !fs.existsSync(this.#dir);
    }
    return true;
  }

  #read(name: string): string {
    return fs.readFileSync(path.join(this.#dir, name), 'utf8');
  }

  #write(name: string, value: number): void {
    fs.writeFileSync(path.join(this.#dir, name), String(value));
  }
}

function entering(dir: string): string[] {
  return ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', path.join(dir, 'cgroup.procs')];
}

function ownPath(version: 1 | 2): string {
  const lines = fs.readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n');
  const mine = lines
    .map((line) => line.split(':'))
    .find(([, name]) => name === (version === 1 ? 'memory' : ''));
  return mine?.slice(2).join(':') ?? '/';
}

function fieldsOf(text: string): Record<string, number> {
  return Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
      .map(([name, value]) => [name ?? '', Number(value)]),
  );
}
