/** Lines of a socket, and what an exception of the one who takes them leaves. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { readLines } from '../src/channel/lines.js';

const module = new URL('../src/channel/lines.ts', import.meta.url).href;

void test('an exception at one line loses none behind it, in this chunk or the next', () => {
  const script = `import { EventEmitter } from 'node:events';
    import { readLines } from ${JSON.stringify(module)};
    const taken = [];
    process.on('uncaughtException', ({ message }) => taken.push(message));
    const socket = Object.assign(new EventEmitter(), { setEncoding() {} });
    readLines(socket, 100, (line) => {
      taken.push(line);
      if (Number(line) % 3 === 0) throw new Error('thrown at ' + line);
    });
    setImmediate(() => {
      try {
        socket.emit('data', '1\\n2\\n3\\n4\\n5\\n6\\n7\\n8');
      } catch ({ message }) {
        taken.push(message);
      }
      socket.emit('data', '\\n9\\n10\\n11\\n');
    });
    process.on('exit', () => process.stdout.write(taken.join()));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', script],
    { cwd: import.meta.dirname, encoding: 'utf8' },
  );
  assert.equal(stdout, '1,2,3,thrown at 3,4,5,6,thrown at 6,7,8,9,thrown at 9,10,11', stderr);
});

void test('a line may come in parts, and one that is too long ends the connection', async () => {
  const socket = new PassThrough();
  const taken: string[] = [];
  readLines(socket as unknown as Socket, 4, (line) => void taken.push(line));
  for (const text of ['a\nb', 'c\n', 'defghi']) socket.write(text);
  await new Promise((done) => socket.on('close', done));
  assert.deepEqual(taken, ['a', 'bc']);
});
