export const dynamic = 'force-dynamic';

export async function GET(request) {
  let left = Number(new URL(request.url).searchParams.get('bytes'));
  const part = new TextEncoder().encode('0123456789'.repeat(1000));
  const body = new ReadableStream({
    pull(controller) {
      if (left > 0) controller.enqueue(part);
      else controller.close();
      left -= part.length;
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
}
