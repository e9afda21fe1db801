export const dynamic = 'force-dynamic';

export async function GET(request) {
  const url = new URL(request.url);
  return Response.json({
    protocol: url.protocol.replace(':', ''),
    host: request.headers.get('host'),
    headers: Object.fromEntries(request.headers),
    port: process.env.PORT,
    pid: process.pid,
  });
}
