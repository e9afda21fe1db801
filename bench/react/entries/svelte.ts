import { render as renderComponent } from 'svelte/server';
import type { Listing } from '../lib/data.ts';
import Page from '../peers/svelte/Page.svelte';

export const render = (data: Listing): string => renderComponent(Page, { props: { data } }).body;
