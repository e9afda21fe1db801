// Reports of Node.js about a crash: where they are written, and that an app sees none of it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';

const module = new URL('../src/control/crash-report.ts', import.meta.url).href;

/** Runs `script` in a process whose reports are turned on, after `before`. Returns its files and its output. */
function ran(t: TestContext, script: string, before = ''): { files: string[]; stdout: string; dir: string } {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'sluice-report-'));
  t.after(() => fs.rmSync(dir, { recursive: true, force: true }));
  const text = `import { reportCrashes } from ${JSON.stringify(module)};
    ${before}
    reportCrashes(process.report, ${JSON.stringify(path.join(dir, 'w.sock.1.report'))});
    ${script}`;
  const { stdout } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', text], {
    cwd: import.meta.dirname,
    env: { ...process.env, PLANTED_SECRET: 'planted' },
  });
  return { files: fs.readdirSync(dir), stdout: String(stdout), dir };
}

test('an exception that nothing catches and process.abort() leave a report at the place', (t) => {
  for (const script of ['throw new Error("boom");', 'process.abort();']) {
    const { files, dir } = ran(t, script);
    assert.deepEqual(files, ['w.sock.1.report'], script);
    const report = JSON.parse(fs.readFileSync(path.join(dir, 'w.sock.1.report'), 'utf8')) as {
      header: { networkInterfaces?: unknown };
    };
    assert.equal(report.header.networkInterfaces, undefined);
  }
});

test('an exception that the app handles leaves none', (t) => {
  const { files } = ran(t, 'process.on("uncaughtException", () => {}); throw new Error("handled");');
  assert.deepEqual(files, []);
});

test('a report that the app asks for is written where it says, with all that belongs to it', (t) => {
  const own = path.join(os.tmpdir(), `sluice-own-${process.pid}.json`);
  t.after(() => fs.rmSync(own, { force: true }));
  const script = `process.report.writeReport(${JSON.stringify(own)});
    process.stdout.write(String(process.report.getReport().environmentVariables.PLANTED_SECRET));`;
  const { files, stdout } = ran(t, script);
  assert.deepEqual([files, stdout], [[], 'planted']);
  assert.match(fs.readFileSync(own, 'utf8'), /environmentVariables/);
});

test('reports that an app has set up stay as they are', (t) => {
  const script = 'process.stdout.write(String(process.report.compact));';
  const { files, stdout } = ran(t, script, 'process.report.reportOnFatalError = true;');
  assert.deepEqual([files, stdout], [[], 'false']);
});

for (const [name, setting] of Object.entries({
  directory: 'process.report.directory = process.cwd();',
  reportOnSignal: 'process.report.reportOnSignal = true;',
})) {
  test(`an app that sets ${name} itself writes its own reports, under Node's names and with all that it wants`, (t) => {
    const cwd = fs.mkdtempSync(path.join(os.tmpdir(), 'sluice-own-'));
    t.after(() => fs.rmSync(cwd, { recursive: true, force: true }));
    const script = `process.chdir(${JSON.stringify(cwd)});
      ${setting}
      const { filename, compact, excludeNetwork, reportOnFatalError } = process.report;
      process.report.writeReport();
      process.report.writeReport();
      process.stdout.write(JSON.stringify([filename, compact, excludeNetwork, reportOnFatalError]));
      process.on('exit', () => { throw new Error('boom'); });`;
    const { files, stdout } = ran(t, script);
    assert.deepEqual([files, stdout], [[], '["",false,false,false]']);
    const own = fs.readdirSync(cwd);
    assert.equal(own.length, 2, own.join());
    const [report = ''] = own;
    assert.match(report, /^report\..*\.json$/);
    assert.match(fs.readFileSync(path.join(cwd, report), 'utf8'), /\n {2}"header"[^]*networkInterfaces/);
  });
}

test('an app that sets nothing reads the settings that it would have alone', (t) => {
  const script = `const { directory, compact, reportOnFatalError, reportOnSignal } = process.report;
    process.report.getReport();
    process.stdout.write(JSON.stringify([directory, compact, reportOnFatalError, reportOnSignal]));
    process.abort();`;
  const { files, stdout } = ran(t, script);
  assert.deepEqual([files, stdout], [['w.sock.1.report'], '["",false,false,false]']);
});
