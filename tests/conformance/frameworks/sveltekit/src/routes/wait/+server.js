export async function GET({ request }) {
  const name = new URL(request.url).searchParams.get('name');
  console.log(`waits ${name}`);
  request.signal.addEventListener('abort', () => console.log(`left ${name}`));
  await new Promise(() => {});
}
