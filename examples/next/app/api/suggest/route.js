import { products } from '../../catalog.js';

export function GET(request) {
  const start = new URL(request.url).searchParams.get('q') ?? '';
  return Response.json(
    products.map(({ name }) => name).filter((name) => name.toLowerCase().startsWith(start)),
  );
}
