// What a service manager hears (`NOTIFY_SOCKET`): ready, reloading, alive, stopping, from whichever gateway serves.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { app, startSluice } from '../support/sluice.ts';
import { quick, settled, tempDir, upgraded } from './upgrades.ts';

// Node.js has no datagram sockets in the file system.
const listener = `
import json, socket, sys
at = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
at.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
at.bind(sys.argv[1])
print("[]", flush=True)
while True:
    text, ancillary, _, _ = at.recvmsg(65536, 256)
    pid = int.from_bytes(ancillary[0][2][:4], sys.byteorder)
    print(json.dumps([pid, *text.decode().strip().split("\\n")]), flush=True)
`;

type Message = [pid: number, ...states: string[]];

/** A manager that only listens; `undefined` where this machine cannot have one. */
async function manager(t: TestContext) {
  if (process.platform !== 'linux' || spawnSync('python3', ['--version']).status !== 0) {
    t.skip('needs Linux, and python3 for a datagram socket');
    return undefined;
  }
  const dir = tempDir(t);
  const [socket, heard] = [path.join(dir, 'notify'), path.join(dir, 'heard')];
  const out = fs.openSync(heard, 'w');
  const child = spawn('python3', ['-c', listener, socket], { stdio: ['ignore', out, 'inherit'] });
  fs.closeSync(out);
  t.after(() => child.kill());
  const lines = () => fs.readFileSync(heard, 'utf8').split('\n').slice(1, -1);
  const messages = () => lines().map((line) => JSON.parse(line) as Message);
  await eventually(() => fs.existsSync(socket) && fs.statSync(heard).size > 0, { what: 'the listener' });
  return { socket, messages };
}

const has = (message: Message, start: string) =>
  message.slice(1).some((state) => String(state).startsWith(start));

void test('a service manager hears of start, reload, upgrade and stop from the gateway that serves', async (t) => {
  const systemd = await manager(t);
  if (systemd === undefined) return;
  const env = { ...quick, NOTIFY_SOCKET: systemd.socket, WATCHDOG_USEC: '600000' };
  const sluice = await startSluice({ entry: app('spin.js'), workers: 1, env });
  t.after(() => sluice.stop());
  const first = await sluice.gatewayPid();
  const from = (pid: number, start: string) =>
    eventually(() => systemd.messages().find((message) => message[0] === pid && has(message, start)), {
      what: `${start} from ${pid}, not only ${JSON.stringify(systemd.messages())}`,
    });
  const ready = await from(first, 'READY=1');
  assert.ok(
    ready.some(
      (state) =>
        state === `STATUS=serving http://localhost:${sluice.port}, 1 of 1 workers ready, process ${first}`,
    ),
    JSON.stringify(ready),
  );
  await from(first, 'WATCHDOG=1');

  assert.equal((await sluice.cli(['reload'])).code, 0);
  const reloading = await from(first, 'RELOADING=1');
  assert.ok(has(reloading, 'MONOTONIC_USEC='), JSON.stringify(reloading));
  const states = () =>
    systemd
      .messages()
      .flatMap((message) => message.slice(1))
      .filter((state) => state === 'READY=1' || state === 'RELOADING=1');
  await eventually(() => states().length === 3, { what: 'the end of the reload' });
  assert.deepEqual(states(), ['READY=1', 'RELOADING=1', 'READY=1']);

  const second = await upgraded(sluice);
  await settled(sluice);
  assert.deepEqual(states().slice(3), ['RELOADING=1', 'READY=1']);
  await from(second, 'WATCHDOG=1');
  // The main process is still the first: systemd learns the exit code of its own child alone.
  assert.ok(!systemd.messages().some((message) => has(message, 'MAINPID=')));
  const heardOfFirst = systemd.messages().filter(([pid]) => pid === first).length;
  const beats = () =>
    systemd.messages().filter((message) => message[0] === second && has(message, 'WATCHDOG=1')).length;
  const before = beats();
  await eventually(() => beats() > before + 1, { what: 'more signs of life' });
  assert.equal(
    systemd.messages().filter(([pid]) => pid === first).length,
    heardOfFirst,
    'one gateway answers for itself',
  );

  assert.equal((await sluice.cli(['reload'])).code, 0);
  await from(second, 'RELOADING=1');
  sluice.signal('SIGTERM');
  assert.equal((await sluice.finished()).code, 0);
  await from(second, 'STOPPING=1');
});

void test('a reload that is refused ends for the service manager too', async (t) => {
  const systemd = await manager(t);
  if (systemd === undefined) return;
  const env = { NOTIFY_SOCKET: systemd.socket };
  const sluice = await startSluice({ entry: app('spin.js'), workers: 1, config: '', env });
  t.after(() => sluice.stop());
  fs.writeFileSync(path.join(sluice.dir, 'sluice.toml'), '[server]\nprot = 1\n');
  assert.notEqual((await sluice.cli(['reload'])).code, 0);
  const states = () => systemd.messages().flatMap((message) => message.slice(1).map(String));
  await eventually(() => states().some((state) => state.includes('reload refused: ')), {
    what: 'the refusal',
  });
  assert.deepEqual(
    states().filter((state) => /^(READY|RELOADING)=/.test(state)),
    ['READY=1', 'RELOADING=1', 'READY=1'],
  );
});

void test('workers do not speak in the name of the gateway', async (t) => {
  const dir = tempDir(t);
  const script = path.join(dir, 'server.js');
  fs.writeFileSync(
    script,
    `const names = Object.keys(process.env).filter((name) => /^(NOTIFY|WATCHDOG)_/.test(name));
     require('node:http').createServer((_, response) => response.end(JSON.stringify(names))).listen(process.env.PORT);`,
  );
  const env = { NOTIFY_SOCKET: path.join(dir, 'nobody'), WATCHDOG_USEC: '1000000', WATCHDOG_PID: '1' };
  const sluice = await startSluice({ entry: script, workers: 1, env });
  t.after(() => sluice.stop());
  assert.deepEqual(await (await fetch(sluice.url)).json(), []);
});
