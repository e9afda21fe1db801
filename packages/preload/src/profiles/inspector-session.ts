/** A session with the inspector of this process, from inside: none is opened for anybody else. */
import type { Session } from 'node:inspector';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Throws where there is no inspector in this Node. */
function load(): typeof import('node:inspector') {
  return createRequire(import.meta.url)('node:inspector') as typeof import('node:inspector');
}

/** Closes the port of the inspector, if it is open. */
export function closeInspector(): void {
  try {
    const inspector = load();
    if (inspector.url() !== undefined) inspector.close();
  } catch {
    // There is no inspector in this Node, so none is open.
  }
}

/** Throws where there is no inspector in this Node. */
export function openSession(): Session {
  const inspector = load();
  const session = new inspector.Session();
  session.connect();
  return session;
}

/** Asks the inspector, which answers before `post` returns within one process. */
export function ask(session: Session, method: string, params: object = {}): unknown {
  let answer: { readonly error: Error | null; readonly result: unknown } | undefined;
  session.post(method, params, (error: Error | null, result?: unknown) => {
    answer = { error, result };
  });
  if (answer === undefined) throw new Error(`the inspector did not answer to ${method}`);
  if (answer.error !== null) throw answer.error;
  return answer.result;
}

/** Leaves nothing of a file that could not be written whole. */
export function writeWhole(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}
