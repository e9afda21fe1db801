// Stands for a database: answers after a while, without the CPU.
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function article(id) {
  await later(20);
  return { id, title: `Article ${id}`, paragraphs: ['One paragraph.', 'Another one.', 'And a last one.'] };
}

export async function products(id, count) {
  await later(60);
  return Array.from({ length: count }, (_, at) => ({
    id: `${id}-${at}`,
    name: `Product ${at} of ${id}`,
    picture: `/pictures/${at % 50}.jpg`,
    cents: 500 + ((at * 377) % 40_000),
    reduction: at % 4 === 0 ? 20 : 0,
    stars: 1 + (at % 5),
    reviews: (at * 7) % 90,
    tags: ['new', 'wool', 'oak', 'linen'].filter((_tag, nth) => (at + nth) % 3 === 0),
  }));
}
