/** Every page as React elements. Built twice: as it is, and with its JSX compiled to templates. */

import { listing, type Listing } from '../lib/data.ts';
import { Page as ListingPage } from '../pages/listing.tsx';
import { async, attributes, deep, small, spiral, table, texts, type Page } from '../pages/other.tsx';
import { about, cart, comparison, home, notFound, product, shopListing } from '../pages/storefront.tsx';

const cards: Page<Listing> = { data: listing, element: (data) => <ListingPage data={data} /> };

/** A page whose data are its own business: methods take any `data` of theirs. */
interface AnyPage {
  data(seed: number): unknown;
  element(data: never): unknown;
}

/** Pages by name; data and element of one page belong together. */
export const pages: Readonly<Record<string, AnyPage>> = {
  listing: cards,
  spiral,
  table,
  deep,
  texts,
  attributes,
  async,
  'shop home': home,
  'shop listing': shopListing,
  'shop product': product,
  'shop compare': comparison,
  'shop about': about,
  'shop cart': cart,
  'shop not found': notFound,
  small,
};
