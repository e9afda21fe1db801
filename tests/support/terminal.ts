// A terminal with a shell in it, as somebody has who types commands: util-linux' `script` makes it, bash runs in it. It must not know
// which program is typed.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import { eventually } from './eventually.ts';

/** Why there is no such terminal on this machine; nothing where there is. */
export function missing(): string | undefined {
  if (process.platform !== 'linux') return 'needs the `script` of Linux';
  for (const program of ['script', 'bash', 'stty']) {
    const found = (process.env['PATH'] ?? '').split(':').some((dir) => fs.existsSync(`${dir}/${program}`));
    if (!found) return `needs ${program}`;
  }
  return undefined;
}

/** What escape sequences leave of a text. A cursor that is moved begins a line. */
function plain(text: string): string {
  return (
    text
      // oxlint-disable-next-line no-control-regex -- Escape sequences begin with one.
      .replaceAll(/\u001B\[[\d;]*H/g, '\n')
      // oxlint-disable-next-line no-control-regex -- The same.
      .replaceAll(/\u001B(\[[\d;?]*[a-zA-Z]|[()][A-Z0-9])/g, '')
  );
}

export class TerminalWindow {
  readonly #script: ChildProcess;
  #text = '';
  /** Where the part begins that was not looked at. */
  #from = 0;
  #tty = '';

  private constructor(env: Record<string, string>) {
    this.#script = spawn('script', ['-qfc', 'bash --norc --noprofile -i', '/dev/null'], {
      env: { ...process.env, TERM: 'xterm-256color', PS1: '$ ', HISTFILE: '/dev/null', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#script.stdout?.setEncoding('utf8').on('data', (piece: string) => (this.#text += piece));
    // It is gone when the shell is.
    this.#script.stdin?.on('error', () => {});
  }

  static async open(columns: number, rows: number, env: Record<string, string> = {}): Promise<TerminalWindow> {
    const window = new TerminalWindow(env);
    window.type('tty\n');
    const [tty] = await window.sees(/\/dev\/pts\/\d+/);
    window.#tty = tty;
    window.resize(columns, rows);
    return window;
  }

  type(keys: string): void {
    this.#script.stdin?.write(keys);
  }

  /** As somebody does who pulls at the window's corner. */
  resize(columns: number, rows: number): void {
    execFileSync('stty', ['-F', this.#tty, 'cols', String(columns), 'rows', String(rows)]);
  }

  /** Whether the terminal gathers lines and echoes, as a shell's does while a program runs in it. */
  get isCooked(): boolean {
    const said = execFileSync('stty', ['-F', this.#tty, '-a'], { encoding: 'utf8' });
    return / icanon\b/.test(said) && / echo\b/.test(said);
  }

  /** Bytes as they came, from the last match on. */
  get raw(): string {
    return this.#text.slice(this.#from);
  }

  /** Waits for a text after the last one that was seen. */
  async sees(wanted: RegExp): Promise<RegExpExecArray> {
    const look = () => wanted.exec(plain(this.raw));
    const seen = await eventually(look, { what: String(wanted), deadlineMs: 30_000 }).catch((error: unknown) => {
      throw new Error(`the terminal shows ${JSON.stringify(plain(this.raw).slice(-3_000))}`, { cause: error });
    });
    this.#from = this.#text.length;
    return seen;
  }

  close(): void {
    this.#script.kill('SIGKILL');
  }
}
