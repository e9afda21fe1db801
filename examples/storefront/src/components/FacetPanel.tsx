import { useId } from 'react';
import type { ReactNode } from 'react';
import type { About } from '../graph/schema.js';
import type { Facet } from '../shop/facets.js';
import { facetKeys, hrefOf, shows, sorts } from '../shop/filters.js';
import type { Filters } from '../shop/filters.js';

/** The filters as a plain GET form, so that they work before, and without, any script. */
export function FacetPanel({ listing, path }: { listing: About; path: string }): ReactNode {
  const { filters } = listing;
  return (
    <form className="facets" method="get" action={path} aria-label="Filters">
      {filters.text === '' ? null : <input type="hidden" name="q" value={filters.text} />}
      {filters.show === 60 ? null : <input type="hidden" name="show" value={filters.show} />}
      <SortField filters={filters} />
      <PriceField listing={listing} />
      <RatingField filters={filters} />
      <fieldset className="facet">
        <legend>Show only</legend>
        <Check name="stock" value="1" label="In stock" checked={filters.in_stock} />
        <Check name="sale" value="1" label="Reduced" checked={filters.on_sale} />
      </fieldset>
      {listing.facets.map((facet) => (
        <FacetField key={facet.key} facet={facet} />
      ))}
      <div className="facets-actions">
        <button className="button" type="submit">
          Apply filters
        </button>
        <a href={path}>Clear all</a>
      </div>
    </form>
  );
}

function SortField({ filters }: { filters: Filters }): ReactNode {
  const id = useId();
  return (
    <div className="facet">
      <label htmlFor={id}>Sort by</label>
      <select id={id} name="sort" defaultValue={filters.sort}>
        {Object.entries(sorts).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

function PriceField({ listing }: { listing: About }): ReactNode {
  const id = useId();
  const { filters } = listing;
  const euros = (cents: number | null): string => (cents === null ? '' : String(cents / 100));
  return (
    <fieldset className="facet facet-price">
      <legend>Price in €</legend>
      <label htmlFor={`${id}-min`}>From</label>
      <input
        id={`${id}-min`}
        name="min"
        type="number"
        min={0}
        inputMode="decimal"
        step="any"
        placeholder={String(Math.floor(listing.price_cents_low / 100))}
        defaultValue={euros(filters.price_cents_min)}
      />
      <label htmlFor={`${id}-max`}>To</label>
      <input
        id={`${id}-max`}
        name="max"
        type="number"
        min={0}
        inputMode="decimal"
        step="any"
        placeholder={String(Math.ceil(listing.price_cents_high / 100))}
        defaultValue={euros(filters.price_cents_max)}
      />
    </fieldset>
  );
}

function RatingField({ filters }: { filters: Filters }): ReactNode {
  return (
    <fieldset className="facet">
      <legend>Rating</legend>
      {[0, 3, 4].map((stars) => (
        <label key={stars} className="check">
          <input type="radio" name="rating" value={stars} defaultChecked={filters.rating_min === stars} />
          <span>{stars === 0 ? 'Any' : `${stars} stars and more`}</span>
        </label>
      ))}
    </fieldset>
  );
}

function FacetField({ facet }: { facet: Facet }): ReactNode {
  const id = useId();
  return (
    <details className="facet" open={facet.values.length <= 18 || facet.values.some((value) => value.chosen)}>
      <summary id={id}>{facet.name}</summary>
      <div role="group" aria-labelledby={id} className="facet-values">
        {facet.values.map((value) => (
          <Check
            key={value.slug}
            name={facet.key}
            value={value.slug}
            label={value.name}
            count={value.count}
            checked={value.chosen}
            hex={value.hex}
          />
        ))}
      </div>
    </details>
  );
}

interface CheckProps {
  name: string;
  value: string;
  label: string;
  checked: boolean;
  count?: number;
  hex?: string | undefined;
}

function Check({ name, value, label, checked, count, hex }: CheckProps): ReactNode {
  return (
    <label className="check">
      <input type="checkbox" name={name} value={value} defaultChecked={checked} />
      {hex === undefined ? null : (
        <span className="swatch" style={{ backgroundColor: hex }} aria-hidden="true" />
      )}
      <span>{label}</span>
      {count === undefined ? null : <span className="check-count">{count}</span>}
    </label>
  );
}

/** What is filtered by, each a link to the same page without it. */
export function ChosenFilters({ listing, path }: { listing: About; path: string }): ReactNode {
  const { filters } = listing;
  const chips = listing.facets.flatMap((facet) =>
    facet.values
      .filter((value) => value.chosen)
      .map((value) => ({
        name: value.name,
        href: hrefOf(path, filters, {
          chosen: {
            ...filters.chosen,
            [facet.key]: filters.chosen[facet.key].filter((slug) => slug !== value.slug),
          },
        }),
      })),
  );
  if (filters.in_stock) chips.push({ name: 'In stock', href: hrefOf(path, filters, { in_stock: false }) });
  if (filters.on_sale) chips.push({ name: 'Reduced', href: hrefOf(path, filters, { on_sale: false }) });
  if (filters.rating_min > 0) {
    chips.push({ name: `${filters.rating_min}★ and more`, href: hrefOf(path, filters, { rating_min: 0 }) });
  }
  if (chips.length === 0) return null;
  return (
    <ul className="chips" aria-label="Chosen filters">
      {chips.map((chip) => (
        <li key={chip.href}>
          <a className="chip" href={chip.href}>
            {chip.name} <span aria-hidden="true">×</span>
            <span className="visually-hidden">remove</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Links to more of the same page at once. */
export function ShowMore({ listing, path }: { listing: About; path: string }): ReactNode {
  const { filters, total } = listing;
  if (total <= shows[0]) return null;
  return (
    <span className="show-more">
      Show
      {shows
        .filter((_count, at) => at === 0 || total > (shows[at - 1] ?? 0))
        .map((count) =>
          count === filters.show ? (
            <strong key={count}>{count}</strong>
          ) : (
            <a key={count} href={hrefOf(path, filters, { show: count })}>
              {count}
            </a>
          ),
        )}
    </span>
  );
}

/** How many facets are in force, for the heading of a folded panel. */
export function chosenCount(filters: Filters): number {
  return facetKeys.reduce((sum, key) => sum + filters.chosen[key].length, 0);
}
