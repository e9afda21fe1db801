export function loader({ request }) {
  const bytes = Number(new URL(request.url).searchParams.get('bytes'));
  return new Response('0123456789'.repeat(bytes / 10), {
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  });
}
