export function loader({ request }) {
  const url = new URL(request.url);
  return Response.json({
    protocol: url.protocol.replace(':', ''),
    host: url.host,
    headers: Object.fromEntries(request.headers),
    port: process.env.PORT,
    pid: process.pid,
  });
}
