import { renderToString } from 'solid-js/web';
import type { Listing } from '../lib/data.ts';
import { Page } from '../pages/listing.tsx';

export const render = (data: Listing): string => renderToString(() => <Page data={data} />);
