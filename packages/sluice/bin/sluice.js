#!/usr/bin/env node
// @ts-check
/**
 * Finds the gateway's binary and the preload, and runs the one with the path of the other. It stays only to pass on
 * signals and the exit code: killed with -9, it leaves a gateway that goes on serving under its own process id, which
 * `sluice stop` still finds. Supervisors that want no process between should run the binary with SLUICE_PRELOAD set.
 *
 * Started by npm or npx it has the gateway leave when these are gone: see `starter.js`.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { standApart } from './apart.js';
import { MissingError, findBinary, findPreload } from './find.js';
import { isOrphan, watchStarter } from './starter.js';

const EXIT_FAILED = 1;
/** @type {NodeJS.Signals[]} */
const SIGNALS_TO_LEAVE = ['SIGTERM', 'SIGINT'];
/** Commands that run a gateway. Others end soon, or are looked at by somebody. */
const runsGateway = ['start', 'dev'].includes(process.argv[2] ?? '');

const terminals = [0, 1, 2].filter((file) => isatty(file));
const env = await standApart();
try {
  const [binary, preload] = [findBinary(), findPreload()];
  if (runsGateway && isOrphan()) fail('npm was ended before the gateway started; it is not started.');
  else run(binary, preload);
} catch (error) {
  if (!(error instanceof MissingError)) throw error;
  fail(error.message);
}

/**
 * @param {string} file
 * @param {string} preloadPath
 */
function run(file, preloadPath) {
  // Before the start, so that no signal ends this process and leaves the gateway behind.
  /** @type {NodeJS.Signals[]} */
  const early = [];
  /** @param {NodeJS.Signals} signal */
  let passOn = (signal) => void early.push(signal);
  let isAskedToLeave = false;
  for (const signal of signalsToPassOn()) process.on(signal, () => passOn(signal));
  // A second request to leave would end the gateway without a drain.
  for (const signal of SIGNALS_TO_LEAVE) process.on(signal, () => (isAskedToLeave = true));
  // A terminal sends these to the gateway as well, where a second one would mean "leave at once".
  for (const signal of signalsFromTerminal()) process.on(signal, () => {});

  const starter = runsGateway
    ? watchStarter(({ pid, name }) => {
        if (isAskedToLeave) return;
        say(`${name} (process ${pid}), which started the gateway, is gone; the gateway drains and leaves.`);
        passOn('SIGTERM');
      })
    : undefined;
  if (starter?.pid === 1) {
    say(
      'npm is process 1 of this container, which ends at most 0.5 s after SIGTERM, and the gateway with it, drained or not. ' +
        `Start it without npm: node_modules/.bin/sluice ${process.argv[2]}`,
    );
  }

  const child = spawn(file, process.argv.slice(2), {
    stdio: 'inherit',
    env: { ...env, SLUICE_PRELOAD: preloadPath },
  });
  child.once('spawn', () => {
    passOn = (signal) => void child.kill(signal);
    for (const signal of early) passOn(signal);
  });
  child.once('error', (error) => fail(`${file} cannot be run: ${error.message}`));
  child.once('exit', (code, signal) => leaveLike(code, signal));
}

/**
 * SIGHUP too: a terminal that is closed sends it to the leader of its session alone, which this process is under `ssh HOST sluice top`.
 *
 * @returns {NodeJS.Signals[]}
 */
function signalsToPassOn() {
  /** @type {NodeJS.Signals[]} */
  const always = ['SIGTERM', 'SIGHUP', 'SIGUSR2', 'SIGTTIN', 'SIGTTOU'];
  return isatty(0) ? always : [...always, 'SIGINT', 'SIGQUIT'];
}

/** @returns {NodeJS.Signals[]} */
function signalsFromTerminal() {
  return isatty(0) ? ['SIGINT', 'SIGQUIT'] : [];
}

/**
 * Ends at once: what a preload has opened here would keep this process.
 *
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 */
function leaveLike(code, signal) {
  // Node.js aborts where it exits on a terminal that has been closed.
  if (!terminals.every((file) => isatty(file))) signal = 'SIGHUP';
  if (signal === null) process.exit(code ?? EXIT_FAILED);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(128 + constants.signals[signal]);
}

/** @param {string} text */
function fail(text) {
  say(text);
  process.exit(EXIT_FAILED);
}

/** @param {string} text */
function say(text) {
  // Who read it may have gone with npm.
  process.stderr.on('error', () => {});
  process.stderr.write(`sluice: ${text}\n`);
}
