// Cases that all surfaces share: a stream in the text form, rectangles, and the player's picture.
import fs from 'node:fs';

export interface Case {
  readonly name: string;
  readonly what: string;
  readonly size: readonly [width: number, height: number];
  readonly stream: readonly string[];
  readonly rects: Readonly<Record<string, readonly [x: number, y: number, width: number, height: number]>>;
  /** PNG of the player. */
  readonly picture: Buffer;
}

const folder = new URL('../../../../screens/cases/', import.meta.url);

export const cases: readonly Case[] = fs
  .readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => {
    const parsed = JSON.parse(fs.readFileSync(new URL(file, folder), 'utf8')) as Omit<
      Case,
      'name' | 'picture'
    >;
    const picture = fs.readFileSync(new URL(file.replace('.json', '.png'), folder));
    return { ...parsed, name: file.replace('.json', ''), picture };
  });
