// `sluice top` in a terminal, as somebody uses it at night: keys, another size, suspended and resumed, killed, and with a gateway that
// goes away. And `sluice status --check`, by which monitors go.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { type TestContext, test } from 'node:test';
import { app } from '../support/sluice.ts';
import { missing, TerminalWindow } from '../support/terminal.ts';
import { ask, Hold, running, sent, statusWhen } from './scenario.ts';

const program = process.env['SLUICE_BINARY'];
const skip = program === undefined ? 'needs SLUICE_BINARY' : missing();
const ENTERS = '\u001B[?1049h';
const LEAVES = '\u001B[?1049l';
const CTRL_C = '\u0003';
const CTRL_L = '\u000C';
const CTRL_Z = '\u001A';

async function shell(t: TestContext, columns = 80, rows = 24): Promise<TerminalWindow> {
  const window = await TerminalWindow.open(columns, rows);
  t.after(() => window.close());
  return window;
}

void test(
  'top shows its views by key, follows the size of its terminal, and leaves it as it was',
  { skip },
  async (t) => {
    const hold = new Hold(t);
    const sluice = await running(t, { entry: hold.app, workers: 2, env: hold.env });
    const client = await sent(sluice, '/hold/shown');
    await hold.began('/hold/shown');
    const window = await shell(t);
    window.type(`${program} top --run-dir ${sluice.runDir}; echo "ended with $?"\n`);
    await window.sees(/workers 2 of 2 ready[^]*ID STATE[^]*busy[^]*GET \/hold\/shown/);
    assert.equal(window.isCooked, false);
    window.type('2');
    await window.sees(/CLASS/);
    window.type(`3${CTRL_L}`);
    await window.sees(/AGO +EVENT[^]*worker \d+ ready after/);
    window.type('\t');
    await window.sees(/waiting[^]*how requests ended/);
    window.type('?');
    await window.sees(/PgUp PgDn/);
    window.type(`\u001B`);
    await window.sees(/waiting/);
    // There is more to see on a larger one, and a word about it on one that is too small.
    window.type('1');
    window.resize(200, 50);
    await window.sees(/RESTARTS[^]*CLASS/);
    window.resize(30, 8);
    await window.sees(/sluice top needs 50/);
    window.resize(80, 24);
    await window.sees(/ID STATE/);
    window.type('q');
    await window.sees(/ended with 0/);
    assert.equal(window.isCooked, true);
    hold.release('shown');
    await client.response();
  },
);

void test(
  'top gives the terminal back to the shell while it is suspended, and when it is killed',
  { skip },
  async (t) => {
    const sluice = await running(t, { entry: app('trivial.js'), workers: 1 });
    const window = await shell(t);
    window.type(`${program} top --interval-ms 100 --run-dir ${sluice.runDir}\n`);
    await window.sees(/ID STATE/);
    window.type(CTRL_Z);
    await window.sees(/Stopped/);
    assert.equal(window.isCooked, true);
    window.type('echo in the "shell"\n');
    await window.sees(/in the shell/);
    window.type('fg; echo "after it: $?"\n');
    await window.sees(/workers 1 of 1 ready[^]*ID STATE/);
    assert.equal(window.isCooked, false);
    window.type(CTRL_C);
    await window.sees(/after it: 0/);
    for (const [signal, code] of [
      ['TERM', 143],
      ['HUP', 129],
      ['INT', 130],
    ] as const) {
      const pidFile = `${sluice.dir}/top-${signal}`;
      window.type(
        `sh -c 'echo $$ > ${pidFile}; exec ${program} top --run-dir ${sluice.runDir}'; echo "code $?"\n`,
      );
      await window.sees(/ID STATE/);
      assert.equal(window.isCooked, false, signal);
      process.kill(Number(fs.readFileSync(pidFile, 'utf8')), `SIG${signal}`);
      await window.sees(new RegExp(`code ${code}`));
      assert.equal(window.isCooked, true, signal);
    }
  },
);

void test('top says that the gateway is gone, and shows the next one', { skip }, async (t) => {
  const first = await running(t, { entry: app('trivial.js'), workers: 1 });
  const window = await shell(t, 120, 40);
  window.type(`${program} top --interval-ms 100 --run-dir ${first.runDir}\n`);
  await window.sees(/ID STATE/);
  await first.kill9();
  await window.sees(/NO ANSWER for/);
  const second = await running(t, { entry: app('trivial.js'), workers: 1, runDir: first.runDir });
  window.type('3');
  await window.sees(/another gateway answers/);
  window.type('q');
  // Both have one run directory, by which the end of the first is judged.
  second.signal('SIGTERM');
  await second.finished();
});

void test('without a terminal top prints one frame without escape sequences', async (t) => {
  const sluice = await running(t, { entry: app('trivial.js'), workers: 1 });
  for (const args of [
    ['top'],
    ['top', '--once', '--view', 'queue'],
    ['top', '--no-color', '--view', 'events'],
  ]) {
    const { code, stdout } = await sluice.cli(args);
    assert.equal(code, 0, args.join(' '));
    assert.match(stdout, /^ sluice serving .*\nrequests .*workers 1 of 1 ready/);
    assert.ok(
      !stdout.includes('\u001B') && !stdout.includes(ENTERS) && !stdout.includes(LEAVES),
      args.join(' '),
    );
    assert.ok(stdout.split('\n').every((line) => line.length <= 80));
  }
});

void test('status --check ends with what monitors go by', async (t) => {
  const hold = new Hold(t);
  const sluice = await running(t, {
    entry: hold.app,
    workers: 1,
    env: { ...hold.env, SLUICE_WORKERS_CONCURRENCY: '1' },
  });
  await ask(sluice, '/');
  const fine = await sluice.cli(['status', '--check']);
  assert.equal(fine.code, 0, fine.stdout);
  assert.match(
    fine.stdout,
    /^SLUICE OK - 1 of 1 workers ready, .* \| workers_ready=1;1:;1:;0;1 queue_wait=[^\n]*\n$/,
  );
  const clients = [await sent(sluice, '/hold/first')];
  await hold.began('/hold/first');
  clients.push(await sent(sluice, '/queued'));
  await statusWhen(sluice, ({ queue }) => queue.oldest_wait_ms > 20, 'a wait');
  const slow = ['status', '--check', '--wait-warning-ms', '10'];
  assert.match((await sluice.cli(slow)).stdout, /^SLUICE WARNING - queue wait /);
  assert.equal((await sluice.cli(slow)).code, 1);
  const critical = await sluice.cli([...slow, '--wait-critical-ms', '20']);
  assert.deepEqual([critical.code, critical.stderr], [2, '']);
  hold.release('first');
  for (const one of clients) await one.response();
  await sluice.kill9();
  const gone = await sluice.cli(['status', '--check']);
  assert.equal(gone.code, 2);
  assert.match(gone.stdout, /^SLUICE CRITICAL - no gateway runs in /);
  // A threshold without --check would be judged by nobody.
  assert.equal((await sluice.cli(['status', '--wait-warning-ms', '10'])).code, 2);
});
