// @ts-check
/**
 * Notices that the package manager that started this process is gone. npm and npx end at a signal, and what they have
 * started goes on: they signal the shell between, which dies without a word to anybody below it.
 *
 * Only npm's own death counts. Whoever detaches the gateway (`nohup`, `setsid`, `&`) means it to stay, and so does a terminal
 * that is closed: the SIGHUP that comes with it is not npm's end but that of everything in the terminal.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Fast, because npm as process 1 of a container leaves half a second between the end of its shell and its own. */
const LOOK_EVERY_MS = 100;
/** How much earlier than the starter's end a SIGHUP may have come and still be its cause. */
const SAME_CAUSE_MS = 2_000;
/** Processes between npm and this one: a shell, and programs such as `cross-env`. */
const BETWEEN_MAX = 6;

const PACKAGE_MANAGER = /(^|[\s/])(npm|npx|pnpm|pnpx|yarn|yarnpkg|bun|bunx)(-cli)?(\.c?js)?(\s|$)/;
const SHELL_WITH_SCRIPT_TEXT = /^(\S*\/)?(ba|da|a|z|k)?sh\s+-\w*c\s/;
const NODE = /^(\S*\/)?node\s/;
/** What a script says to have the gateway outlive it; `&&`, `>&` and `&>` do not. */
const DETACHES = /(^|[\s;&|(])(nohup|setsid|disown|daemonize)\s|(^|[^&>])&(?![&>])/;

/** A script that is nothing but this program, so that npm or its shell is the parent for as long as they live. */
const IS_THIS_PROGRAM = /^\s*(\w+=\S*\s+)*['"]?(\S*\/)?sluice['"]?(\s|$)/;

/**
 * @typedef {object} Entry
 * @property {number} pid
 * @property {number} parent
 * @property {number} group
 * @property {string} started tells a process from another that got its id later
 * @property {boolean} ended
 * @property {string} command
 */

/**
 * Calls `gone` once when the package manager that started this process has ended, and not because a terminal was closed.
 *
 * @param {(starter: { pid: number, name: string }) => void} gone
 * @returns {{ pid: number } | undefined} the package manager, where there is one
 */
export function watchStarter(gone) {
  const chain = startedBy();
  const starter = chain?.at(-1);
  if (chain === undefined || starter === undefined) return undefined;
  let hungUp = Number.NEGATIVE_INFINITY;
  process.on('SIGHUP', () => (hungUp = performance.now()));
  const timer = setInterval(() => {
    if (chain.every((known) => lives(known))) return;
    clearInterval(timer);
    if (performance.now() - hungUp > SAME_CAUSE_MS) gone({ pid: starter.pid, name: nameOf(starter) });
  }, LOOK_EVERY_MS);
  // The gateway decides how long this process stays.
  timer.unref();
  return starter;
}

/** Whether the package manager was ended while this process started, which has been given to process 1 since. */
export function isOrphan() {
  const script = process.env['npm_lifecycle_script'] ?? '';
  if (process.ppid !== 1 || !IS_THIS_PROGRAM.test(script) || DETACHES.test(script)) return false;
  const command = look(1)?.command ?? '';
  return ![PACKAGE_MANAGER, SHELL_WITH_SCRIPT_TEXT, NODE].some((known) => known.test(command));
}

/**
 * The processes from this one's parent up to the package manager; `undefined` where none has started it, or where
 * something between means the gateway to outlive it.
 *
 * @returns {Entry[] | undefined}
 */
function startedBy() {
  if (!process.env['npm_lifecycle_event'] && !process.env['npm_execpath']) return undefined;
  if (DETACHES.test(process.env['npm_lifecycle_script'] ?? '')) return undefined;
  const group = look(process.pid)?.group;
  const chain = [];
  for (let pid = process.ppid; chain.length < BETWEEN_MAX;) {
    const entry = look(pid);
    // Another group is a job of its own, by a shell with job control or by `setsid`.
    if (entry === undefined || entry.ended || entry.group !== group) return undefined;
    chain.push(entry);
    // The text of a script may name npm.
    const isShell = SHELL_WITH_SCRIPT_TEXT.test(entry.command);
    if (!isShell && PACKAGE_MANAGER.test(entry.command)) return chain;
    if (!isShell && !NODE.test(entry.command)) return undefined;
    pid = entry.parent;
  }
  return undefined;
}

/** @param {Entry} known */
function lives(known) {
  const now = look(known.pid, true);
  return now !== undefined && !now.ended && now.started === known.started;
}

/** @param {Entry} entry */
function nameOf(entry) {
  return PACKAGE_MANAGER.exec(entry.command)?.[2] ?? 'npm';
}

/**
 * @param {number} pid
 * @param {boolean} again whether its command is known already
 * @returns {Entry | undefined} `undefined` when it is gone, or cannot be seen
 */
function look(pid, again = false) {
  return process.platform === 'linux' ? lookInProc(pid) : lookByPs(pid, again);
}

/**
 * @param {number} pid
 * @returns {Entry | undefined}
 */
function lookInProc(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold anything; proc(5) counts the fields after it from 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
    return {
      pid,
      parent: Number(fields[1]),
      group: Number(fields[2]),
      started: fields[19] ?? '',
      ended: fields[0] === 'Z' || fields[0] === 'X',
      command,
    };
  } catch {
    return undefined;
  }
}

/**
 * @param {number} pid
 * @param {boolean} again
 * @returns {Entry | undefined}
 */
function lookByPs(pid, again) {
  if (again) {
    try {
      process.kill(pid, 0);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH') return undefined;
    }
    return { pid, parent: 0, group: 0, started: '', ended: false, command: '' };
  }
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,pgid=,stat=,command=', '-p', String(pid)], {
    encoding: 'utf8',
  });
  const [, parent, group, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/m.exec(stdout ?? '') ?? [];
  if (parent === undefined) return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    started: '',
    ended: state?.startsWith('Z') === true,
    command: command ?? '',
  };
}
