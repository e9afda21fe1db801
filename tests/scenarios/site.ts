// What scenarios of static files share: a directory that is served, and what is read of the answers.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { RawResponse } from '../support/raw.ts';
import { app, type Sluice } from '../support/sluice.ts';
import { running } from './scenario.ts';

/** The content of `site/app.js`. */
export const script = 'console.log("grüße");\n'.repeat(50);

/** A directory with a config and `site/` below it, which is served as `/assets/`; `secret.txt` lies beside `site/`. */
export class Site {
  readonly dir: string = fs.mkdtempSync(path.join(os.tmpdir(), 'slu-site-'));
  readonly config: string = path.join(this.dir, 'sluice.toml');

  constructor(t: TestContext) {
    t.after(() => {
      fs.rmSync(this.dir, { recursive: true, force: true });
    });
    this.write('site/app.js', script).write('secret.txt', 'secret').configure();
  }

  configure(text = 'cache_control = { "/assets/build/" = "public, max-age=31536000, immutable" }'): this {
    // Relative, so that every test also sees that it is meant relative to this file.
    return this.write('sluice.toml', `[files]\npaths = { "/assets/" = "site" }\n${text}\n`);
  }

  write(name: string, content: string | Buffer): this {
    fs.mkdirSync(path.dirname(this.path(name)), { recursive: true });
    fs.writeFileSync(this.path(name), content);
    return this;
  }

  /** A file of this many bytes, none of which is like those near it. */
  big(name: string, bytes: number): Buffer {
    const content = Buffer.alloc(bytes);
    for (let at = 0; at + 4 <= bytes; at += 4) content.writeUInt32LE(at, at);
    this.write(name, content);
    return content;
  }

  path(name: string): string {
    return path.join(this.dir, name);
  }

  async start(t: TestContext, env: Record<string, string> = {}): Promise<Sluice> {
    return running(t, { entry: app('echo.js'), workers: 1, flags: ['--config', this.config], env });
  }
}

export const isFromApp = (response: RawResponse): boolean =>
  response.headers.get('content-type') === 'application/json' && response.body.includes('"url"');

/** Headers by name, as they are there. */
export const pick = (response: RawResponse, ...names: string[]): (string | undefined)[] =>
  names.map((name) => response.headers.get(name));

export const tagOf = (response: RawResponse): string =>
  response.headers.get('etag') ?? assert.fail('no ETag');
