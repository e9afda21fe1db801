/** The document around every page: head, header with search and cart, navigation, footer. */

import { createContext, useContext } from 'react';
import type { ComponentType, ReactNode } from 'react';
import type { Category } from '../catalogue/types.js';
import { Island } from './Island.js';
import { SearchBox } from './SearchBox.js';

/** What a page needs to know about the request it answers; never more, so that renders stay comparable. */
export interface Site {
  categories: readonly Category[];
  stylesheet: string;
  /** `null` on a page that is for every visitor: who composes it puts the visitor's own number in. */
  cart_count: number | null;
  path: string;
  text: string;
  /** Writes the values that the page's islands have read, for the browser. */
  state?: (() => string) | undefined;
}

/** A place for another answer (Edge Side Includes), for whoever composes the page. */
const Include = 'esi:include' as unknown as ComponentType<{ src: string }>;

const SiteContext = createContext<Site | null>(null);

export function useSite(): Site {
  const site = useContext(SiteContext);
  if (site === null) throw new Error('A page was rendered outside of <Layout>.');
  return site;
}

export interface LayoutProps {
  site: Site;
  title: string;
  description?: string;
  children: ReactNode;
}

export function Layout({ site, title, description, children }: LayoutProps): ReactNode {
  return (
    <SiteContext value={site}>
      <html lang="en">
        <head>
          <meta charSet="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>{`${title} · Tidewick`}</title>
          <meta
            name="description"
            content={description ?? 'Plain, well-made things for the house and beyond it.'}
          />
          <link rel="icon" href="/assets/icon.svg" type="image/svg+xml" />
          <link rel="stylesheet" href={site.stylesheet} />
        </head>
        <body>
          <a className="skip" href="#content">
            Skip to content
          </a>
          <Header />
          <main id="content">{children}</main>
          <Footer />
          <State />
        </body>
      </html>
    </SiteContext>
  );
}

/** Comes last, when the islands before it have been rendered. It does not wait for parts that stream in: they are no islands. */
function State(): ReactNode {
  const { state } = useSite();
  return state === undefined ? null : <div hidden dangerouslySetInnerHTML={{ __html: state() }} />;
}

function Header(): ReactNode {
  const { cart_count, text } = useSite();
  const search = { id: 'site-search', text };
  return (
    <header className="header">
      <div className="header-bar">
        <a className="brand" href="/">
          <svg viewBox="0 0 32 32" width="32" height="32" aria-hidden="true">
            <circle cx="16" cy="16" r="15" fill="#1f4e5f" />
            <path d="M4 18q4-5 8 0t8 0 8 0" fill="none" stroke="#f4e3c1" strokeWidth="2.5" />
            <path d="M6 23q3.5-4 7 0t7 0 6 0" fill="none" stroke="#f4e3c1" strokeWidth="2" opacity=".7" />
          </svg>
          Tidewick
        </a>
        <Island name="search" props={search}>
          <SearchBox {...search} />
        </Island>
        <nav className="header-links" aria-label="Your shop">
          <a href="/for-you">For you</a>
          <a href="/account">Account</a>
          <a className="cart-link" href="/cart">
            Cart{' '}
            <span className="cart-count" data-cart-count="" aria-label="items in the cart">
              {cart_count ?? <Include src="/cart/summary" />}
            </span>
          </a>
        </nav>
      </div>
      <CategoryNav />
    </header>
  );
}

function CategoryNav(): ReactNode {
  const { categories, path } = useSite();
  return (
    <nav className="categories" aria-label="Categories">
      <ul>
        <li>
          <a href="/products" aria-current={path === '/products' ? 'page' : undefined}>
            Everything
          </a>
        </li>
        {categories.map((category) => (
          <li key={category.slug}>
            <a
              href={`/c/${category.slug}`}
              aria-current={path === `/c/${category.slug}` ? 'page' : undefined}
            >
              {category.name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Footer(): ReactNode {
  const { categories } = useSite();
  return (
    <footer className="footer">
      <section>
        <h2>Shop</h2>
        <ul>
          <li>
            <a href="/products">Everything</a>
          </li>
          <li>
            <a href="/products?sale=1">Reduced</a>
          </li>
          <li>
            <a href="/catalogue">The whole catalogue</a>
          </li>
          <li>
            <a href="/explore">Explore by numbers</a>
          </li>
        </ul>
      </section>
      <section>
        <h2>Compare</h2>
        <ul>
          {categories.slice(0, 6).map((category) => (
            <li key={category.slug}>
              <a href={`/compare/${category.slug}`}>{category.name}</a>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h2>Tidewick</h2>
        <ul>
          <li>
            <a href="/about">About us</a>
          </li>
          <li>
            <a href="/for-you">For you</a>
          </li>
          <li>
            <a href="/account">Your account</a>
          </li>
          <li>
            <a href="/cart">Your cart</a>
          </li>
        </ul>
      </section>
      <p className="footer-note" data-served="" hidden />
      <p className="footer-note">An invented shop: nothing here is for sale, and no maker here exists.</p>
    </footer>
  );
}
