/** Engines without JIT that run a bundle: `node --jitless`, JavaScriptCore, QuickJS. */
import { spawnSync } from 'node:child_process';

export interface Engine {
  readonly name: string;
  /** Runs a script and returns the last line that it prints. */
  run(script: string): string;
}

/** What the engines lack of a browser, in front of a bundle. A script prints by `report`. */
export const PRELUDE = `
var now_ms = typeof performance !== 'undefined' ? function () { return performance.now(); } : function () { return preciseTime() * 1000; };
var report = typeof console !== 'undefined' && console.log ? function (text) { console.log(text); } : function (text) { print(text); };
if (typeof globalThis.console === 'undefined') globalThis.console = { log: report, error: report, warn: report };
if (!console.error) console.error = report;
if (typeof performance === 'undefined') globalThis.performance = { now: now_ms };
if (typeof setTimeout === 'undefined') { globalThis.setTimeout = function () { return 0; }; globalThis.clearTimeout = function () {}; }
if (typeof queueMicrotask === 'undefined') globalThis.queueMicrotask = function (run) { Promise.resolve().then(run); };
`;

function run(command: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): string {
  const { status, signal, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    timeout: 300_000,
  });
  if (status === 0) return stdout.trim().split('\n').at(-1) ?? '';
  const why = /^\w*Error.*$/m.exec(stderr + stdout)?.[0] ?? 'no message';
  throw new Error(
    `${command} ${args.join(' ')} ended with ${String(status ?? signal)}: ${why.slice(0, 300)}`,
  );
}

const exists = (command: string): boolean =>
  spawnSync('sh', ['-c', `command -v "${command}"`], { stdio: 'ignore' }).status === 0;

/** The engines that this machine has. `QUICKJS` names a `qjs`, `SLUICE_PLAYER` a `sluice-player`. */
export function engines(): Engine[] {
  const found: Engine[] = [
    { name: 'node --jitless', run: (script) => run(process.execPath, ['--jitless', script]) },
  ];
  if (exists('jsc'))
    found.push({
      name: 'JavaScriptCore without JIT',
      run: (script) => run('jsc', [script], { JSC_useJIT: '0' }),
    });
  const quickjs = process.env['QUICKJS'] ?? 'qjs';
  if (exists(quickjs)) found.push({ name: 'QuickJS', run: (script) => run(quickjs, [script]) });
  const player = process.env['SLUICE_PLAYER'] ?? 'sluice-player';
  if (exists(player))
    found.push({ name: 'QuickJS in the player', run: (script) => run(player, ['run', script]) });
  return found;
}
