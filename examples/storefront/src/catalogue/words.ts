/** The words that the catalogue is made of. Every maker, town and collection here is invented. */

import type { Colour, Maker, Material } from './types.js';

export const colours: readonly Colour[] = [
  { slug: 'moss', name: 'Moss', hex: '#6b7f4e' },
  { slug: 'fern', name: 'Fern', hex: '#3f6b4a' },
  { slug: 'slate', name: 'Slate', hex: '#55616d' },
  { slug: 'chalk', name: 'Chalk', hex: '#e6e0d4' },
  { slug: 'rust', name: 'Rust', hex: '#b3552e' },
  { slug: 'ochre', name: 'Ochre', hex: '#cf9a3a' },
  { slug: 'indigo', name: 'Indigo', hex: '#3b4a8c' },
  { slug: 'plum', name: 'Plum', hex: '#6d3b5e' },
  { slug: 'rose', name: 'Rose', hex: '#d08a8a' },
  { slug: 'sea', name: 'Sea', hex: '#3d8a8f' },
  { slug: 'sand', name: 'Sand', hex: '#cbb48b' },
  { slug: 'ink', name: 'Ink', hex: '#262b3a' },
  { slug: 'brick', name: 'Brick', hex: '#94403a' },
  { slug: 'sky', name: 'Sky', hex: '#86b3d1' },
];

const makerNames: readonly (readonly [string, string, number])[] = [
  ['Brindlemoor', 'Oxbarrow', 1987],
  ['Quillhaven', 'Saltmere', 2004],
  ['Tarnwick & Daughters', 'Upper Fallow', 1962],
  ['Pellgrove', 'Dunvarrow', 2011],
  ['Marrowgate', 'Saltmere', 1978],
  ['Sorrelby', 'Little Wend', 2016],
  ['Underlarch', 'Hexley Bridge', 1999],
  ['Wexholm Works', 'Dunvarrow', 1931],
  ['Galewright', 'Port Ambry', 2008],
  ['Thistlecombe', 'Upper Fallow', 1994],
  ['Osterlow', 'Port Ambry', 2013],
  ['Fennimark', 'Oxbarrow', 2019],
  ['Candlewharf', 'Saltmere', 1955],
  ['Rookery Nine', 'Hexley Bridge', 2015],
  ['Dapplestone', 'Little Wend', 1983],
  ['Yarrowsmith', 'Dunvarrow', 1971],
  ['Kettlefold', 'Oxbarrow', 2002],
  ['Plumbline Union', 'Port Ambry', 2009],
];

export const makers: readonly Maker[] = makerNames.map(([name, town, since]) => ({
  slug: slugOf(name),
  name,
  town,
  since,
}));

const materialCare: readonly (readonly [string, string])[] = [
  ['Stoneware', 'Safe in the dishwasher and the oven.'],
  ['Porcelain', 'Safe in the dishwasher; not on a flame.'],
  ['Glass', 'Wash by hand in warm water.'],
  ['Enamelled steel', 'Wash by hand; avoid scouring pads.'],
  ['Stainless steel', 'Wipe clean; it dries without a mark.'],
  ['Brass', 'Polish with a soft cloth, or let it darken.'],
  ['Oak', 'Wipe dry after use and oil twice a year.'],
  ['Ash', 'Wipe with a damp cloth; oil once a year.'],
  ['Birch ply', 'Wipe with a damp cloth.'],
  ['Linen', 'Wash at 40 °C; softens with every wash.'],
  ['Wool', 'Air often, wash rarely and cool.'],
  ['Cotton', 'Wash at 40 °C; tumble dry low.'],
  ['Waxed canvas', 'Brush clean; wax again every other autumn.'],
  ['Leather', 'Feed with balm twice a year.'],
  ['Recycled nylon', 'Rinse in cold water and hang to dry.'],
  ['Terracotta', 'Rinse with water; bring in before frost.'],
  ['Beeswax', 'Keep out of the sun.'],
  ['Paper', 'Keep dry; recycle when full.'],
];

export const materials: readonly Material[] = materialCare.map(([name, care]) => ({
  slug: slugOf(name),
  name,
  care,
}));

export const collections: readonly string[] = [
  'Alderby', 'Ashmoor', 'Bellwether', 'Briar', 'Calder', 'Cinderford', 'Cobble', 'Coppice', 'Dovecote', 'Drift',
  'Eddy', 'Ember', 'Fallow', 'Fathom', 'Foxglove', 'Gable', 'Gannet', 'Harbour', 'Hazel', 'Heron',
  'Hollow', 'Juniper', 'Kestrel', 'Lantern Lane', 'Larkrise', 'Linnet', 'Lowtide', 'Meadow', 'Millrace', 'Nettle',
  'Nightjar', 'Orchard', 'Otter', 'Pebble', 'Plover', 'Quarry', 'Quill', 'Rambler', 'Rushes', 'Saltmarsh',
  'Sedge', 'Skylark', 'Spindle', 'Stile', 'Swift', 'Tallow', 'Thicket', 'Tidemark', 'Towpath', 'Umber',
  'Vale', 'Wagtail', 'Weir', 'Wicker', 'Willow', 'Windrow', 'Wren', 'Yarrow', 'Yonder', 'Zephyr',
]; // prettier-ignore

export const authors: readonly string[] = [
  'Amparo V.', 'Bastian K.', 'Cosima R.', 'Dilnoza T.', 'Edda M.', 'Farid N.', 'Greta O.', 'Hamish P.', 'Ilse B.', 'Jomo W.',
  'Katya S.', 'Lowri D.', 'Mateus F.', 'Nadia E.', 'Ottilie H.', 'Priya G.', 'Quentin A.', 'Rosalba C.', 'Sunniva L.', 'Tadeo J.',
  'Ursel Z.', 'Viggo Q.', 'Wanja I.', 'Xenia U.', 'Yusuf Y.', 'Zelda X.',
]; // prettier-ignore

export function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
