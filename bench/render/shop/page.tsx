// The whole page as one tree of React, for servers that render it as one.
import Card from './card';
import type { Listing } from './data';
import Filters from './filters';
import { Grid, Layout } from './frame';
import Header from './header';
import { Crumbs, Footer, Hero, Nav, Pages, Promo } from './plain';
import Sort from './sort';

export function Page({ listing }: { listing: Listing }) {
  const cards = listing.cards.map((card) => <Card key={card.id} {...card} />);
  const promos = listing.promos.map((promo) => <Promo key={promo.title} {...promo} />);
  return (
    <Layout
      top={
        <>
          <Header {...listing.header} />
          <Nav {...listing.nav} />
          <Crumbs {...listing.crumbs} />
        </>
      }
      aside={<Filters {...listing.filters} />}
    >
      <Hero {...listing.hero} />
      <Sort {...listing.sort} />
      <Grid label={listing.title}>
        {promos[0]}
        {cards}
        {promos[1]}
      </Grid>
      <Pages {...listing.pages} />
      <Footer {...listing.footer} />
    </Layout>
  );
}
