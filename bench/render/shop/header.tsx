'use client';

import { useState } from 'react';
import type { Listing } from './data';
import { useReady } from './ready';

export default function Header({ cart_items, query, user }: Listing['header']) {
  const [text, setText] = useState(query);
  useReady('Header');
  return (
    <header className="header">
      <a className="logo" href="/">
        <svg viewBox="0 0 24 24" width={24} height={24} aria-hidden={true}>
          <path d="M2 12 L12 2 L22 12 L12 22 Z" fill="currentColor" />
        </svg>
        Shop
      </a>
      <form className="search" role="search" action="/search">
        <label htmlFor="search-field">Search</label>
        <input
          id="search-field"
          name="q"
          type="search"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit" disabled={text === ''}>
          Find
        </button>
      </form>
      <nav className="header-links" aria-label="You">
        <a href="/account">Hello, {user}</a>
        <a href="/wishes">Wishes</a>
        <a href="/cart" aria-label={`Cart, ${cart_items} items`}>
          Cart <b>{cart_items}</b>
        </a>
      </nav>
    </header>
  );
}
