// A small interpreter of Dockerfiles, without a container engine: each stage is a folder. Steps that it cannot do alike it refuses, so
// that a test never passes on what was skipped. Package managers are stand-ins that take packages from this repository.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const standIn = fileURLToPath(new URL('./package-manager.mjs', import.meta.url));
const managers = ['npm', 'pnpm', 'yarn', 'corepack'];

export class Refused extends Error {}

export interface Image {
  readonly base: string;
  readonly root: string;
  readonly env: Record<string, string>;
  workdir: string;
  user: string;
  exposed: string[];
  cmd: string[];
}

interface Step {
  readonly word: string;
  readonly rest: string;
}

/** The steps, with continued lines joined and comments taken away. */
export function stepsOf(text: string): Step[] {
  const lines = text.split('\n').filter((line) => !line.trim().startsWith('#'));
  const joined = lines.join('\n').replaceAll(/\\\n/g, ' ').split('\n');
  return joined
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [, word = '', rest = ''] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? [];
      if (word === '') throw new Refused(`not a step: ${line}`);
      return { word, rest };
    });
}

/** Builds the Dockerfile in `context` below `scratch`; the last stage. */
export function build(context: string, scratch: string): Image {
  const ignored = ignoredBy(path.join(context, '.dockerignore'));
  const tools = path.join(scratch, 'tools');
  fs.mkdirSync(tools);
  for (const manager of managers) {
    const script = `#!/bin/sh\nexec "${process.execPath}" "${standIn}" ${manager} "$@"\n`;
    fs.writeFileSync(path.join(tools, manager), script, { mode: 0o755 });
  }
  const stages = new Map<string, Image>();
  let image: Image | undefined;
  for (const { word, rest } of stepsOf(fs.readFileSync(path.join(context, 'Dockerfile'), 'utf8'))) {
    if (word === 'FROM') {
      const [, base, name = `stage-${stages.size}`] = /^(node:[\w.-]+)(?: AS (\w+))?$/.exec(rest) ?? [];
      if (base === undefined) throw new Refused(`FROM ${rest}`);
      const root = path.join(scratch, name);
      fs.mkdirSync(root);
      image = { base, root, env: {}, workdir: '/', user: 'root', exposed: [], cmd: [] };
      stages.set(name, image);
      continue;
    }
    if (image === undefined) throw new Refused(`${word} before FROM`);
    follow(image, { word, rest }, { context, ignored, stages, tools });
  }
  if (image === undefined) throw new Refused('no FROM');
  return image;
}

interface Around {
  readonly context: string;
  readonly ignored: (file: string) => boolean;
  readonly stages: ReadonlyMap<string, Image>;
  readonly tools: string;
}

function follow(image: Image, { word, rest }: Step, around: Around): void {
  switch (word) {
    case 'ENV': {
      const [, name, value] = /^([A-Z_]+)=([^\s"$]+)$/.exec(rest) ?? [];
      if (name === undefined || value === undefined) throw new Refused(`ENV ${rest}`);
      image.env[name] = value;
      return;
    }
    case 'WORKDIR':
      image.workdir = path.posix.resolve(image.workdir, rest);
      fs.mkdirSync(inside(image, image.workdir), { recursive: true });
      return;
    case 'COPY':
      copy(image, rest.split(/\s+/), around);
      return;
    case 'RUN':
      run(image, rest, around.tools);
      return;
    case 'USER':
      if (rest !== 'node') throw new Refused(`USER ${rest}: node is the only one in the image`);
      image.user = rest;
      return;
    case 'EXPOSE':
      image.exposed.push(rest);
      return;
    case 'CMD':
      image.cmd = words(rest);
      return;
    default:
      throw new Refused(`${word} ${rest}`);
  }
}

/** The place of a path of the image on this machine. */
function inside(image: Image, at: string): string {
  return path.join(image.root, path.posix.resolve(image.workdir, at));
}

function copy(image: Image, args: string[], { context, ignored, stages }: Around): void {
  const flags = args.filter((arg) => arg.startsWith('--'));
  const [sources, target = ''] = [args.filter((arg) => !arg.startsWith('--')).slice(0, -1), args.at(-1)];
  const from = flags.map((flag) => /^--from=(\w+)$/.exec(flag)?.[1]);
  if (from.length > 1 || from.includes(undefined)) throw new Refused(`COPY ${args.join(' ')}`);
  const stage = from[0] === undefined ? undefined : stages.get(from[0]);
  if (from[0] !== undefined && stage === undefined) throw new Refused(`COPY from no stage: ${from[0]}`);
  if (sources.length > 1 && !target.endsWith('/')) throw new Refused(`COPY of several files to ${target}`);
  for (const source of sources) {
    if (/[*?[$]/.test(source) || source.split('/').includes('..')) throw new Refused(`COPY ${source}`);
    const at = stage === undefined ? path.join(context, source) : inside(stage, source);
    const relative = (file: string) => path.relative(context, file);
    if (!fs.existsSync(at) || (stage === undefined && ignored(relative(at)))) {
      throw new Refused(
        `COPY ${source}: there is no such file in the ${stage === undefined ? 'context' : 'stage'}`,
      );
    }
    const isFolder = fs.statSync(at).isDirectory();
    const to =
      isFolder || !target.endsWith('/')
        ? inside(image, target)
        : path.join(inside(image, target), path.basename(at));
    fs.cpSync(at, to, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => stage !== undefined || !ignored(relative(file)),
    });
  }
}

function run(image: Image, command: string, tools: string): void {
  if (image.user !== 'root') throw new Refused(`RUN as ${image.user}: ${command}`);
  for (const part of command.split('&&')) {
    const [program = ''] = part
      .trim()
      .replace(/^CI=true /, '')
      .split(' ');
    if (!managers.includes(program) || /[|;<>$`*]/.test(part)) throw new Refused(`RUN ${command}`);
  }
  const { status, stderr, stdout } = spawnSync('/bin/sh', ['-c', command], {
    cwd: inside(image, image.workdir),
    env: { ...image.env, PATH: `${tools}:/usr/bin:/bin`, ROOT: image.root },
    encoding: 'utf8',
  });
  assert.equal(status, 0, `RUN ${command}\n${stdout}${stderr}`);
}

/** Program, arguments, folder and environment of what the image runs. */
export function processOf(image: Image) {
  const [program = '', ...args] = image.cmd;
  const cwd = inside(image, image.workdir);
  const at = program.includes('/')
    ? path.resolve(cwd, program)
    : path.join(image.root, 'usr/local/bin', program);
  assert.ok(fs.existsSync(at), `the image has no ${program}`);
  return { program: at, args, cwd, env: { ...image.env } };
}

function words(text: string): string[] {
  if (!text.startsWith('[')) throw new Refused(`a shell as process 1 passes no signal on: ${text}`);
  const parsed: unknown = JSON.parse(text);
  assert.ok(Array.isArray(parsed) && parsed.every((word): word is string => typeof word === 'string'));
  return parsed;
}

/** Patterns of `.dockerignore` that this understands: names at the top, with `*`. */
function ignoredBy(file: string): (file: string) => boolean {
  const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n') : [];
  const patterns = lines.filter((line) => line !== '' && !line.startsWith('#'));
  for (const pattern of patterns)
    if (!/^[\w.*-]+$/.test(pattern)) throw new Refused(`.dockerignore: ${pattern}`);
  const expressions = patterns.map(
    (pattern) => new RegExp(`^${pattern.replaceAll('.', String.raw`\.`).replaceAll('*', '.*')}$`),
  );
  return (name) => expressions.some((expression) => expression.test(name.split(path.sep)[0] ?? ''));
}
