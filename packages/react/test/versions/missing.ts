/** A function that a line of React does not have is said to be missing, by name and with the line that has it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadReact, loadSluice } from '../differential/libraries.ts';

const since = {
  renderToReadableStream: '19.2',
  prerender: '19.2',
  prerenderToNodeStream: '19.0',
  resume: '19.2',
  resumeToPipeableStream: '19.2',
  resumeAndPrerender: '19.2',
  resumeAndPrerenderToNodeStream: '19.2',
};
type Functions = Readonly<Record<string, (children: unknown, state: unknown) => unknown>>;

export function saysWhatIsMissing(minor: string, folder: string): void {
  for (const [name, line] of Object.entries(since)) {
    void test(`React ${minor}: ${name} is there, or is said to be missing`, async () => {
      const { stock, version } = loadReact(folder);
      const sluice = (await loadSluice(folder)) as unknown as Functions;
      const isMissing = version.localeCompare(line, 'en', { numeric: true }) < 0;
      assert.equal((stock as unknown as Functions)[name] === undefined, isMissing);
      const asked = Promise.resolve().then(() => sluice[name]?.('text', undefined));
      const told = await asked.then(
        () => '',
        (error: unknown) => (error as Error).message,
      );
      const missing = `@sluice/react: react-dom ${version} has no \`${name}\`. It is available since React ${line}.`;
      // What it says of no state at all is react-dom's own.
      if (isMissing) assert.equal(told, missing);
      else assert.ok(!told.includes('@sluice/react'), told);
    });
  }
}
