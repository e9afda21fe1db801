export function loader() {
  return { time: new Date().toISOString() };
}

export default function Home({ loaderData }) {
  return (
    <main>
      <h1>Hello from react-router</h1>
      <p>{loaderData.time}</p>
    </main>
  );
}
