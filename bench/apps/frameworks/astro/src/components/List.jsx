import { useId, useState, Fragment } from 'react';
function Card({ item }) {
  const id = useId();
  const [open] = useState(item.id % 2 === 0);
  return (
    <article
      id={id}
      className={open ? 'card open' : 'card'}
      style={{ order: item.id, marginTop: 4, opacity: 0.5 }}
    >
      <h2>{item.name}</h2>
      {item.tags.map((t) => (
        <Fragment key={t}>
          <i>{t}</i>{' '}
        </Fragment>
      ))}
      <button disabled={!open}>Buy {item.id}</button>
    </article>
  );
}
export default function List({ items, children }) {
  return (
    <section>
      <h1>List</h1>
      {items.map((item) => (
        <Card key={item.id} item={item} />
      ))}
      <select defaultValue="b">
        <option value="a">A</option>
        <option value="b">B</option>
      </select>
      <textarea defaultValue={'\nx'} />
      {children}
    </section>
  );
}
