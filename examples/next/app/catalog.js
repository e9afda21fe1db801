/** A shop's stock, as a database would have it. */
export const products = ['oak', 'ash', 'elm', 'fir'].map((slug, index) => ({
  slug,
  name: `${slug[0].toUpperCase()}${slug.slice(1)} table`,
  price: 90 + 25 * index,
}));

/** As a query would: after a while. */
export async function find(slug) {
  await new Promise((resolve) => setTimeout(resolve, 10));
  return products.find((product) => product.slug === slug);
}
