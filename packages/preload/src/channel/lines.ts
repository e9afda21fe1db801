/** Lines that a socket receives. It must not know what they mean. */
import type { Socket } from 'node:net';

/** Calls `take` for each line. A longer one than `characters_max` ends the connection. */
export function readLines(socket: Socket, characters_max: number, take: (line: string) => void): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > characters_max) socket.destroy();
    for (const line of lines) take(line);
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
