// An app with faults (`faults.ts`), one a path, and a path without any. Tests run it bundled, with a source map.
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { collectorStorm, growingExpression, largeParse, leak, synchronousRead } from './faults.ts';

const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'slu-planted-')), 'large');
fs.writeFileSync(file, Buffer.alloc(64 * 1024 * 1024));
process.on('exit', () => fs.rmSync(path.dirname(file), { recursive: true, force: true }));
process.on('SIGTERM', () => process.exit(0));
/** 20 MB at least. */
const json = JSON.stringify(
  Array.from({ length: 430_000 }, (_, index) => ({ index, text: `item number ${index}`, no: null })),
);

const FAULTS: Record<string, (size: number) => unknown> = {
  '/regex': (size) => growingExpression(size || 22),
  '/read': () => synchronousRead(file),
  '/parse': () => largeParse(json),
  '/leak': (size) => leak(size || 500),
  '/gc': (size) => collectorStorm(size || 400_000),
};

/** Milliseconds of the CPU. */
function burn(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

http
  .createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://app');
    const fault = FAULTS[pathname];
    if (fault === undefined) burn(Number(searchParams.get('ms') ?? 1));
    response.end(`${String(fault?.(Number(searchParams.get('size') ?? 0)))}\n`);
  })
  .listen(process.env['PORT'] ?? 3000);
