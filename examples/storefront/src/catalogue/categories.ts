/** Twelve categories with five kinds of goods each, and what a product of each kind can be. */

import type { Category, Kind } from './types.js';
import { slugOf } from './words.js';

const clothes = ['Small', 'Medium', 'Large', 'Extra large'];
const threeSizes = ['Small', 'Medium', 'Large'];
const twoSizes = ['Standard', 'Large'];
const oneSize: string[] = [];

/** Price range in whole euros, weight range in grams, length in millimetres. */
function kind(
  name: string,
  plural: string,
  art: string,
  [priceMin, priceMax]: [number, number],
  [weightMin, weightMax]: [number, number],
  length_mm: number,
  sizes: readonly string[],
  materials: readonly string[],
  use: string,
): Kind {
  return {
    slug: slugOf(name),
    name,
    plural,
    art,
    price_cents_min: priceMin * 100,
    price_cents_max: priceMax * 100,
    weight_g_min: weightMin,
    weight_g_max: weightMax,
    length_mm,
    materials: materials.map(slugOf),
    sizes,
    use,
  };
}

function category(name: string, code: string, hue: number, blurb: string, kinds: readonly Kind[]): Category {
  return { slug: slugOf(name), name, code, hue, blurb, kinds };
}

const ceramics = ['Stoneware', 'Porcelain'];
const woods = ['Oak', 'Ash', 'Birch ply'];
const cloths = ['Linen', 'Cotton', 'Wool'];
const metals = ['Brass', 'Stainless steel', 'Enamelled steel'];
const tough = ['Waxed canvas', 'Recycled nylon'];

// prettier-ignore
export const categories: readonly Category[] = [
  category('Kitchen', 'KIT', 24, 'Things that see the stove every day and get better for it.', [
    kind('Mug', 'Mugs', 'mug', [9, 34], [240, 420], 95, twoSizes, [...ceramics, 'Enamelled steel'], 'the first coffee'),
    kind('Teapot', 'Teapots', 'teapot', [28, 96], [600, 1400], 210, twoSizes, [...ceramics, 'Glass'], 'a long afternoon'),
    kind('Chopping board', 'Chopping boards', 'board', [22, 88], [700, 2600], 380, threeSizes, woods, 'bread and onions'),
    kind('Saucepan', 'Saucepans', 'pan', [39, 165], [900, 2800], 320, threeSizes, ['Stainless steel', 'Enamelled steel'], 'soup for four'),
    kind('Apron', 'Aprons', 'cloth', [24, 68], [260, 540], 900, twoSizes, ['Linen', 'Cotton', 'Waxed canvas'], 'messy recipes'),
  ]),
  category('Table', 'TAB', 348, 'Plates, bowls and glass for weekdays and for guests.', [
    kind('Dinner plate', 'Dinner plates', 'plate', [12, 44], [420, 760], 270, twoSizes, ceramics, 'supper'),
    kind('Serving bowl', 'Serving bowls', 'bowl', [18, 72], [500, 1600], 260, threeSizes, [...ceramics, 'Oak'], 'a salad for six'),
    kind('Carafe', 'Carafes', 'bottle', [19, 64], [480, 900], 280, twoSizes, ['Glass', 'Stoneware'], 'water or wine'),
    kind('Napkin set', 'Napkin sets', 'cloth', [14, 52], [160, 320], 450, oneSize, ['Linen', 'Cotton'], 'a laid table'),
    kind('Cutlery set', 'Cutlery sets', 'cutlery', [48, 210], [900, 2200], 230, twoSizes, ['Stainless steel', 'Brass'], 'every meal'),
  ]),
  category('Lighting', 'LIG', 44, 'Warm light where you read, eat and fall asleep.', [
    kind('Table lamp', 'Table lamps', 'lamp', [45, 190], [900, 3200], 420, oneSize, [...metals, 'Stoneware'], 'the corner by the sofa'),
    kind('Floor lamp', 'Floor lamps', 'floorlamp', [89, 420], [3800, 9000], 1500, oneSize, ['Brass', 'Oak', 'Ash'], 'a reading chair'),
    kind('Pendant light', 'Pendant lights', 'pendant', [65, 280], [800, 3400], 380, threeSizes, ['Enamelled steel', 'Glass', 'Brass'], 'the kitchen table'),
    kind('Lantern', 'Lanterns', 'lantern', [24, 110], [600, 2400], 310, twoSizes, ['Brass', 'Glass', 'Enamelled steel'], 'late evenings outside'),
    kind('Candle', 'Candles', 'candle', [8, 38], [180, 700], 160, threeSizes, ['Beeswax'], 'a quiet hour'),
  ]),
  category('Furniture', 'FUR', 30, 'Solid pieces that can be taken apart, repaired and handed on.', [
    kind('Chair', 'Chairs', 'chair', [120, 460], [3800, 7200], 820, oneSize, [...woods, 'Leather'], 'the dining room'),
    kind('Stool', 'Stools', 'stool', [68, 240], [2200, 5200], 450, twoSizes, woods, 'the end of the bench'),
    kind('Side table', 'Side tables', 'stool', [110, 390], [4200, 9800], 520, twoSizes, [...woods, 'Enamelled steel'], 'a lamp and a book'),
    kind('Bookcase', 'Bookcases', 'shelf', [260, 980], [18000, 42000], 1800, threeSizes, woods, 'everything you have read'),
    kind('Bench', 'Benches', 'bench', [180, 640], [8200, 19000], 1400, twoSizes, ['Oak', 'Ash'], 'the hall'),
  ]),
  category('Textiles', 'TEX', 268, 'Woven and knitted for floors, beds and windows.', [
    kind('Rug', 'Rugs', 'rug', [95, 680], [2400, 14000], 2000, threeSizes, ['Wool', 'Cotton'], 'cold floors'),
    kind('Blanket', 'Blankets', 'cloth', [58, 240], [900, 2100], 1800, twoSizes, ['Wool', 'Cotton'], 'the sofa in winter'),
    kind('Cushion', 'Cushions', 'cushion', [22, 78], [340, 900], 500, twoSizes, cloths, 'a hard chair'),
    kind('Curtain pair', 'Curtain pairs', 'curtain', [64, 260], [1200, 3600], 2400, threeSizes, ['Linen', 'Cotton'], 'early mornings'),
    kind('Bath towel', 'Bath towels', 'cloth', [18, 62], [420, 880], 1400, threeSizes, ['Cotton', 'Linen'], 'after a swim'),
  ]),
  category('Garden', 'GAR', 112, 'Tools and pots that live outside and do not mind.', [
    kind('Watering can', 'Watering cans', 'can', [24, 92], [700, 2100], 420, twoSizes, ['Enamelled steel', 'Brass'], 'tomatoes and ferns'),
    kind('Planter', 'Planters', 'planter', [14, 120], [900, 9000], 320, threeSizes, ['Terracotta', 'Stoneware', 'Enamelled steel'], 'a lemon tree'),
    kind('Hand trowel', 'Hand trowels', 'tool', [16, 54], [220, 480], 310, oneSize, ['Stainless steel', 'Ash'], 'spring bulbs'),
    kind('Bird house', 'Bird houses', 'house', [26, 88], [900, 2200], 280, oneSize, ['Oak', 'Birch ply', 'Terracotta'], 'wrens and tits'),
    kind('Garden apron', 'Garden aprons', 'cloth', [28, 72], [380, 760], 880, twoSizes, ['Waxed canvas', 'Cotton'], 'muddy knees'),
  ]),
  category('Outdoors', 'OUT', 158, 'Light, plain kit for a night or a week away.', [
    kind('Tent', 'Tents', 'tent', [180, 740], [1400, 5200], 2300, threeSizes, ['Recycled nylon', 'Cotton'], 'a windy ridge'),
    kind('Rucksack', 'Rucksacks', 'rucksack', [78, 290], [800, 2100], 560, threeSizes, tough, 'three days on foot'),
    kind('Sleeping bag', 'Sleeping bags', 'bedroll', [95, 380], [700, 1900], 2050, twoSizes, ['Recycled nylon', 'Wool'], 'frost on the meadow'),
    kind('Camp stove', 'Camp stoves', 'pan', [48, 190], [320, 1800], 180, oneSize, ['Brass', 'Stainless steel'], 'tea at the summit'),
    kind('Flask', 'Flasks', 'bottle', [22, 74], [280, 640], 270, threeSizes, ['Stainless steel', 'Enamelled steel'], 'a train window'),
  ]),
  category('Clothing', 'CLO', 212, 'A short wardrobe, cut to last and to be mended.', [
    kind('Jumper', 'Jumpers', 'jumper', [68, 240], [420, 980], 680, clothes, ['Wool', 'Cotton'], 'a draughty office'),
    kind('Work jacket', 'Work jackets', 'jacket', [95, 340], [800, 1700], 720, clothes, ['Waxed canvas', 'Cotton', 'Linen'], 'all weathers but one'),
    kind('Scarf', 'Scarves', 'scarf', [28, 120], [160, 420], 1900, oneSize, ['Wool', 'Linen', 'Cotton'], 'a cold platform'),
    kind('Hat', 'Hats', 'hat', [22, 86], [90, 240], 280, threeSizes, cloths, 'walking the dog'),
    kind('Gloves', 'Gloves', 'glove', [26, 98], [80, 220], 240, threeSizes, ['Wool', 'Leather'], 'the handlebars'),
  ]),
  category('Bags', 'BAG', 18, 'To carry a laptop, a picnic or nearly nothing.', [
    kind('Tote', 'Totes', 'tote', [24, 130], [280, 760], 400, twoSizes, ['Cotton', 'Waxed canvas', 'Leather'], 'the market'),
    kind('Satchel', 'Satchels', 'satchel', [88, 320], [800, 1600], 380, twoSizes, ['Leather', 'Waxed canvas'], 'papers and lunch'),
    kind('Wallet', 'Wallets', 'wallet', [32, 118], [60, 160], 110, oneSize, ['Leather', 'Recycled nylon'], 'a back pocket'),
    kind('Weekender', 'Weekenders', 'weekender', [130, 480], [1200, 2600], 560, oneSize, ['Leather', 'Waxed canvas', 'Recycled nylon'], 'two nights away'),
    kind('Pouch', 'Pouches', 'wallet', [16, 58], [80, 240], 220, threeSizes, [...tough, 'Leather'], 'cables and pens'),
  ]),
  category('Desk', 'DES', 228, 'For writing by hand and keeping order.', [
    kind('Notebook', 'Notebooks', 'book', [8, 36], [180, 520], 210, twoSizes, ['Paper', 'Leather', 'Linen'], 'half an idea'),
    kind('Fountain pen', 'Fountain pens', 'pen', [28, 190], [18, 46], 140, oneSize, ['Brass', 'Stainless steel'], 'letters'),
    kind('Desk clock', 'Desk clocks', 'clock', [38, 160], [300, 1100], 140, oneSize, ['Brass', 'Oak', 'Birch ply'], 'knowing when to stop'),
    kind('Desk tray', 'Desk trays', 'tray', [18, 76], [300, 1300], 320, threeSizes, [...woods, 'Brass'], 'post and keys'),
    kind('Pencil set', 'Pencil sets', 'pencils', [9, 42], [60, 220], 180, oneSize, ['Ash', 'Paper'], 'drawing on trains'),
  ]),
  category('Sound', 'SOU', 190, 'To listen to one record at a time.', [
    kind('Headphones', 'Headphones', 'headphones', [89, 390], [180, 380], 200, oneSize, ['Stainless steel', 'Leather', 'Ash'], 'a shared house'),
    kind('Radio', 'Radios', 'radio', [74, 280], [900, 2600], 260, oneSize, ['Oak', 'Birch ply', 'Enamelled steel'], 'the shipping news'),
    kind('Speaker', 'Speakers', 'speaker', [120, 680], [2200, 8600], 340, twoSizes, [...woods], 'a whole side of an album'),
    kind('Turntable', 'Turntables', 'turntable', [210, 890], [4200, 9800], 430, oneSize, ['Oak', 'Ash', 'Stainless steel'], 'Sunday morning'),
    kind('Record crate', 'Record crates', 'crate', [34, 120], [1800, 4600], 360, twoSizes, woods, 'the next hundred records'),
  ]),
  category('Play', 'PLA', 4, 'Games and toys without screens or batteries.', [
    kind('Kite', 'Kites', 'kite', [18, 84], [140, 420], 1100, twoSizes, ['Recycled nylon', 'Cotton'], 'a beach in April'),
    kind('Building blocks', 'Building blocks', 'blocks', [24, 96], [900, 2800], 300, threeSizes, ['Ash', 'Birch ply'], 'towers and what comes after'),
    kind('Puzzle', 'Puzzles', 'puzzle', [16, 58], [420, 1100], 340, threeSizes, ['Birch ply', 'Paper'], 'a week of rain'),
    kind('Spinning top', 'Spinning tops', 'top', [9, 36], [60, 220], 80, oneSize, ['Brass', 'Ash', 'Oak'], 'an idle table'),
    kind('Board game', 'Board games', 'game', [24, 78], [700, 1900], 300, oneSize, ['Birch ply', 'Paper', 'Linen'], 'four players and a pot of tea'),
  ]),
];
