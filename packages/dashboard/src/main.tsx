// The page at the admin address.
import { render } from 'preact';
import { App } from './app.js';
import { Store } from './feed/store.js';

const root = document.getElementById('app');
if (root !== null) {
  const store = new Store((model) => render(<App model={model} store={store} />, root));
  render(<App model={store.model} store={store} />, root);
}
