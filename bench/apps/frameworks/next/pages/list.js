import { useId, useState, Fragment } from 'react';
import Head from 'next/head';
export async function getServerSideProps({ query }) {
  return {
    props: {
      items: Array.from({ length: Number(query.n ?? 30) }, (_, id) => ({
        id,
        name: `Item "${id}" & <co>`,
        tags: ['a', `t${id % 3}`],
      })),
    },
  };
}
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
export default function List({ items }) {
  return (
    <main>
      <Head>
        <title>{`List of ${items.length}`}</title>
      </Head>
      <h1>List</h1>
      {items.map((item) => (
        <Card key={item.id} item={item} />
      ))}
      <select defaultValue="b">
        <option value="a">A</option>
        <option value="b">B</option>
      </select>
      <textarea defaultValue={'\nx'} />
    </main>
  );
}
