'use client';

import { useState } from 'react';
import type { Facet, Listing } from './data';
import { useReady } from './ready';

export default function Filters({ facets }: Listing['filters']) {
  useReady('Filters');
  return (
    <form className="filters" aria-label="Filters">
      {facets.map((facet) => (
        <Group key={facet.name} facet={facet} />
      ))}
    </form>
  );
}

function Group({ facet: { name, options } }: { facet: Facet }) {
  const [chosen, setChosen] = useState(() => options.map((option) => option.isChosen));
  const [isOpen, setOpen] = useState(true);
  const turn = (at: number) => setChosen(chosen.map((each, index) => (index === at ? !each : each)));
  return (
    <fieldset className="facet">
      <legend>
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {name}
        </button>
      </legend>
      <ul hidden={!isOpen}>
        {options.map(({ text, count }, at) => (
          <li key={`${text}-${at}`}>
            <label>
              <input
                type="checkbox"
                name={name}
                value={text}
                checked={chosen[at] ?? false}
                onChange={() => turn(at)}
              />
              {text} <small>({count})</small>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
