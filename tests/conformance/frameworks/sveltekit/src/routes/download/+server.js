import { text } from '@sveltejs/kit';

export function GET({ url }) {
  return text('0123456789'.repeat(Number(url.searchParams.get('bytes')) / 10));
}
