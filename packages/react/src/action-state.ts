/** The key by which a posted form finds its `useActionState` again. */
import { createHash } from 'node:crypto';

/** `short`: react-dom's string renderer also runs where there is no cryptography, and uses another hash. */
export function createPostbackKey(
  permalink: string | undefined,
  keyPath: unknown,
  hookIndex: number,
  short: boolean,
): string {
  if (permalink !== undefined) return `p${permalink}`;
  const path = JSON.stringify([keyPath, null, hookIndex]);
  if (short) return `k${murmur3(path)}`;
  return `k${createHash('md5').update(path).digest('hex')}`;
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}

/** MurmurHash3, 32 bits, seed 0, of the low bytes of the UTF-16 units. */
function murmur3(text: string): number {
  const byte = (at: number): number => text.charCodeAt(at) & 0xff;
  const whole = text.length - (text.length % 4);
  let hash = 0;
  for (let at = 0; at < whole; at += 4) {
    hash ^= scramble(byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16) | (byte(at + 3) << 24));
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let at = text.length - 1; at >= whole; at -= 1) rest = (rest << 8) | byte(at);
  if (whole < text.length) hash ^= scramble(rest);
  hash ^= text.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
