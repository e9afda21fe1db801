/**
 * The same comparison with each other minor version of React that Sluice knows, and what the fuzzer does not come to.
 *
 * SLUICE_REACT_VERSIONS=18.3,19.0    only these
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz, packageFolder } from '../differential/fuzz.ts';
import { loadReact } from '../differential/libraries.ts';
import { faithful } from '../differential/mutants.ts';
import { noDifference, share_newest } from '../differential/rounds.ts';
import { behavesAlike } from './behaviours.ts';
import { goesOnAsReactDoes } from './goes-on.ts';
import { keepsPromisesApart } from './handed-on.ts';
import { install, minors } from './install.ts';
import { leavesNothing } from './leaves.ts';
import { saysWhatIsMissing } from './missing.ts';

const newest = loadReact(packageFolder).version;
const others = minors.filter((minor) => !newest.startsWith(`${minor}.`));
const chosen = process.env['SLUICE_REACT_VERSIONS']?.split(',') ?? others;

for (const minor of chosen) {
  const folder = install(minor);
  behavesAlike(minor, folder);
  goesOnAsReactDoes(minor, folder);
  leavesNothing(minor, folder);
  saysWhatIsMissing(minor, folder);
  if (minor === '19.0' || minor === '19.1') keepsPromisesApart(minor, folder);
}
behavesAlike('of the newest', packageFolder);
goesOnAsReactDoes('of the newest', packageFolder);
leavesNothing('of the newest', packageFolder);
saysWhatIsMissing('of the newest', packageFolder);

for (const [index, minor] of chosen.entries()) {
  void test(`no difference to react-dom ${minor}`, async () => {
    const react = install(minor);
    const { version } = loadReact(react);
    assert.ok(version.startsWith(`${minor}.`), `found React ${version}`);
    await noDifference({ share: (1 - share_newest) / chosen.length, index: index + 1 }, { react });
  });

  void test(`react-dom ${minor} does not differ from itself`, async () => {
    const { failure } = await fuzz({ trees: 300, seed: 1, react: install(minor), mutant: faithful[0] ?? '' });
    assert.equal(failure, null, failure ?? '');
  });
}
