// The data of the listing pages that every server of the benchmark renders. Listings are kept as JSON text and parsed for each request, as an
// upstream service would send them, so that no server finds an object again that it has seen.

export interface Colour {
  name: string;
  hex: string;
}

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
  badges: string[];
  colours: Colour[];
}

export interface Link {
  text: string;
  href: string;
}

export interface Facet {
  name: string;
  options: { text: string; count: number; isChosen: boolean }[];
}

export interface Banner {
  title: string;
  text: string;
  link: Link;
  hue: number;
}

export interface Listing {
  title: string;
  description: string;
  header: { cart_items: number; query: string; user: string };
  nav: { groups: { title: string; links: Link[] }[] };
  crumbs: { links: Link[] };
  hero: Banner;
  filters: { facets: Facet[] };
  sort: { count: number; chosen: string; orders: string[] };
  cards: Product[];
  promos: Banner[];
  pages: { page: number; count: number; path: string };
  footer: { columns: { title: string; links: Link[] }[]; note: string };
}

export const LISTINGS = 64;
export const CARDS = 48;

const WORDS =
  'amber basin cedar dune ember fjord glade harbor iris juniper kelp larch maple nectar opal pine quartz reed sage tide umber vale willow yarrow'.split(
    ' ',
  );
const FACETS = ['Material', 'Colour', 'Maker', 'Price', 'Size', 'Room', 'Rating'];
const ORDERS = ['Most bought', 'Newest', 'Cheapest first', 'Dearest first', 'Best rated'];
const BADGES = ['New', 'Handmade', 'Few left', 'Organic', 'Award'];

type Pick = (below: number) => number;

let texts: string[] | undefined;

/** One of the listings, parsed afresh; any integer names one. */
export function listing(page: number): Listing {
  texts ??= Array.from({ length: LISTINGS }, (_, at) => JSON.stringify(listingOf(at)));
  return JSON.parse(texts[Math.abs(Math.trunc(page) || 0) % LISTINGS] ?? '') as Listing;
}

function listingOf(page: number): Listing {
  const pick = random(page + 1);
  const title = `${capital(words(pick, 2))} & ${words(pick, 1)}`;
  return {
    title,
    description: `${capital(words(pick, 8))}: ${CARDS} of ${title}, “by hand” & <in stock>.`,
    header: { cart_items: pick(5), query: '', user: capital(words(pick, 1)) },
    nav: { groups: repeat(6, () => ({ title: capital(words(pick, 1)), links: links(pick, 6) })) },
    crumbs: { links: links(pick, 3) },
    hero: banner(pick),
    filters: { facets: FACETS.map((name) => ({ name, options: repeat(6, () => option(pick)) })) },
    sort: { count: 100 + pick(900), chosen: ORDERS[pick(ORDERS.length)] ?? '', orders: ORDERS },
    cards: repeat(CARDS, (at) => product(pick, page * CARDS + at)),
    promos: repeat(2, () => banner(pick)),
    pages: { page: 1 + pick(9), count: 10, path: `/c/${words(pick, 1)}` },
    footer: {
      columns: repeat(5, () => ({ title: capital(words(pick, 1)), links: links(pick, 6) })),
      note: `© ${words(pick, 3)}`,
    },
  };
}

function product(pick: Pick, id: number): Product {
  const price_cents = 500 + pick(20_000);
  const name = `${capital(words(pick, 2))} “${id}”`;
  return {
    id,
    slug: `${words(pick, 1)}-${id}`,
    name,
    maker: `${capital(words(pick, 1))} & sons`,
    text: `${capital(words(pick, 8))}, it's ${words(pick, 5)}.`,
    price_cents,
    was_cents: pick(4) === 0 ? price_cents + 100 + pick(900) : null,
    rating: pick(11) / 2,
    reviews: pick(400),
    stock: pick(12),
    badges: BADGES.filter(() => pick(4) === 0),
    colours: repeat(4, (at) => ({
      name: `${words(pick, 1)} ${at + 1}`,
      hex: `#${(0x100000 + pick(0xefffff)).toString(16)}`,
    })),
  };
}

function banner(pick: Pick): Banner {
  const [link] = links(pick, 1);
  return {
    title: capital(words(pick, 4)),
    text: `${capital(words(pick, 12))}.`,
    link: link ?? { text: '', href: '/' },
    hue: pick(360),
  };
}

function links(pick: Pick, count: number): Link[] {
  return repeat(count, (at) => {
    const text = capital(words(pick, 2));
    return { text, href: `/c/${text.toLowerCase().replace(' ', '-')}-${at}?from=listing&at=${at}` };
  });
}

function option(pick: Pick): Facet['options'][number] {
  return { text: capital(words(pick, 1)), count: pick(300), isChosen: pick(8) === 0 };
}

function words(pick: Pick, count: number): string {
  return repeat(count, () => WORDS[pick(WORDS.length)] ?? '').join(' ');
}

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

const repeat = <T>(length: number, make: (at: number) => T): T[] =>
  Array.from({ length }, (_, at) => make(at));

/** Small, fast and the same for the same seed (mulberry32). */
function random(seed: number): Pick {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
