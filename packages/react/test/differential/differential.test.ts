/** Random trees, rendered by react-dom and by Sluice: no difference that a caller could notice. `rounds.ts` says how many. */

import { test } from 'node:test';
import { noDifference, share_newest } from './rounds.ts';

void test('no difference to the newest react-dom', () => noDifference({ share: share_newest, index: 0 }));
