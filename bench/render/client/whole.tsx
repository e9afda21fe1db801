// The browser's half of the page where one tree of React is the whole document.
import { hydrateRoot } from 'react-dom/client';
import type { Listing } from '../shop/data';
import { DATA_ID, Document } from '../shop/document';

const text = document.querySelector(`#${DATA_ID}`)?.textContent ?? '';
hydrateRoot(document, <Document listing={JSON.parse(text) as Listing} />);
