export function GET({ request, clientAddress, url }) {
  return Response.json({
    ip: clientAddress,
    protocol: url.protocol.replace(':', ''),
    host: request.headers.get('host'),
    headers: Object.fromEntries(request.headers),
    port: process.env.PORT,
    pid: process.pid,
  });
}
