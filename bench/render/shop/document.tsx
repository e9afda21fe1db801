// The document around the page, for servers that render it with React as well. The data goes along once more for the browser, which renders
// the page over its HTML.
import type { Listing } from './data';
import { Page } from './page';

export const DATA_ID = 'listing';

export function Document({ listing }: { listing: Listing }) {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{listing.title}</title>
        <meta name="description" content={listing.description} />
        <link rel="stylesheet" href="/assets/listing.css" />
        <script type="module" src="/assets/client.js" async={true} />
      </head>
      <body>
        <Page listing={listing} />
        <script
          id={DATA_ID}
          type="application/json"
          dangerouslySetInnerHTML={{ __html: JSON.stringify(listing).replaceAll('<', String.raw`\u003c`) }}
        />
      </body>
    </html>
  );
}
