// The native player's surface, as a bundle finds it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playerSurface } from '../../src/surfaces/player.ts';
import { VERSION } from '../../src/stream/codes.ts';

const place = globalThis as { sluiceSurface?: unknown };

void test("the player's surface is the one that the player has put there", (t) => {
  t.after(() => delete place.sluiceSurface);
  place.sluiceSurface = { version: VERSION, width: 1920 };
  assert.equal(playerSurface(), place.sluiceSurface);
});

void test('without a player, the error says where the bundle belongs', () => {
  assert.throws(
    () => playerSurface(),
    /No player runs this bundle: .*browserSurface\(\) of @sluice\/screens\/browser/,
  );
});

void test('a player of another version is refused with both versions', (t) => {
  t.after(() => delete place.sluiceSurface);
  place.sluiceSurface = { version: VERSION + 1 };
  assert.throws(
    () => playerSurface(),
    new RegExp(`version ${VERSION + 1} of the stream, this bundle has ${VERSION}`),
  );
});
