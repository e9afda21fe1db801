// Whether all servers send the same listing: its elements, attributes and text, in the same order. Marks that a server puts around
// boxes for its own use in the browser are left out: comments, scripts, and Sluice's elements without a box of their own (`display: contents`).
import assert from 'node:assert/strict';
import type { Server } from '../../lib/servers.ts';
import { LISTINGS } from '../shop/data.ts';

export async function fetchListing(server: Server, page: number): Promise<string> {
  const answer = await fetch(`http://${server.targets[0] ?? ''}/listing?page=${page}`);
  if (answer.status !== 200) throw new Error(`${server.name} answered with status ${answer.status}`);
  return answer.text();
}

/** Throws where one of the servers sends another page than the first. */
export async function checkSame(servers: [string, Server][]): Promise<void> {
  const [first, ...others] = servers;
  if (first === undefined) return;
  for (const page of [0, 7, LISTINGS - 1]) {
    const expected = listingIn(await fetchListing(first[1], page));
    for (const [name, server] of others)
      assert.equal(
        listingIn(await fetchListing(server, page)),
        expected,
        `${name}: listing ${page} is another than that of ${first[0]}`,
      );
  }
}

/** The listing's own elements, one a line. */
export function listingIn(html: string): string {
  const shown = html
    .replaceAll(/<!--.*?-->/gs, '')
    .replaceAll(/<script.*?<\/script>/gs, '')
    .replaceAll(/<\/?sluice-[^>]*>/g, '');
  const [from, to] = [shown.indexOf('<div class="page">'), shown.lastIndexOf('</footer>')];
  if (from === -1 || to === -1) throw new Error(`no listing in a page of ${html.length} characters`);
  return shown.slice(from, to).replaceAll('<', '\n<');
}
