/** Data for the pages, fresh for each render: no string is the same object twice, so that nothing is remembered by chance. */

export interface Product {
  id: number;
  slug: string;
  name: string;
  maker: string;
  text: string;
  price_cents: number;
  was_cents: number | null;
  rating: number;
  reviews: number;
  stock: number;
  tags: string[];
  colours: { name: string; hex: string }[];
}

export interface Listing {
  title: string;
  products: Product[];
}

const words =
  'amber basin cedar dune ember fjord glade harbor iris juniper kelp larch maple nectar opal pine quartz reed sage tide umber vale willow yarrow';
const names = words.split(' ');

/** Small, fast and the same for the same seed (mulberry32). */
export function random(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export function sentence(pick: (below: number) => number, count: number): string {
  return Array.from({ length: count }, () => names[pick(names.length)]).join(' ');
}

export function listing(seed: number): Listing {
  const pick = random(seed);
  return {
    title: `${sentence(pick, 2)} & ${sentence(pick, 1)}`,
    products: Array.from({ length: 60 }, (_, index) => product(pick, seed * 60 + index)),
  };
}

function product(pick: (below: number) => number, id: number): Product {
  const price_cents = 500 + pick(20_000);
  return {
    id,
    slug: `${sentence(pick, 1)}-${id}`,
    name: `${sentence(pick, 2)} “${id}”`,
    maker: `${sentence(pick, 1)} & sons`,
    text: `${sentence(pick, 9)}, it's ${sentence(pick, 5)}.`,
    price_cents,
    was_cents: price_cents + 100 + pick(900),
    rating: pick(11) / 2,
    reviews: pick(400),
    stock: pick(12),
    tags: [sentence(pick, 1), sentence(pick, 1)],
    colours: Array.from({ length: 4 }, () => ({
      name: sentence(pick, 1),
      hex: `#${(0x100000 + pick(0xefffff)).toString(16)}`,
    })),
  };
}
