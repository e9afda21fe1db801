/** What both arms of the card share: settings, and the form for native apps. */

import type { ReactNode } from 'react';
import type { Card } from '../../graph/schema.js';

export interface CardProps {
  item: Card;
  children?: ReactNode;
}

export const cardSettings = {
  rendering: 'static',
  json: ({ item }: CardProps) => ({
    slug: item.slug,
    name: item.name,
    maker: item.maker.name,
    price_cents: item.price_cents,
    was_cents: item.was_cents,
    rating: item.rating,
    url: `/shelf/${item.slug}`,
  }),
};
