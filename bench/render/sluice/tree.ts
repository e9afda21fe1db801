// The listing as a tree of 60 boxes; what each shows comes with the page's data.
import type { PageTree, TreeNode } from '@sluice/render';

const box = (component: string, path: string): TreeNode => ({ component, props: { $path: path } });

/** `banner`: the component of the first banner. */
export const listingTree = (banner: string): PageTree => ({
  id: 'listing',
  document: {
    lang: 'en',
    title: { $path: '$.listing.title' },
    meta: [{ name: 'description', content: { $path: '$.listing.description' } }],
  },
  data: { listing: { source: 'listing' } },
  boxes: [
    {
      component: 'Layout',
      slots: {
        top: [
          box('Header', '$.listing.header'),
          box('Nav', '$.listing.nav'),
          box('Crumbs', '$.listing.crumbs'),
        ],
        aside: [box('Filters', '$.listing.filters')],
        default: [
          box('Hero', '$.listing.hero'),
          box('Sort', '$.listing.sort'),
          {
            component: 'Grid',
            props: { label: { $path: '$.listing.title' } },
            slots: {
              default: [
                box(banner, '$.listing.promos[0]'),
                { ...box('Card', '@'), each: '$.listing.cards' },
                box('Promo', '$.listing.promos[1]'),
              ],
            },
          },
          box('Pages', '$.listing.pages'),
          box('Footer', '$.listing.footer'),
        ],
      },
    },
  ],
});
