/** Random trees, rendered by react-dom and by Sluice: no difference that a caller could notice. `rounds.ts` says how many. */

import { test } from 'node:test';
import { noDifference, share_commonjs, share_newest } from './rounds.ts';

void test('no difference to the newest react-dom', () =>
  noDifference({ share: share_newest - share_commonjs, index: 0 }));

void test('no difference in what `require` gives', () =>
  noDifference({ share: share_commonjs, index: 100 }, { build: 'commonjs' }));
