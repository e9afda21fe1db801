/**
 * The search field with suggestions: an island, rendered on the server and hydrated on its own in the browser. It
 * takes its ids as props, because `useId` would differ between the page's tree and the island's.
 */

import { useEffect, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { money } from '../shop/money.js';
import type { Suggestions } from '../shop/search.js';

export interface SearchBoxProps {
  id: string;
  text: string;
}

interface Option {
  href: string;
  name: string;
  note: string;
}

const quiet_ms = 120;

export function SearchBox({ id, text: initial }: SearchBoxProps): ReactNode {
  const [text, setText] = useState(initial);
  const [options, setOptions] = useState<readonly Option[]>([]);
  const [active, setActive] = useState(-1);
  const typed = useRef(false);

  useEffect(() => {
    if (!typed.current || text.trim() === '') {
      setOptions([]);
      return undefined;
    }
    const asking = new AbortController();
    const timer = setTimeout(() => {
      suggestionsFor(text, asking.signal).then(
        (found) => {
          setOptions(found);
          setActive(-1);
        },
        () => undefined, // Suggestions are a courtesy: without them the form still searches.
      );
    }, quiet_ms);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [text]);

  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const chosen = options[active];
    if (step !== 0 && options.length > 0) {
      event.preventDefault();
      setActive((active + step + options.length + 1) % (options.length + 1));
    } else if (event.key === 'Escape') {
      setOptions([]);
    } else if (event.key === 'Enter' && chosen !== undefined) {
      event.preventDefault();
      window.location.assign(chosen.href);
    }
  }

  const open = options.length > 0;
  return (
    <form className="search" role="search" method="get" action="/search">
      <label className="visually-hidden" htmlFor={id}>
        Search the shop
      </label>
      <input
        id={id}
        type="search"
        name="q"
        placeholder="Search mugs, lamps, wool…"
        autoComplete="off"
        maxLength={80}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={open}
        aria-controls={`${id}-list`}
        aria-activedescendant={options[active] === undefined ? undefined : `${id}-${active}`}
        value={text}
        onChange={(event) => {
          typed.current = true;
          setText(event.target.value);
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setTimeout(() => setOptions([]), 150)}
      />
      <button type="submit">Search</button>
      <ul id={`${id}-list`} className="search-list" role="listbox" aria-label="Suggestions" hidden={!open}>
        {options.map((option, at) => (
          <li
            key={`${option.href} ${option.name}`}
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === active}
            onMouseDown={() => window.location.assign(option.href)}
          >
            <span>{option.name}</span>
            <span className="search-note">{option.note}</span>
          </li>
        ))}
      </ul>
    </form>
  );
}

async function suggestionsFor(text: string, signal: AbortSignal): Promise<Option[]> {
  const answer = await fetch(`/api/suggest?q=${encodeURIComponent(text)}`, { signal });
  if (!answer.ok) throw new Error(`The shop answered ${answer.status}.`);
  const found = (await answer.json()) as Suggestions;
  return [
    ...found.words.map((word) => ({
      name: word,
      href: `/search?q=${encodeURIComponent(word)}`,
      note: 'search',
    })),
    ...found.categories.map((each) => ({ ...each, note: 'category' })),
    ...found.products.map((each) => ({ name: each.name, href: each.href, note: money(each.price_cents) })),
  ];
}
