/** Sentences for descriptions and reviews, put together from parts by the product's own generator. */

import type { Random } from './random.js';
import type { Colour, Kind, Maker, Material, Review } from './types.js';
import { authors } from './words.js';

export interface Subject {
  kind: Kind;
  maker: Maker;
  material: Material;
  collection: string;
  colours: readonly Colour[];
}

const qualities = [
  'quiet',
  'sturdy',
  'plain',
  'generous',
  'light',
  'well-balanced',
  'modest',
  'handsome',
  'patient',
];
const openings = [
  'A {quality} {kind} in {material}, made for {use}.',
  'The {kind} we reach for when it comes to {use}: {quality} and built to last.',
  'Once more a {quality} {kind}, this time in {material} from the {collection} series.',
  '{maker} have made a {kind} for {use}, and kept it {quality}.',
];
const middles = [
  'It is made in {town} by {maker}, who have worked with {material} since {since}.',
  'Each one is finished by hand in {town}, so no two are quite alike.',
  'The {material} comes from within a day’s drive of the workshop in {town}.',
  'The {collection} series began with one drawing and went through eleven prototypes before anybody was content.',
  'Every part can be ordered on its own, and a spare costs less than the postage.',
  'We have used ours for {use} for two winters now, and it has only grown nicer.',
  'There is no glue in it, no plating, and nothing that a screwdriver cannot undo.',
  'It nests, hangs or stands, whichever your home has room for.',
];
const closings = [
  'It comes in {colours}. {care}',
  'Choose between {colours}. {care} Parcels leave us in plain card without plastic.',
  'In {colours}, with a guarantee that does not ask for the receipt. {care}',
];
const highlightParts = [
  'Made in {town} by {maker}',
  'Real {material}, through and through',
  'Can be repaired at home with common tools',
  'Spare parts kept for fifteen years',
  'Packed without plastic',
  'Tested for a year by people who do not work here',
  'Part of the {collection} series, so it matches',
  'Lighter than it looks',
];
const verdicts: readonly (readonly [string, string])[] = [
  ['Went back', 'Not for me. The colour differs from the picture and the finish has a flaw on one side.'],
  [
    'Expected more',
    'It does the job, but for this price I hoped for a better finish. The service was kind, though.',
  ],
  [
    'Good, with a reservation',
    'Good {kind}, though it took two weeks to arrive and is a little smaller than I had in mind.',
  ],
  [
    'Does what it should',
    'Exactly as described. I use it for {use} nearly every day and have no complaints so far.',
  ],
  [
    'Would buy again',
    'Bought one, then a second as a present. The {material} feels right and it is easy to look after.',
  ],
];
const additions = [
  'My partner laughed at first and now will not share it.',
  'Compared three others in the shop before choosing this one.',
  'The {colour} is deeper than on the screen, which I like.',
  'Arrived on a Tuesday, was in use the same evening.',
  'After three months there is no sign of wear.',
  'A neighbour has asked me twice where it comes from.',
  'The instructions fit on one card, as they should.',
  'I would have liked one more size to choose from.',
  'It replaced one that I had inherited, and that is high praise.',
];

export function summaryOf(random: Random, subject: Subject): string {
  return fill(random, random.pick(openings), subject);
}

export function descriptionOf(random: Random, subject: Subject): string[] {
  const sentences = random.sample(middles, random.int(4, 7)).map((part) => fill(random, part, subject));
  const half = Math.ceil(sentences.length / 2);
  return [
    sentences.slice(0, half).join(' '),
    sentences.slice(half).join(' '),
    fill(random, random.pick(closings), subject),
  ];
}

export function highlightsOf(random: Random, subject: Subject): string[] {
  return random.sample(highlightParts, 5).map((part) => fill(random, part, subject));
}

/** `liking` in [0, 1] moves all of a product's ratings up or down together. */
export function reviewOf(random: Random, subject: Subject, id: string, liking: number): Review {
  const rating = Math.max(1, Math.min(5, Math.round(1.6 + liking * 3 + random.unit() * 2 - 0.6)));
  const [title, body] = verdicts[rating - 1] ?? ['', ''];
  const colour = random.pick(subject.colours);
  const more = random.sample(additions, random.int(0, 3)).map((part) => fill(random, part, subject, colour));
  const size = subject.kind.sizes.length > 0 ? `, ${random.pick(subject.kind.sizes).toLowerCase()}` : '';
  return {
    id,
    author: random.pick(authors),
    rating,
    title,
    body: [fill(random, body, subject, colour), ...more].join(' '),
    date: dateOf(random.int(0, 700)),
    bought: `${colour.name}${size}`,
    verified: random.chance(0.8),
    helpful: Math.floor(random.unit() ** 3 * 60),
  };
}

/** Dates count from a fixed day: a page must not change with the day it is rendered on. */
function dateOf(day: number): string {
  return new Date(Date.UTC(2024, 0, 8) + day * 86_400_000).toISOString().slice(0, 10);
}

function fill(random: Random, text: string, subject: Subject, colour?: Colour): string {
  return text.replace(/\{(\w+)\}/g, (_, key: string) => {
    switch (key) {
      case 'quality':
        return random.pick(qualities);
      case 'kind':
        return subject.kind.name.toLowerCase();
      case 'material':
        return subject.material.name.toLowerCase();
      case 'care':
        return subject.material.care;
      case 'use':
        return subject.kind.use;
      case 'maker':
        return subject.maker.name;
      case 'town':
        return subject.maker.town;
      case 'since':
        return String(subject.maker.since);
      case 'collection':
        return subject.collection;
      case 'colour':
        return (colour ?? subject.colours[0])?.name.toLowerCase() ?? '';
      default:
        return listed(subject.colours.map((each) => each.name.toLowerCase()));
    }
  });
}

function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words[words.length - 1] ?? ''}`;
}
