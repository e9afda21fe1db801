// The other end of the app `leaves.js`: what it saw of its requests. It must not know any single scenario.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../support/eventually.ts';

/** What the app wrote of its requests. */
export class Journal {
  readonly dir: string = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-leaves-'));
  readonly file: string = path.join(this.dir, 'journal');
  readonly env = { JOURNAL: this.file };

  constructor(context: TestContext) {
    context.after(() => {
      fs.rmSync(this.dir, { recursive: true, force: true });
    });
  }

  /** Words of the app about this request, without their times, in order. */
  of(name: string): string[] {
    if (!fs.existsSync(this.file)) return [];
    const lines = fs.readFileSync(this.file, 'utf8').split('\n');
    return lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.split(' ')[1] ?? '');
  }

  async saw(name: string, what: string): Promise<string[]> {
    const has = (): boolean => this.of(name).some((word) => word.startsWith(what));
    await eventually(has, { what: `${what} of ${name}` }).catch((error: unknown) => {
      throw new Error(`the app saw only ${JSON.stringify(this.of(name))}`, { cause: error });
    });
    return this.of(name);
  }
}
