/** The pages that only React renders: each leans on one part of a renderer. */

import { Fragment, Suspense, use } from 'react';
import type { ReactNode } from 'react';
import { random, sentence } from '../lib/data.ts';

/** Data of a page, made outside of what is measured. */
export interface Page<Data> {
  data(seed: number): Data;
  element(data: Data): ReactNode;
}

/** Absolutely positioned tiles along a spiral: many small elements with two styles each, and next to no text. */
export const spiral: Page<number> = {
  data: (seed) => seed,
  element: (seed) => <Spiral phase={seed} />,
};

function Spiral({ phase }: { phase: number }) {
  const tiles: ReactNode[] = [];
  for (let index = 0; index < 2_400; index += 1) {
    const angle = index * 0.2 + phase;
    const radius = 4 + index * 0.1;
    tiles.push(
      <Tile key={index} left={480 + Math.cos(angle) * radius} top={270 + Math.sin(angle) * radius} />,
    );
  }
  return <div id="wrapper">{tiles}</div>;
}

function Tile({ left, top }: { left: number; top: number }) {
  return <div className="tile" style={{ left: `${left.toFixed(2)}px`, top: `${top.toFixed(2)}px` }} />;
}

interface Row {
  id: number;
  cells: string[];
}

export const table: Page<Row[]> = {
  data(seed) {
    const pick = random(seed);
    return Array.from({ length: 1_000 }, (_, index) => ({
      id: seed * 1_000 + index,
      cells: [sentence(pick, 2), sentence(pick, 1), String(pick(100_000)), `${pick(100)} %`],
    }));
  },
  element: (rows) => (
    <table className="table">
      <thead>
        <tr>
          <th>Id</th>
          <th>Name</th>
          <th>Group</th>
          <th>Count</th>
          <th>Share</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <TableRow key={row.id} row={row} />
        ))}
      </tbody>
    </table>
  ),
};

function TableRow({ row }: { row: Row }) {
  return (
    <tr className="row" data-id={row.id}>
      <td>{row.id}</td>
      {row.cells.map((cell, index) => (
        <td key={index} className="cell">
          {cell}
        </td>
      ))}
    </tr>
  );
}

/** Six trees of four hundred levels each. */
export const deep: Page<number> = {
  data: (seed) => seed,
  element: (seed) => (
    <main>
      {Array.from({ length: 6 }, (_, index) => (
        <Level key={index} left={400} text={`leaf ${seed}`} />
      ))}
    </main>
  ),
};

function Level({ left, text }: { left: number; text: string }): ReactNode {
  if (left === 0) return text;
  return (
    <div className="level">
      <Level left={left - 1} text={text} />
    </div>
  );
}

export const texts: Page<string[]> = {
  data(seed) {
    const pick = random(seed);
    return Array.from(
      { length: 300 },
      () => `${sentence(pick, 60)} <${sentence(pick, 3)}> & "${sentence(pick, 4)}"`,
    );
  },
  element: (paragraphs) => (
    <article>
      {paragraphs.map((paragraph, index) => (
        <Fragment key={index}>
          <h2>Part {index}</h2>
          <p>
            {paragraph} (<em>{index}</em>)
          </p>
        </Fragment>
      ))}
    </article>
  ),
};

export const attributes: Page<number> = {
  data: (seed) => seed,
  element: (seed) => (
    <ul>
      {Array.from({ length: 600 }, (_, index) => (
        <Item key={index} id={seed * 600 + index} />
      ))}
    </ul>
  ),
};

function Item({ id }: { id: number }) {
  return (
    <li
      id={`item-${id}`}
      className={`item item-${id % 7}`}
      title={`Item ${id}`}
      lang="en"
      tabIndex={0}
      data-id={id}
      data-kind="item"
      aria-label={`Item ${id}`}
      aria-expanded={id % 2 === 0}
      hidden={id % 9 === 0}
      draggable={true}
      role="listitem"
    >
      <a
        href={`/item/${id}?from=list&page=${id % 30}`}
        target="_blank"
        rel="noreferrer"
        style={{ color: 'red', lineHeight: 1.5, marginTop: id % 20 }}
        onClick={() => undefined}
      >
        {id}
      </a>
      <svg
        viewBox="0 0 10 10"
        width={10}
        height={10}
        fill="none"
        stroke="currentColor"
        strokeWidth={2}
        strokeLinejoin="round"
      >
        <path d={`M0 ${id % 10}L10 10`} />
      </svg>
    </li>
  );
}

interface Part {
  name: string;
  texts: string[];
  /** Text that appears after so many turns of the event loop, counted from the start of the render. */
  late: { turns: number; text: string };
}

/** Next to nothing: what a render costs before it has rendered anything. */
export const small: Page<number> = {
  data: (seed) => seed,
  element: (seed) => <Greeting name={`visitor ${seed}`} />,
};

function Greeting({ name }: { name: string }) {
  return <p className="greeting">Hello {name}</p>;
}

/** Eight parts behind Suspense, whose data arrive in later turns of the event loop, out of order. */
export const async: Page<Part[]> = {
  data(seed) {
    const pick = random(seed);
    return Array.from({ length: 8 }, (_, index) => ({
      name: sentence(pick, 2),
      texts: Array.from({ length: 30 }, () => sentence(pick, 8)),
      late: { turns: (index * 5) % 8, text: sentence(pick, 3) },
    }));
  },
  element: (parts) => (
    <main>
      <h1>Parts</h1>
      {parts.map((part) => (
        <section key={part.name}>
          <h2>{part.name}</h2>
          <Suspense fallback={<p className="waiting">Waiting for {part.name}</p>}>
            <Awaited part={part} wait={later(part.late)} />
          </Suspense>
        </section>
      ))}
    </main>
  ),
};

function Awaited({ part, wait }: { part: Part; wait: Promise<string> }) {
  const found = use(wait);
  return (
    <div className="part">
      <p>{found}</p>
      <ul>
        {part.texts.map((text, index) => (
          <li key={index}>{text}</li>
        ))}
      </ul>
    </div>
  );
}

function later({ turns, text }: Part['late']): Promise<string> {
  return new Promise((resolve) => {
    const wait = (left: number): void => {
      if (left === 0) resolve(text);
      else setImmediate(wait, left - 1);
    };
    setImmediate(wait, turns);
  });
}
