import { json } from '@sveltejs/kit';

export function GET({ request, url, getClientAddress }) {
  return json({
    ip: getClientAddress(),
    protocol: url.protocol.replace(':', ''),
    host: request.headers.get('host'),
    headers: Object.fromEntries(request.headers),
    port: process.env.PORT,
    pid: process.pid,
  });
}
