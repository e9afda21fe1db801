// A terminal with a shell in it, as somebody has who types commands: util-linux' `script` makes it, bash runs in it. It must not know
// which program is typed.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import { eventually } from './eventually.ts';

/** Reason for the lack of such a terminal on this machine; nothing if there is one. */
export function missing(): string | undefined {
  if (process.platform !== 'linux') return 'needs the `script` of Linux';
  for (const program of ['script', 'bash', 'stty']) {
    const found = (process.env['PATH'] ?? '').split(':').some((dir) => fs.existsSync(`${dir}/${program}`));
    if (!found) return `needs ${program}`;
  }
  return undefined;
}

/** An escape sequence or a letter. Sequences of which only a part has come match nothing yet. */
// oxlint-disable-next-line no-control-regex -- Escape sequences begin with one.
const PIECE = /\u001B\[([?\d;]*)([a-zA-Z])|\u001B[()][A-Z0-9]|\u001B[=>78]|[^\u001B]/gu;

/** The part of a terminal that tests look at: where letters stand. Colours are left out. */
class Screen {
  #lines: string[][] = [];
  #shell: string[][] = [];
  #row = 0;
  #column = 0;
  rows = 24;

  /** Takes in what a program writes; returns what is not whole yet. */
  write(text: string): string {
    let taken = 0;
    for (const piece of text.matchAll(PIECE)) {
      if (piece.index !== taken) break;
      taken += piece[0].length;
      if (piece[2] !== undefined) this.#control(piece[1] ?? '', piece[2]);
      else if (!piece[0].startsWith('\u001B')) this.#letter(piece[0]);
    }
    return text.slice(taken);
  }

  get text(): string {
    return Array.from(this.#lines, (line) => Array.from(line ?? [], (letter) => letter ?? ' ').join('')).join(
      '\n',
    );
  }

  #letter(letter: string): void {
    if (letter === '\r') this.#column = 0;
    else if (letter === '\b') this.#column = Math.max(0, this.#column - 1);
    else if (letter === '\n') {
      if (this.#row + 1 < this.rows) this.#row += 1;
      else this.#lines.shift();
    } else if (letter >= ' ') (this.#lines[this.#row] ??= [])[this.#column++] = letter;
  }

  #control(parameters: string, command: string): void {
    const [first = 1, second = 1] = parameters.split(';').map((text) => Number(text) || 1);
    if (command === 'H') [this.#row, this.#column] = [first - 1, second - 1];
    else if (command === 'J') this.#lines = parameters === '2' ? [] : this.#lines.slice(0, this.#row);
    else if (command === 'K') (this.#lines[this.#row] ??= []).length = this.#column;
    else if (parameters === '?1049' && command === 'h') [this.#shell, this.#lines] = [this.#lines, []];
    else if (parameters === '?1049') this.#leave();
  }

  #leave(): void {
    this.#lines = this.#shell;
    [this.#row, this.#column] = [Math.max(0, this.#lines.length - 1), 0];
  }
}

export class TerminalWindow {
  readonly #script: ChildProcess;
  readonly #screen = new Screen();
  #rest = '';
  #tty = '';

  private constructor(env: Record<string, string>) {
    // Without an editor of lines the shell leaves the terminal's modes alone.
    this.#script = spawn('script', ['-qfc', 'bash --norc --noprofile --noediting -i', '/dev/null'], {
      env: { ...process.env, TERM: 'xterm-256color', PS1: '$ ', HISTFILE: '/dev/null', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#script.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      this.#rest = this.#screen.write(this.#rest + piece);
    });
    // It is gone when the shell is.
    this.#script.stdin?.on('error', () => {});
  }

  static async open(
    columns: number,
    rows: number,
    env: Record<string, string> = {},
  ): Promise<TerminalWindow> {
    const window = new TerminalWindow(env);
    window.type('tty\n');
    [window.#tty] = await window.sees(/\/dev\/pts\/\d+/);
    window.resize(columns, rows);
    return window;
  }

  type(keys: string): void {
    this.#script.stdin?.write(keys);
  }

  /** Changes the size, as a user does who pulls at the window's corner. */
  resize(columns: number, rows: number): void {
    this.#screen.rows = rows;
    execFileSync('stty', ['-F', this.#tty, 'cols', String(columns), 'rows', String(rows)]);
  }

  /** Whether the terminal gathers lines and echoes, as it does before a program wants each key. */
  get isCooked(): boolean {
    const said = execFileSync('stty', ['-F', this.#tty, '-a'], { encoding: 'utf8' });
    return / icanon\b/.test(said) && / echo\b/.test(said);
  }

  /** Waits until the screen shows it. */
  async sees(wanted: RegExp): Promise<RegExpExecArray> {
    const look = () => wanted.exec(this.#screen.text);
    return eventually(look, { what: String(wanted), deadlineMs: 30_000 }).catch((error: unknown) => {
      throw new Error(`${String(wanted)} is not on the screen:\n${this.#screen.text}`, { cause: error });
    });
  }

  close(): void {
    this.#script.kill('SIGKILL');
  }
}
