/**
 * A listing of sixty cards: some 2,800 elements in 910 components. The same source for every library with JSX: `ui` is
 * what each gives for contexts, ids and memo (see `peers/`).
 */

import { createContext, memo, useContext, useId, useMemo, useState } from 'ui';
import type { Listing, Product } from '../lib/data.ts';

const Currency = createContext('€');

export function Page({ data }: { data: Listing }) {
  return (
    <main className="page">
      <Header title={data.title} />
      <Breadcrumbs names={['Home', 'Everything', data.title]} />
      <Toolbar count={data.products.length} />
      <Currency.Provider value="€">
        <Grid products={data.products} />
      </Currency.Provider>
      <Pagination page={2} pages={9} />
      <Footer />
    </main>
  );
}

function Header({ title }: { title: string }) {
  return (
    <header className="header">
      <a className="logo" href="/">
        Shop
      </a>
      <h1>{title}</h1>
      <Search />
    </header>
  );
}

function Search() {
  const id = useId();
  const [text] = useState('');
  return (
    <div className="search" role="search">
      <label htmlFor={id}>Search</label>
      <span id={id} className="field" data-text={text} />
    </div>
  );
}

function Breadcrumbs({ names }: { names: string[] }) {
  return (
    <nav aria-label="Breadcrumbs">
      <ol>
        {names.map((name) => (
          <li key={name}>
            <a href={`/${name}`}>{name}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function Toolbar({ count }: { count: number }) {
  return (
    <p className="toolbar">
      <b>{count}</b> products
    </p>
  );
}

function Grid({ products }: { products: Product[] }) {
  return (
    <ul className="grid">
      {products.map((product) => (
        <Card key={product.id} product={product} />
      ))}
    </ul>
  );
}

const Card = memo(function Card({ product }: { product: Product }) {
  const id = useId();
  return (
    <li className="card" aria-labelledby={id}>
      <Picture product={product} />
      <div className="card-body">
        <h3 id={id} className="card-name">
          <a href={`/p/${product.slug}`}>{product.name}</a>
        </h3>
        <Maker name={product.maker} />
        <p className="card-text">{product.text}</p>
        <Tags tags={product.tags} />
        <Stars rating={product.rating} reviews={product.reviews} />
        <Swatches colours={product.colours} />
        <div className="card-row">
          <Price cents={product.price_cents} was_cents={product.was_cents} />
          <Stock stock={product.stock} />
        </div>
        <Add product={product} />
      </div>
    </li>
  );
});

function Picture({ product }: { product: Product }) {
  return (
    <a className="card-picture" href={`/p/${product.slug}`} tabIndex={-1} aria-hidden={true}>
      <svg viewBox="0 0 100 100" width={240} height={240}>
        <rect width="100" height="100" fill={product.colours[0]?.hex} />
        <circle cx="50" cy="50" r={10 + (product.id % 30)} fill={product.colours[1]?.hex} fillOpacity={0.6} />
        <path d="M10 90 L50 20 L90 90 Z" fill="none" stroke="#000" strokeWidth="2" strokeLinecap="round" />
      </svg>
    </a>
  );
}

function Maker({ name }: { name: string }) {
  return (
    <p className="card-maker">
      by <em>{name}</em>
    </p>
  );
}

function Tags({ tags }: { tags: string[] }) {
  return (
    <p className="tags">
      {tags.map((tag) => (
        <span key={tag} className="tag">
          {tag}
        </span>
      ))}
    </p>
  );
}

function Stars({ rating, reviews }: { rating: number; reviews: number }) {
  const label = useMemo(() => `${rating} of 5`, [rating]);
  return (
    <div className="stars" role="img" aria-label={label}>
      <Star filled={rating >= 1} />
      <Star filled={rating >= 2} />
      <Star filled={rating >= 3} />
      <Star filled={rating >= 4} />
      <Star filled={rating >= 5} />
      <span className="reviews">({reviews})</span>
    </div>
  );
}

function Star({ filled }: { filled: boolean }) {
  return (
    <span className={filled ? 'star star-full' : 'star'}>
      <i aria-hidden={true}>★</i>
    </span>
  );
}

function Swatches({ colours }: { colours: Product['colours'] }) {
  return (
    <ul className="swatches">
      {colours.map((colour) => (
        <li key={colour.hex} title={colour.name}>
          <span className="swatch" style={{ background: colour.hex }} />
        </li>
      ))}
    </ul>
  );
}

function Price({ cents, was_cents }: { cents: number; was_cents: number | null }) {
  const currency = useContext(Currency);
  return (
    <p className="price">
      <b>
        {currency}
        {(cents / 100).toFixed(2)}
      </b>
      {was_cents === null ? null : (
        <s>
          {currency}
          {(was_cents / 100).toFixed(2)}
        </s>
      )}
    </p>
  );
}

function Stock({ stock }: { stock: number }) {
  return (
    <span className="stock" data-stock={stock}>
      {stock === 0 ? 'Sold out' : stock < 4 ? `Only ${stock} left` : 'In stock'}
    </span>
  );
}

function Add({ product }: { product: Product }) {
  return (
    <div className="add" data-id={product.id}>
      <button type="button" disabled={product.stock === 0} aria-label={`Add ${product.name} to the cart`}>
        <span>Add</span>
      </button>
      <Wish id={product.id} />
    </div>
  );
}

function Wish({ id }: { id: number }) {
  const [wished] = useState(false);
  return (
    <button type="button" className="wish" aria-pressed={wished} data-wish={id}>
      <span>♥</span>
    </button>
  );
}

function Pagination({ page, pages }: { page: number; pages: number }) {
  return (
    <nav className="pages">
      {Array.from({ length: pages }, (_, index) => (
        <a key={index} href={`?page=${index + 1}`} aria-current={index + 1 === page ? 'page' : undefined}>
          {index + 1}
        </a>
      ))}
    </nav>
  );
}

function Footer() {
  return (
    <footer className="footer">
      <Column title="Help" links={['Delivery', 'Returns', 'Contact']} />
      <Column title="Shop" links={['About', 'Makers', 'Jobs']} />
    </footer>
  );
}

function Column({ title, links }: { title: string; links: string[] }) {
  return (
    <section>
      <h4>{title}</h4>
      {links.map((link) => (
        <a key={link} href={`/${link}`}>
          {link}
        </a>
      ))}
    </section>
  );
}
