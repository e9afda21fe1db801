/** Lines that a socket receives. It must not know what they mean. */
import type { Socket } from 'node:net';

/**
 * Calls `take` for each line, in order. A longer one than `characters_max` ends the connection. What `take` throws is the process's
 * uncaught exception; if that lives on, it gets the lines behind.
 */
export function readLines(socket: Socket, characters_max: number, take: (line: string) => void): void {
  let rest = '';
  let lines: Iterator<string> & Iterable<string> = [].values();
  const takeAll = (): void => {
    let isThrown = true;
    try {
      for (let next = lines.next(); next.done !== true; next = lines.next()) take(next.value);
      isThrown = false;
    } finally {
      if (isThrown) process.nextTick(takeAll);
    }
  };
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    const read = (rest + text).split('\n');
    rest = read.pop() ?? '';
    if (rest.length > characters_max) socket.destroy();
    // Lines of the chunk before wait if one of them has thrown in this turn.
    lines = [...lines, ...read].values();
    takeAll();
  });
}

/** Undefined for a line that is no JSON object. */
export function parseLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
