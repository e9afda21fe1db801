// The boxes in which something happens say `use client`; Next renders all others on the server alone.
import { listing as listingOf } from '../../shop/data';
import { Page } from '../../shop/page';

export const dynamic = 'force-dynamic';

export default async function ListingPage({ searchParams }) {
  const { page } = await searchParams;
  const listing = listingOf(Number(page));
  return (
    <>
      <title>{listing.title}</title>
      <meta name="description" content={listing.description} />
      <Page listing={listing} />
    </>
  );
}
