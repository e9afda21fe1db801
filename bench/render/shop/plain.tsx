// Boxes that nothing happens in: rendered on the server alone where the server knows of such.
import type { Banner, Link, Listing } from './data';

export function Nav({ groups }: Listing['nav']) {
  return (
    <nav className="nav" aria-label="Everything">
      {groups.map(({ title, links }) => (
        <div key={title} className="nav-group">
          <h2>{title}</h2>
          <Links links={links} />
        </div>
      ))}
    </nav>
  );
}

function Links({ links }: { links: Link[] }) {
  return (
    <ul>
      {links.map(({ text, href }) => (
        <li key={href}>
          <a href={href}>{text}</a>
        </li>
      ))}
    </ul>
  );
}

export function Crumbs({ links }: Listing['crumbs']) {
  return (
    <nav className="crumbs" aria-label="Breadcrumbs">
      <ol>
        {links.map(({ text, href }) => (
          <li key={href}>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

export function Hero({ title, text, link, hue }: Banner) {
  return (
    <section className="hero" style={{ backgroundColor: `hsl(${hue} 60% 90%)` }}>
      <h1>{title}</h1>
      <p>{text}</p>
      <a className="button" href={link.href}>
        {link.text}
      </a>
    </section>
  );
}

export function Promo({ title, text, link, hue }: Banner) {
  return (
    <aside className="promo" style={{ borderColor: `hsl(${hue} 60% 40%)` }}>
      <h3>{title}</h3>
      <p>
        {text} <a href={link.href}>{link.text}</a>
      </p>
    </aside>
  );
}

export function Pages({ page, count, path }: Listing['pages']) {
  return (
    <nav className="pages" aria-label="Pages">
      <ol>
        {Array.from({ length: count }, (_, at) => (
          <li key={at}>
            <a href={`${path}?page=${at + 1}`} aria-current={at + 1 === page ? 'page' : undefined}>
              {at + 1}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

export function Footer({ columns, note }: Listing['footer']) {
  return (
    <footer className="footer">
      {columns.map(({ title, links }) => (
        <div key={title}>
          <h2>{title}</h2>
          <Links links={links} />
        </div>
      ))}
      <p>
        <small>{note}</small>
      </p>
    </footer>
  );
}
